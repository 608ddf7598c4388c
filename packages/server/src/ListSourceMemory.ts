/**
 * Lists in memory: filtered, sorted and cut into pages, with an opaque cursor to the next.
 *
 * A cursor names the record that the next page starts after, not its position. Records that appear or vanish between
 * two pages therefore neither repeat nor hide others.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import type { ListSourceService, Page } from "./ListSource.js"
import type { ListQuery } from "./parts/listQuery.js"
import { valuesAt } from "./parts/listQuery.js"
import * as ListResources from "./parts/listResources.js"
import type { ListRecord } from "./parts/listResources.js"
import * as ServiceRefused from "./ServiceRefused.js"

const Cursor = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  after: Schema.NullOr(Schema.Array(Schema.String)),
  // counts the empty pages before it, so that no two cursors of a walk are equal
  turn: Schema.NonNegativeInt
}))

/**
 * What a cursor says: the list that it belongs to, and the sort values and id of the record that its page begins behind.
 *
 * @category models
 */
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

/**
 * A cursor as clients see it.
 *
 * @category conversions
 */
export const encodeCursor = (cursor: Cursor): string => Encoding.encodeBase64Url(Schema.encodeSync(Cursor)(cursor))

const decodeCursor = (text: string, signature: string): Either.Either<Cursor, ServiceRefused.ServiceRefused> =>
  Encoding.decodeBase64UrlString(text).pipe(
    Either.flatMap(Schema.decodeEither(Cursor)),
    Either.filterOrLeft((cursor) => cursor.list === signature, () => undefined),
    Either.mapLeft(() => ServiceRefused.invalid("page.start_cursor", "This cursor does not belong to this list"))
  )

/**
 * Where the page that a query asks for begins.
 *
 * @category constructors
 */
export const startOf = (query: ListQuery): Either.Either<Cursor, ServiceRefused.ServiceRefused> =>
  query.startCursor === undefined
    ? Either.right({ list: query.signature, after: null, turn: 0 })
    : decodeCursor(query.startCursor, query.signature)

/**
 * What a record is sorted by, and its id.
 *
 * @category combinators
 */
export const keyOf = (record: ListRecord, query: ListQuery): ReadonlyArray<string> =>
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
 * The page that a query asks for, of `largestPage` records at most, whatever the query asks for.
 *
 * @category constructors
 */
export const page = (
  records: ReadonlyArray<ListRecord>,
  query: ListQuery,
  largestPage = 100
): Either.Either<Page, ServiceRefused.ServiceRefused> =>
  Either.map(startOf(query), ({ after }) => {
    const all = ordered(records, query)
    const start = after === null ? 0 : placeBehind(all, after, query)
    const shown = all.slice(start, start + Math.min(query.limit, largestPage))
    const last = shown.at(-1)
    return {
      records: shown.map(({ record }) => record),
      total: all.length,
      next: all.length > start + shown.length && last !== undefined
        ? encodeCursor({ list: query.signature, after: last.key, turn: 0 })
        : undefined
    }
  })

/**
 * A source of these lists, the same for every client: records by the end of a list's path after `/v1/`, such as `tags` or
 * `folders/2sRf…/contents`. The lists of the contract that are not among them are empty; others have no filters.
 *
 * @category constructors
 */
export const make = (
  lists: Readonly<Record<string, ReadonlyArray<ListRecord>>>
): ListSourceService => ({
  resources: ListResources.withOthers(Object.keys(lists)),
  page: (_, name, id, query) => Effect.suspend(() => page(lists[name.replace("{id}", id)] ?? [], query))
})
