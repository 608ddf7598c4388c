/**
 * The two halves of a fault script's sentence: which requests, and what happens to them. The first half determines
 * which faults can end it: a page fault of a PUT does not compile.
 */
import type * as Duration from "effect/Duration"
import type * as Fault from "./Fault.js"

/**
 * The first half of a sentence: which requests, and how many of them.
 *
 * @category models
 */
export interface Aim<Self> {
  /** The next `count` requests. Defaults to 1. */
  readonly times: (count: number) => Self
  /** Every request from here on. */
  readonly always: () => Self
  /** Lets `count` requests pass first. */
  readonly after: (count: number) => Self
}

/**
 * The second half: what happens to the requests, whatever they ask for.
 *
 * @category models
 */
export interface AnyFault<Script> {
  /** Not handled; the response has this `status`, and a code from the table of errors or any other. */
  readonly answer: (
    status: number,
    code?: string,
    options?: { readonly retryAfter?: number | string | undefined }
  ) => Script
  /**
   * Not handled; the response is 429 from the service or 503 from storage, with `Retry-After`: seconds, a date, or
   * nonsense.
   */
  readonly retryAfter: (value: number | string) => Script
  /** Not handled; the response is a gateway's HTML page. */
  readonly html: (status: number) => Script
  /** Handled, and then the connection breaks before the response. */
  readonly loseAnswer: () => Script
  /** The connection breaks before anything is handled. */
  readonly reset: () => Script
  /**
   * The connection breaks after this many bytes of the request's body, or of the response's if the request's is not
   * longer.
   */
  readonly resetAfter: (bytes: number) => Script
  /** Silence forever: before anything, after `afterBytes` of that same body, or instead of the response. */
  readonly stall: (phase: Fault.StallPhase, options?: { readonly afterBytes?: number | undefined }) => Script
  /** Handled as usual, but this much later. */
  readonly delay: (duration: Duration.DurationInput) => Script
}

/**
 * What happens only to requests at storage.
 *
 * @category models
 */
export interface StorageFault<Script> {
  /** The response has no etag. */
  readonly omitEtag: () => Script
  /** The URL counts as expired. */
  readonly expire: () => Script
  /** A storm: for this long, starting with the first of these requests, every one is answered with 503 `SlowDown`. */
  readonly slowDown: (duration: Duration.DurationInput) => Script
}

/**
 * What happens only to PUTs.
 *
 * @category models
 */
export interface PutFault<Script> {
  /** The connection breaks, but this much later the bytes are stored anyway, over those of a retry. */
  readonly landLate: (after: Duration.DurationInput) => Script
}

/**
 * What happens only to pages of a list.
 *
 * @category models
 */
export interface ListFault<Script> {
  /** The page's next cursor is the one that requested it. Waits for a request that has a cursor. */
  readonly repeatCursor: () => Script
  /** An extra page without items; nothing after it is lost. */
  readonly emptyPage: () => Script
  /** The page says that there is more, but has no cursor. */
  readonly dropCursor: () => Script
  /** The page's first item is `null`. */
  readonly corruptPage: () => Script
  /** The page says that there is no more, but has a cursor from which the list continues. */
  readonly denyMore: () => Script
  /** The cursor is refused as too old. Waits for a request that has one. */
  readonly rejectCursor: () => Script
  /** At most this many items on the page; nothing after it is lost. */
  readonly shortPage: (items: number) => Script
  /** A new record appears in the list before the page is made. */
  readonly itemAppears: () => Script
  /** The record that the page starts after vanishes before the page is made. Waits for a request that has a cursor. */
  readonly itemVanishes: () => Script
}

/**
 * Requests at the service other than lists.
 *
 * @category models
 */
export interface Requests<Script> extends Aim<Requests<Script>>, AnyFault<Script> {}

/**
 * Reads from storage.
 *
 * @category models
 */
export interface StorageRequests<Script> extends Aim<StorageRequests<Script>>, AnyFault<Script>, StorageFault<Script> {}

/**
 * PUTs of whole objects.
 *
 * @category models
 */
export interface PutRequests<Script>
  extends Aim<PutRequests<Script>>, AnyFault<Script>, StorageFault<Script>, PutFault<Script>
{}

/**
 * PUTs of parts, or of either kind.
 *
 * @category models
 */
export interface PartRequests<Script>
  extends Aim<PartRequests<Script>>, AnyFault<Script>, StorageFault<Script>, PutFault<Script>
{
  /** Only this part. */
  readonly part: (number: number) => PartRequests<Script>
}

/**
 * Requests for a page of a list.
 *
 * @category models
 */
export interface ListRequests<Script> extends Aim<ListRequests<Script>>, AnyFault<Script>, ListFault<Script> {}
