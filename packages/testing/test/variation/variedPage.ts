import type { ServiceVariation } from "./ServiceVariation.js"
import type { TwoWay } from "./twoWay.js"
import type { Fields } from "./variedJson.js"
import { digits } from "./variedJson.js"

/** What a list request continues from: a page of the sandbox, a page without items before it, or one at the end. */
interface Position {
  readonly inside: string | undefined
  readonly kind: "items" | "empty" | "end"
}

const EMPTY = "empty:"
const END = "end:"

export const positionOf = (
  { lists }: ServiceVariation,
  cursors: TwoWay,
  cursor: string | undefined
): Position => {
  const inside = cursor === undefined ? undefined : cursors.inside(cursor)
  if (inside?.startsWith(END) === true) return { inside: undefined, kind: "end" }
  if (inside?.startsWith(EMPTY) === true) {
    const rest = inside.slice(EMPTY.length)
    return { inside: rest === "" ? undefined : rest, kind: "items" }
  }
  return { inside, kind: lists.emptyPages ? "empty" : "items" }
}

/** A page of the sandbox. @internal */
export interface Page {
  readonly data: ReadonlyArray<Fields>
  readonly total: number
  readonly next: string | undefined
}

const totals = (variation: ServiceVariation, total: number, data: number): Fields => {
  switch (variation.lists.totals) {
    case "right":
      return { total_count: total }
    case "absent":
      return {}
    case "null":
      return { total_count: null }
    case "zero":
      return { total_count: 0 }
    case "changing":
      return { total_count: total + data }
    case "huge":
      return { total_count: digits("12345678901234567890") }
  }
}

/** The page that a client gets instead. @internal */
export const varied = (
  variation: ServiceVariation,
  cursors: TwoWay,
  position: Position,
  page: Page
): { readonly data: ReadonlyArray<Fields>; readonly page: Fields } => {
  const { lists } = variation
  const next = position.kind === "empty"
    ? `${EMPTY}${position.inside ?? ""}`
    : position.kind === "end"
    ? undefined
    : page.next ?? (lists.end.startsWith("empty page") && page.data.length > 0 ? END : undefined)
  const isOnly = position.inside === undefined && position.kind === "items" && !lists.emptyPages
  const isAbsent = isOnly ? !lists.nullOnOnePage : lists.end.endsWith("absent")
  const data = position.kind === "items" ? page.data : []
  return {
    data,
    page: {
      ...totals(variation, page.total, data.length),
      ...(lists.hasMore === "right"
        ? { has_more: next !== undefined }
        : lists.hasMore === "null"
        ? { has_more: null }
        : {}),
      ...(next !== undefined ? { next_cursor: cursors.outside(next) } : isAbsent ? {} : { next_cursor: null })
    }
  }
}
