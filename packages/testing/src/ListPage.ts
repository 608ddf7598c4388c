/**
 * One page of a list: filtered, sorted and cut, with an opaque cursor to the next.
 *
 * A cursor names the record that the next page starts after, not its position. Records that appear or vanish between
 * two pages therefore neither repeat nor hide others.
 *
 * @since 0.1.0
 */
import type { ListQuery } from "@stevedore/server/ListQuery"
import { valuesAt } from "@stevedore/server/ListQuery"
import { type ListRecord, seedId } from "@stevedore/server/ListResources"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import type * as Fault from "./Fault.js"

/**
 * A page as sent on the wire. `next_cursor` is absent if the whole list fits on one page, and null on the last of
 * several (service contract: pagination).
 *
 * @since 0.1.0
 * @category models
 */
export interface ListPage {
  readonly data: ReadonlyArray<ListRecord | null>
  readonly page: {
    readonly total_count: number
    readonly has_more: boolean
    readonly next_cursor?: string | null
  }
}

const Cursor = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  after: Schema.NullOr(Schema.Array(Schema.String)),
  // counts the empty pages before it, so that no two cursors of a walk are equal
  turn: Schema.NonNegativeInt
}))

type Cursor = typeof Cursor.Type

const encodeCursor = (cursor: Cursor): string => Encoding.encodeBase64Url(Schema.encodeSync(Cursor)(cursor))

const decodeCursor = (text: string, signature: string): Either.Either<Cursor, ServiceRefused.ServiceRefused> =>
  Encoding.decodeBase64UrlString(text).pipe(
    Either.flatMap(Schema.decodeEither(Cursor)),
    Either.filterOrLeft((cursor) => cursor.list === signature, () => undefined),
    Either.mapLeft(() => ServiceRefused.invalid("page.start_cursor", "This cursor does not belong to this list"))
  )

const startOf = (query: ListQuery): Either.Either<Cursor, ServiceRefused.ServiceRefused> =>
  query.startCursor === undefined
    ? Either.right({ list: query.signature, after: null, turn: 0 })
    : decodeCursor(query.startCursor, query.signature)

const keyOf = (record: ListRecord, query: ListQuery): ReadonlyArray<string> =>
  [...query.sort.map(({ field }) => field), "id"].map((field) => String(valuesAt(record, field)[0]))

const compareKeys = (query: ListQuery) => (left: ReadonlyArray<string>, right: ReadonlyArray<string>): number => {
  for (const [index, key] of left.entries()) {
    const other = right[index] ?? ""
    if (key !== other) {
      const order = key < other ? -1 : 1
      return query.sort[index]?.direction === "desc" ? -order : order
    }
  }
  return 0
}

interface Keyed {
  readonly record: ListRecord
  readonly key: ReadonlyArray<string>
}

interface Ordered {
  readonly signature: string
  readonly all: ReadonlyArray<Keyed>
}

// A walk requests the same order with every page: without this, a list of a million would be sorted ten thousand times.
const lastOrder = new WeakMap<ReadonlyArray<ListRecord>, Ordered>()

const ordered = (records: ReadonlyArray<ListRecord>, query: ListQuery): ReadonlyArray<Keyed> => {
  const last = lastOrder.get(records)
  if (last !== undefined && last.signature === query.signature) return last.all
  const compare = compareKeys(query)
  const all = records
    .filter(query.matches)
    .map((record) => ({ record, key: keyOf(record, query) }))
    .sort((left, right) => compare(left.key, right.key))
  lastOrder.set(records, { signature: query.signature, all })
  return all
}

