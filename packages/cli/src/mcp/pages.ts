/** Pages of lists, as short as a model can bear and with each record whole. */
import * as Effect from "effect/Effect"
import { row } from "../list/list.js"
import { type Answer, isShort } from "./answers.js"

// In characters, of one field and of one record
const longest = { field: 200, record: 1_500 }

const cut = (value: unknown): unknown => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length <= longest.field ? value : `${text.slice(0, longest.field)}…`
}

/** A record with all of its fields, as far as a model can bear them. */
export const recordOf = (item: object): Readonly<Record<string, unknown>> => {
  let size = 0
  const fields = Object.entries(item).filter(([, value]) => value !== undefined)
  const kept = fields.map(([name, value]): [string, unknown] => [name, cut(value)]).filter(([name, value]) => {
    size += name.length + JSON.stringify(value).length
    return size <= longest.record
  })
  const left = fields.length - kept.length
  return { ...Object.fromEntries(kept), ...(left === 0 ? {} : { fields_left_out: left }) }
}

// By what identifies it, or by the first that it has
const lineOf = (item: object): string => row(item).slice(0, 2).map((cell) => cell.slice(0, 40)).join(" ").trim()

interface Paged<E, R> {
  readonly page: (
    options: { readonly cursor: string | undefined; readonly pageSize: number }
  ) => Effect.Effect<{ readonly items: ReadonlyArray<object>; readonly nextCursor: string | undefined }, E, R>
}

/** A page of a list. One that is too long has fewer records: the cursor is of the page that is given. */
export const page = <E, R>(
  list: Paged<E, R>,
  cursor: string | undefined,
  limit: number
): Effect.Effect<Answer, E, R> =>
  Effect.flatMap(list.page({ cursor, pageSize: limit }), ({ items, nextCursor: next }) => {
    const message = [...items.map(lineOf), next === undefined ? "No more." : "More at next."].join("\n")
    const answer = { message, items: items.map(recordOf), next }
    return limit === 1 || isShort(answer) ? Effect.succeed(answer) : page(list, cursor, Math.floor(limit / 2))
  })
