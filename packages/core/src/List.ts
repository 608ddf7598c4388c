/**
 * A list of the service as a value: what can be asked of it, and what it gives.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { Checkpoint, Marked } from "./Checkpoints.js"
import type { ItemInvalid, ListError } from "./ListError.js"
import type { Page } from "./Page.js"
import type { ServiceApi } from "./ServiceApi.js"

/**
 * An order: a field and its direction. Without one the service sorts by `created_at:desc`.
 *
 * @since 0.1.0
 * @category models
 */
export type Sort<Field extends string> = `${Field}:asc` | `${Field}:desc`

/**
 * What can be said about any walk, besides the filters of its list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<SortField extends string> {
  /** One order, or several: the second decides where the first does not. */
  readonly sort?: Sort<SortField> | ReadonlyArray<Sort<SortField>> | undefined
  /** Items of a page, 1 to 100. Omitted: as many as the service gives. A page may hold fewer all the same. */
  readonly pageSize?: number | undefined
  /**
   * How many pages are fetched before they are asked for. Omitted: 0, so no request is made that is not needed. None is
   * while the rate limit is near its end.
   */
  readonly ahead?: 0 | 1 | 2 | undefined
  /** How many empty pages in a row are taken for an accident of the service. Omitted: 100. */
  readonly emptyPages?: number | undefined
  /** Goes on behind this place. Its list, filters and sort must be the same. */
  readonly from?: Checkpoint | undefined
  /**
   * What to do when the service does not take a cursor any more. `restart` walks from the start again and leaves out
   * what has been given; to be able to, the walk remembers a hash of each item, also in its checkpoints (about 17 bytes
   * an item: on a long list store one now and then). Omitted: `fail`, with `CursorRejected`.
   */
  readonly onCursorRejected?: "fail" | "restart" | undefined
}

/**
 * The same for the walks that give items only: there an item that its Schema does not take can be left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface ItemOptions<SortField extends string> extends Options<SortField> {
  /**
   * `skip` leaves broken items out, and counts them in the metric `stevedore_items_skipped`, in pages and in reports.
   * Omitted: `fail`, with `ItemInvalid`, after the items before it.
   */
  readonly onInvalid?: "fail" | "skip" | undefined
}

/**
 * What `collect` brings: the items, and how complete they are.
 *
 * @since 0.1.0
 * @category models
 */
export type Collected<A> =
  & {
    readonly items: ReadonlyArray<A>
    /** How many items the pages held, as far as the walk went: those left out as broken are counted too. */
    readonly seen: number
    /** How many broken items were left out. */
    readonly skipped: number
    /** How many items came more than once: the list changed while it was walked. They are in `items` as they came. */
    readonly duplicates: number
    /** What the service gave as the list's length, with the first page and with the last. */
    readonly firstTotal: number | undefined
    readonly lastTotal: number | undefined
  }
  & (
    | { readonly complete: true }
    /** There may be more: a walk goes on from `next`. */
    | { readonly complete: false; readonly next: Checkpoint }
  )

/**
 * The ways to walk a list. They need the `ServiceApi` alone and fail with a `ListError`; nothing is requested before it
 * is asked for, and a walk that is run twice gives the list twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Walks<out A, in F, in SortField extends string> {
  /** All items, in the order of the list. */
  (options?: F & ItemOptions<SortField>): Stream.Stream<A, ListError, ServiceApi>
  /** The path under the base URL. */
  readonly path: string
  /** The fields that the list can be sorted by. */
  readonly sorts: ReadonlyArray<string>
  /** The list page by page. */
  readonly pages: (options?: F & ItemOptions<SortField>) => Stream.Stream<Page<A>, ListError, ServiceApi>
  /** One page: the first, or that of a cursor. An empty one is none. */
  readonly page: (
    options?: F & Omit<ItemOptions<SortField>, "ahead" | "from" | "onCursorRejected"> & {
      readonly cursor?: string | undefined
    }
  ) => Effect.Effect<Page<A>, ListError, ServiceApi>
  /** The first item, by a page of one unless `pageSize` says otherwise. */
  readonly first: (options?: F & ItemOptions<SortField>) => Effect.Effect<Option.Option<A>, ListError, ServiceApi>
  /** How many items there are: as the service says, by one small request; where it does not, by counting all. */
  readonly count: (options?: F & Options<SortField>) => Effect.Effect<number, ListError, ServiceApi>
  /** Each item, or what is wrong with it. */
  readonly results: (
    options?: F & Options<SortField>
  ) => Stream.Stream<Either.Either<A, ItemInvalid>, ListError, ServiceApi>
  /** Each item with the place behind it, to go on from after a crash. */
  readonly marked: (options?: F & ItemOptions<SortField>) => Stream.Stream<Marked<A>, ListError, ServiceApi>
  /** The items in memory, at most so many, with a report of how complete they are. */
  readonly collect: (
    options: F & ItemOptions<SortField> & { readonly atMost: number }
  ) => Effect.Effect<Collected<A>, ListError, ServiceApi>
}

/**
 * A list as one value: called with filters and a sort it is a stream of all items, and its members are the other ways to
 * walk it.
 *
 * @since 0.1.0
 * @category models
 */
export interface List<out A, in F, in SortField extends string> extends Walks<A, F, SortField> {
  /**
   * The same for filters and sort from outside, such as a command line or a URL: as they go over the wire, and checked
   * when the walk begins.
   */
  readonly untyped: Walks<A, Readonly<Record<string, unknown>>, string>
}

/**
 * What makes a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Definition<A, I, F, FI, SortField extends string> {
  /** Under the base URL, such as `/v1/projects/templates`. */
  readonly path: string
  readonly item: Schema.Schema<A, I>
  /** A Struct of the list's filters, by their names on the wire. Omitted: it has none. */
  readonly filters?: Schema.Schema<F, FI> | undefined
  /** The fields that the list can be sorted by. Omitted: none. */
  readonly sorts?: ReadonlyArray<SortField> | undefined
}
