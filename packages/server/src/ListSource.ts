/**
 * Where the lists of a service come from: projects, tags, or whatever its owner has. The service's own list of files is not
 * among them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Principal } from "./Authorize.js"
import type { ListQuery } from "./ListQuery.js"
import type { ListRecord, Resource } from "./ListResources.js"
import * as ListResources from "./ListResources.js"
import type * as ServiceRefused from "./ServiceRefused.js"

/**
 * A page: its records, how many there are on all pages, and where the next one begins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly records: ReadonlyArray<ListRecord>
  readonly total: number
  /** Opaque to clients, and sent back by them; undefined on the last page. */
  readonly next: string | undefined
}

/**
 * The lists of a service. `name` is a name of `resources`, such as `projects`; `id` is what stands for `{id}` in it, else
 * empty. A source shows each client only what it may see.
 *
 * @since 0.1.0
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
}

/**
 * The lists of the contract, each of them empty.
 *
 * @since 0.1.0
 * @category constants
 */
export const empty: ListSourceService = {
  resources: ListResources.resources,
  page: () => Effect.succeed({ records: [], total: 0, next: undefined })
}

/**
 * The lists as a reference: {@link empty}, unless a source is provided.
 *
 * @since 0.1.0
 * @category references
 */
export class ListSource extends Context.Reference<ListSource>()("@stevedore/server/ListSource", {
  defaultValue: (): ListSourceService => empty
}) {}
