/**
 * The two halves of a sentence of a fault script: which requests, and what happens to them. Which faults can end a sentence
 * depends on how it begins: a page fault of a PUT does not compile.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Fault from "./Fault.js"

/**
 * The first half of a sentence: which requests, and how many of them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Aim<Self> {
  /** The next `count` requests. Default 1. */
  readonly times: (count: number) => Self
  /** Every request from here on. */
  readonly always: () => Self
  /** Lets `count` requests pass first. */
  readonly after: (count: number) => Self
}

/**
 * The second half: what happens to them, whatever they ask for.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyFault<Script> {
  /** Not handled; `status` is answered, with a code that the table of errors has, or any other. */
  readonly answer: (
    status: number,
    code?: string,
    options?: { readonly retryAfter?: number | string | undefined }
  ) => Script
  /** Not handled; 429 from the service, 503 from the storage, with `Retry-After`: seconds, a date, or nonsense. */
  readonly retryAfter: (value: number | string) => Script
  /** Not handled; a gateway's HTML page is answered. */
  readonly html: (status: number) => Script
  /** Handled, and then the connection breaks before the answer. */
  readonly loseAnswer: () => Script
  /** The connection breaks before anything is handled. */
  readonly reset: () => Script
  /** The connection breaks after so many bytes of the request's body, or of the answer's where that has no more. */
  readonly resetAfter: (bytes: number) => Script
  /** Silence for ever: before anything, after `afterBytes` of the same body, or instead of the answer. */
  readonly stall: (phase: Fault.StallPhase, options?: { readonly afterBytes?: number | undefined }) => Script
  /** Handled as usual, so much later. */
  readonly delay: (duration: Duration.DurationInput) => Script
}

/**
 * What happens to requests at the storage only.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageFault<Script> {
  /** The answer has no etag. */
  readonly omitEtag: () => Script
  /** The URL counts as expired. */
  readonly expire: () => Script
  /** A storm: for so long, from the first of these requests on, every one is answered 503 `SlowDown`. */
  readonly slowDown: (duration: Duration.DurationInput) => Script
}

/**
 * What happens to PUTs only.
 *
 * @since 0.1.0
 * @category models
 */
export interface PutFault<Script> {
  /** The connection breaks, and so much later the bytes are stored all the same: over those of a repeat. */
  readonly landLate: (after: Duration.DurationInput) => Script
}

/**
 * What happens to pages of a list only.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListFault<Script> {
  /** The page's next cursor is the one that asked for it. Waits for a request that has a cursor. */
  readonly repeatCursor: () => Script
  /** A page without items in between; nothing is lost behind it. */
  readonly emptyPage: () => Script
  /** The page says that there is more, without a cursor. */
  readonly dropCursor: () => Script
  /** The page's first record has no id and no title. */
  readonly corruptPage: () => Script
  /** The page says that there is no more, and has a cursor behind which the list goes on. */
  readonly denyMore: () => Script
  /** The cursor is refused as too old. Waits for a request that has one. */
  readonly rejectCursor: () => Script
  /** No more than so many items on the page; nothing is lost behind it. */
  readonly shortPage: (items: number) => Script
  /** A new record appears in the list before the page is made. */
  readonly itemAppears: () => Script
  /** The record behind which the page begins vanishes before. Waits for a request that has a cursor. */
  readonly itemVanishes: () => Script
}

/**
 * Requests at the service that are no lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface Requests<Script> extends Aim<Requests<Script>>, AnyFault<Script> {}

/**
 * Reads at the storage.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageRequests<Script> extends Aim<StorageRequests<Script>>, AnyFault<Script>, StorageFault<Script> {}

/**
 * PUTs of whole objects.
 *
 * @since 0.1.0
 * @category models
 */
export interface PutRequests<Script>
  extends Aim<PutRequests<Script>>, AnyFault<Script>, StorageFault<Script>, PutFault<Script>
{}

/**
 * PUTs of parts, or of either kind.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartRequests<Script>
  extends Aim<PartRequests<Script>>, AnyFault<Script>, StorageFault<Script>, PutFault<Script>
{
  /** Of this part only. */
  readonly part: (number: number) => PartRequests<Script>
}

/**
 * Requests for a page of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListRequests<Script> extends Aim<ListRequests<Script>>, AnyFault<Script>, ListFault<Script> {}
