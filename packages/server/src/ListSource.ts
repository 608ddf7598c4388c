/**
 * Where the lists of a service come from: projects, tags, or whatever its owner has. The service's own list of files is not
 * among them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Principal } from "./Authorize.js"
import type { FileRow } from "./FileTable.js"
import type { ListQuery } from "./parts/listQuery.js"
import * as ListResources from "./parts/listResources.js"
import type { ListRecord, Resource } from "./parts/listResources.js"
import type * as ServiceRefused from "./ServiceRefused.js"

/**
 * A page: its records, how many there are on all pages, and where the next one begins.
 *
 * @category models
 */
export interface Page {
  readonly records: ReadonlyArray<ListRecord | null>
  readonly total: number
  /** Opaque to clients, and sent back by them; undefined on the last page. */
  readonly next: string | undefined
  /** Whether the page says that there are more. Defaults to whether there is a `next`, as it should be. */
  readonly hasMore?: boolean | undefined
}

/**
 * A page as sent on the wire. `next_cursor` is absent if the whole list fits on one page, and null on the last of several
 * (service contract: pagination).
 *
 * @category models
 */
export interface WirePage {
  readonly data: ReadonlyArray<ListRecord | null>
  readonly page: {
    readonly total_count: number
    readonly has_more: boolean
    readonly next_cursor?: string | null
  }
}

/**
 * A page as sent on the wire: `isFirst` if its request had no cursor.
 *
 * @category conversions
 */
export const toWire = ({ hasMore, next, records, total }: Page, isFirst: boolean): WirePage => ({
  data: records,
  page: {
    total_count: total,
    has_more: hasMore ?? next !== undefined,
    ...(next === undefined && (isFirst || hasMore === true) ? {} : { next_cursor: next ?? null })
  }
})

/**
 * A file that a client wants to be an entry of a project.
 *
 * @category models
 */
export interface Import {
  readonly file: FileRow
  readonly projectId: string
  readonly title: string | undefined
  readonly fields: ReadonlyArray<{ readonly label: string; readonly value: string }>
}

/**
 * The lists of a service. `name` is a name of `resources`, such as `projects`; `id` is what stands for `{id}` in it, else
 * empty. A source shows each client only what it may see.
 *
 * @category models
 */
export interface ListSourceService {
  readonly resources: Readonly<Record<string, Resource>>
  readonly page: (
    who: Principal,
    name: string,
    id: string,
    query: ListQuery
  ) => Effect.Effect<Page, ServiceRefused.ServiceRefused>
  /** Makes a file an entry of a project, and answers with the entry. Without it, the service has no such call. */
  readonly importFile?:
    | ((who: Principal, file: Import) => Effect.Effect<ListRecord, ServiceRefused.ServiceRefused>)
    | undefined
}

/**
 * The lists of the contract, each of them empty.
 *
 * @category constants
 */
export const empty: ListSourceService = {
  resources: ListResources.resources,
  page: () => Effect.succeed({ records: [], total: 0, next: undefined })
}

/**
 * The lists as a reference: {@link empty}, unless a source is provided.
 *
 * @category references
 */
export class ListSource extends Context.Reference<ListSource>()("@stevedore/server/ListSource", {
  defaultValue: (): ListSourceService => empty
}) {}