const placeBehind = (all: ReadonlyArray<Keyed>, after: ReadonlyArray<string>, query: ListQuery): number => {
  const compare = compareKeys(query)
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(all[middle]?.key ?? [], after) > 0) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * The page that a query asks for. `largestPage` is the most records that the server returns, whatever the query asks
 * for.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  records: ReadonlyArray<ListRecord>,
  query: ListQuery,
  largestPage: number
): Either.Either<ListPage, ServiceRefused.ServiceRefused> =>
  Either.gen(function*() {
    const { after } = yield* startOf(query)
    const all = ordered(records, query)
    const start = after === null ? 0 : placeBehind(all, after, query)
    const page = all.slice(start, start + Math.min(query.limit, largestPage))
    const last = page.at(-1)
    const next = all.length > start + page.length && last !== undefined
      ? encodeCursor({ list: query.signature, after: last.key, turn: 0 })
      : null
    const onePage = query.startCursor === undefined && next === null
    return {
      data: page.map(({ record }) => record),
      page: {
        total_count: all.length,
        has_more: next !== null,
        ...(onePage ? {} : { next_cursor: next })
      }
    }
  })

const createdMillis = (record: ListRecord): number => {
  const created = Date.parse(String(valuesAt(record, "created_at")[0]))
  return Number.isNaN(created) ? 0 : created
}

const withNewest = (records: ReadonlyArray<ListRecord>, number: number): ReadonlyArray<ListRecord> => {
  const [first] = records
  if (first === undefined) {
    return records
  }
  const newest = records.reduce((latest, record) => Math.max(latest, createdMillis(record)), 0)
  return [...records, {
    ...first,
    id: seedId("Appeared", number),
    created_at: new Date(newest + 1000).toISOString()
  }]
}

const isSameKey = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  left.every((key, index) => key === right[index])

/**
 * What happens to a list before a page of it is made. Faults that do not change the list leave it as it is. `number`
 * makes the id of a record that appears: it must be unique within the list.
 *
 * @since 0.1.0
 * @category combinators
 */
export const changeList = (
  records: ReadonlyArray<ListRecord>,
  query: ListQuery,
  fault: Fault.PageFault,
  number: number
): Either.Either<ReadonlyArray<ListRecord>, ServiceRefused.ServiceRefused> =>
  Either.map(startOf(query), ({ after }) => {
    switch (fault._tag) {
      case "ItemAppears":
        return withNewest(records, number)
      case "ItemVanishes":
        return after === null ? records : records.filter((record) => !isSameKey(keyOf(record, query), after))
      default:
        return records
    }
  })

// the last page then has a cursor too, with nothing after it
const cursorBehind = ({ data, page }: ListPage, query: ListQuery): string | null => {
  const last = data.at(-1)
  return page.next_cursor ?? (last == null
    ? null
    : encodeCursor({ list: query.signature, after: keyOf(last, query), turn: 0 }))
}

/**
 * What a fault makes of a page.
 *
 * @since 0.1.0
 * @category combinators
 */
export const applyFault = (
  page: ListPage,
  query: ListQuery,
  fault: Fault.PageFault
): Either.Either<ListPage, ServiceRefused.ServiceRefused> =>
  Either.flatMap(startOf(query), (start) => {
    switch (fault._tag) {
      case "RepeatCursor":
        return Either.right(
          query.startCursor === undefined
            ? page
            : { ...page, page: { ...page.page, has_more: true, next_cursor: query.startCursor } }
        )
      case "EmptyPage":
        return Either.right({
          data: [],
          page: { ...page.page, has_more: true, next_cursor: encodeCursor({ ...start, turn: start.turn + 1 }) }
        })
      case "DropCursor":
        return Either.right({ ...page, page: { total_count: page.page.total_count, has_more: true } })
      case "CorruptPage":
        return Either.right({
          ...page,
          data: page.data.map((record, index) => index === 0 ? null : record)
        })
      case "DenyMore":
        return Either.right({
          ...page,
          page: { ...page.page, has_more: false, next_cursor: cursorBehind(page, query) }
        })
      case "RejectCursor":
        return query.startCursor === undefined
          ? Either.right(page)
          : Either.left(ServiceRefused.invalid("page.start_cursor", "This cursor is too old"))
      case "ShortPage":
      case "ItemAppears":
      case "ItemVanishes":
        return Either.right(page)
    }
  })
