import * as ListSource from "@stevedore/server/ListSource"
import * as ListQuery from "@stevedore/server/parts/listQuery"
import * as ListResources from "@stevedore/server/parts/listResources"
import type { ListRecord } from "@stevedore/server/parts/listResources"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Fault from "../Fault.js"
import * as PageFaults from "./pageFaults.js"

export const sorts = ["created_at:asc", "created_at:desc", "title:asc"] as const

/** What happens before a page is made; `undefined` for nothing. */
export const changes: ReadonlyArray<Fault.PageFault | undefined> = [
  undefined,
  new Fault.ItemAppears(),
  new Fault.ItemVanishes(),
  new Fault.EmptyPage()
]

interface Options {
  readonly records: number
  readonly pageSize: number
  readonly sort: typeof sorts[number]
  readonly changes: ReadonlyArray<Fault.PageFault | undefined>
}

interface Step {
  readonly records: ReadonlyArray<ListRecord>
  readonly page: ListSource.WirePage
}

const step = (options: Options, records: ReadonlyArray<ListRecord>, cursor: string | undefined, index: number) =>
  Either.gen(function*() {
    const search = new URLSearchParams([
      ["page[limit]", String(options.pageSize)],
      ["sort", options.sort],
      ...(cursor === undefined ? [] : [["page[start_cursor]", cursor]])
    ])
    const resource = ListResources.resources["projects"]
    if (resource === undefined) {
      return { records, page: { data: [], page: { total_count: 0, has_more: false } } }
    }
    const query = yield* ListQuery.parse(resource, "projects", search.toString())
    const turned = yield* PageFaults.page(records, query, options.pageSize, options.changes[index], index + 1)
    return { records: turned.records, page: ListSource.toWire(turned.page, cursor === undefined) }
  })

const idOf = (record: ListRecord): string => String(record["id"])

/** The pages of a list that changes as the options say, each the response to the cursor of the previous one. */
export const walk = (options: Options) => {
  const before = ListResources.seedProjects(options.records)
  const next = (records: ReadonlyArray<ListRecord>, cursor: string | undefined, index: number): Step =>
    Either.getOrElse(step(options, records, cursor, index), () => ({
      records,
      page: { data: [], page: { total_count: records.length, has_more: false, next_cursor: null } }
    }))
  const first = next(before, undefined, 0)
  let pages: Arr.NonEmptyReadonlyArray<ListSource.WirePage> = [first.page]
  let { records } = first
  for (let { page } = first; typeof page.page.next_cursor === "string";) {
    const following = next(records, page.page.next_cursor, pages.length)
    ;({ page, records } = following)
    pages = Arr.append(pages, page)
  }
  const left = new Set(records.map(idOf))
  return { pages, steady: before.map(idOf).filter((id) => left.has(id)) }
}
