/** A list of the service as a value: how to query it, and what it returns. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { Checkpoint, Marked } from "../Checkpoints.js"
import type { ListError } from "../ListError.js"
import type { Page } from "../service/page.js"
import type { ServiceApi } from "../ServiceApi.js"

/** A sort order: a field and its direction. Without one, the service sorts by `created_at:desc`. */
export type Sort<Field extends string> = `${Field}:asc` | `${Field}:desc`

/** The options of any walk, besides the filters of its list. */
export interface Options<SortField extends string> {
  /** One sort order, or several: each breaks the ties of the one before. */
  readonly sort?: Sort<SortField> | ReadonlyArray<Sort<SortField>> | undefined
  /** Items per page, 1 to 100. Defaults to the most that the profile allows. A page may still hold fewer. */
  readonly pageSize?: number | undefined
  /** Continues after this position. The list, filters and sort must be the same. */
  readonly from?: Checkpoint | undefined
}

/** The same for walks that return only items: these can skip an item that does not match its Schema. */
export interface ItemOptions<SortField extends string> extends Options<SortField> {
  /**
   * `skip` omits invalid items, and counts them in the metric `stevedore_items_skipped`, in pages and in reports.
   * Defaults to `fail`, with `ItemInvalid`, after the items before it.
   */
  readonly onInvalid?: "fail" | "skip" | undefined
}

/**
 * The ways to walk a list. They need only the `ServiceApi`, and fail with a
 * `ListError`. Nothing is requested before it is needed, and running a walk twice returns the list twice.
 */
export interface Walks<out A, in F, in SortField extends string> {
  /** All items, in list order. */
  (options?: F & ItemOptions<SortField>): Stream.Stream<A, ListError, ServiceApi>
  /** The path under the base URL. */
  readonly path: string
  /** The fields to sort by. */
  readonly sorts: ReadonlyArray<string>
  /** The pages of the list. */
  readonly pages: (options?: F & ItemOptions<SortField>) => Stream.Stream<Page<A>, ListError, ServiceApi>
  /**
   * One page: the first, or the one of a cursor. An empty cursor counts as none. Fails with `PaginationBroken` if the
   * page is not the last and gives no usable cursor, so the list has ended only if there is no `nextCursor`.
   */
  readonly page: (
    options?: F & Omit<ItemOptions<SortField>, "from"> & {
      readonly cursor?: string | undefined
    }
  ) => Effect.Effect<Page<A>, ListError, ServiceApi>
  /**
   * How many items there are: as reported by the service, with one small request; if it does not report a total, by
   * counting them all.
   */
  readonly count: (options?: F & Options<SortField>) => Effect.Effect<number, ListError, ServiceApi>
  /** Each item with the position right after it, to continue from after a crash. */
  readonly marked: (options?: F & ItemOptions<SortField>) => Stream.Stream<Marked<A>, ListError, ServiceApi>
}

/**
 * A list as one value: call it with filters and a sort for a stream of all items; its members are the other ways to
 * walk it.
 */
export interface List<out A, in F, in SortField extends string> extends Walks<A, F, SortField> {
  /**
   * The same for filters and sort from outside, such as a command line or a URL: in wire format, and checked when the
   * walk starts.
   */
  readonly untyped: Walks<A, Readonly<Record<string, unknown>>, string>
}

/** What defines a list. */
export interface Definition<A, I, F, FI, SortField extends string> {
  /** Under the base URL, such as `/v1/projects/templates`. */
  readonly path: string
  readonly item: Schema.Schema<A, I>
  /** A Struct of the list's filters, by their wire names. Omit it for a list without filters. */
  readonly filters?: Schema.Schema<F, FI> | undefined
  /** The fields to sort by. Defaults to none. */
  readonly sorts?: ReadonlyArray<SortField> | undefined
}
