import type { ListSourceService, Page } from "@stevedore/server/ListSource"
import * as ListSourceMemory from "@stevedore/server/ListSourceMemory"
import type { ListQuery } from "@stevedore/server/parts/listQuery"
import { valuesAt } from "@stevedore/server/parts/listQuery"
import * as ListResources from "@stevedore/server/parts/listResources"
import type { ListRecord } from "@stevedore/server/parts/listResources"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fault from "../Fault.js"

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
    id: ListResources.seedId("Appeared", number),
    created_at: new Date(newest + 1000).toISOString()
  }]
}

const isSameKey = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  left.every((key, index) => key === right[index])

const changeList = (
  records: ReadonlyArray<ListRecord>,
  query: ListQuery,
  fault: Fault.PageFault,
  number: number
): Either.Either<ReadonlyArray<ListRecord>, ServiceRefused.ServiceRefused> =>
  Either.map(ListSourceMemory.startOf(query), ({ after }) => {
    switch (fault._tag) {
      case "ItemAppears":
        return withNewest(records, number)
      case "ItemVanishes":
        return after === null
          ? records
          : records.filter((record) => !isSameKey(ListSourceMemory.keyOf(record, query), after))
      default:
        return records
    }
  })

// the last page then has a cursor too, with nothing after it
const cursorBehind = ({ next, records }: Page, query: ListQuery): string | undefined => {
  const last = records.at(-1)
  return next ?? (last == null ? undefined : ListSourceMemory.encodeCursor({
    list: query.signature,
    after: ListSourceMemory.keyOf(last, query),
    turn: 0
  }))
}

const applied = (
  page: Page,
  query: ListQuery,
  fault: Fault.PageFault
): Either.Either<Page, ServiceRefused.ServiceRefused> =>
  Either.flatMap(ListSourceMemory.startOf(query), (start) => {
    switch (fault._tag) {
      case "RepeatCursor":
        return Either.right(
          query.startCursor === undefined ? page : { ...page, next: query.startCursor }
        )
      case "EmptyPage":
        return Either.right({
          ...page,
          records: [],
          next: ListSourceMemory.encodeCursor({ ...start, turn: start.turn + 1 })
        })
      case "DropCursor":
        return Either.right({ ...page, next: undefined, hasMore: true })
      case "CorruptPage":
        return Either.right({ ...page, records: page.records.map((record, index) => index === 0 ? null : record) })
      case "DenyMore":
        return Either.right({ ...page, hasMore: false, next: cursorBehind(page, query) })
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

/** A page, and the list after whatever happened to it before the page was made. */
interface Turned {
  readonly records: ReadonlyArray<ListRecord>
  readonly page: Page
}

/**
 * The page that a query asks for, as a fault makes it. `number` makes the id of a record that appears: it must be unique
 * within the list.
 */
export const page = (
  records: ReadonlyArray<ListRecord>,
  query: ListQuery,
  largestPage: number,
  fault: Fault.PageFault | undefined,
  number: number
): Either.Either<Turned, ServiceRefused.ServiceRefused> =>
  Either.gen(function*() {
    if (fault === undefined) return { records, page: yield* ListSourceMemory.page(records, query, largestPage) }
    const changed = yield* changeList(records, query, fault, number)
    const largest = fault._tag === "ShortPage" ? Math.min(fault.items, largestPage) : largestPage
    return {
      records: changed,
      page: yield* applied(yield* ListSourceMemory.page(changed, query, largest), query, fault)
    }
  })

/** The fault of the page that a request asks for. @internal */
export class PageFault extends Context.Reference<PageFault>()("@stevedore/testing/PageFault", {
  defaultValue: (): Fault.PageFault | undefined => undefined
}) {}

/** Lists in memory, of which files become entries, and to which faults happen. @internal */
export const source = (
  given: Iterable<readonly [string, ReadonlyArray<ListRecord>]>,
  largestPage: number
): ListSourceService => {
  const lists = new Map(given)
  let changes = 0
  return {
    resources: ListResources.withOthers(lists.keys()),
    page: (_, name, id, query) =>
      Effect.flatMap(PageFault, (fault) => {
        const path = name.replace("{id}", id)
        if (fault !== undefined) changes += 1
        return Either.map(page(lists.get(path) ?? [], query, largestPage, fault, changes), (turned) => {
          lists.set(path, turned.records)
          return turned.page
        })
      }),
    importFile: (_, { fields, file, projectId, title }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const entries = lists.get("data") ?? []
        const entry = {
          id: ListResources.seedId("Data", entries.length + 1),
          type: "file",
          title: title ?? file.name,
          project: { id: projectId, title: projectId },
          folder: null,
          created_at: new Date(now).toISOString(),
          deleted: false,
          file_id: file.id,
          fields
        }
        lists.set("data", [...entries, entry])
        return entry
      })
  }
}
