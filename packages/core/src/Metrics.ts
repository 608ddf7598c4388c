/**
 * What is counted and measured about transfers and lists. Any registry that reads Effect's metrics can use any name
 * here. No tag contains a file's name, an address or an id.
 *
 * Besides these, `TransferGate` has the gauges `stevedore_transfers_in_flight`, `_waiting`, `_width` and
 * `_buffered_bytes`, and `RateLimit` the histogram `stevedore_rate_limit_wait`.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type { Recovery } from "./Recovery.js"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

/**
 * Uploads that ended, by `outcome`: `completed`, `cancelled`, the `_tag` of the error, or `defect`. Completed ones by `proof` too:
 * how it is known that storage holds what was read (`UploadedFile.Proof`).
 *
 * @category metrics
 */
export const uploads = counter("stevedore_uploads", "Uploads that ended")

/**
 * How long completed uploads took, in milliseconds.
 *
 * @category metrics
 */
export const uploadDuration = Metric.timerWithBoundaries(
  "stevedore_upload_duration",
  MetricBoundaries.exponential({ start: 250, factor: 2, count: 18 }).values,
  "Duration of completed uploads"
)

/**
 * Bytes that storage has confirmed. What a new session resends counts again.
 *
 * @category metrics
 */
export const bytesConfirmed = counter("stevedore_bytes_confirmed", "Bytes that storage has confirmed")

/**
 * Bytes received in downloads.
 *
 * @category metrics
 */
export const bytesReceived = counter("stevedore_bytes_received", "Bytes received in downloads")

/**
 * List items that did not match their Schema and were skipped.
 *
 * @category metrics
 */
export const itemsSkipped = /* #__PURE__ */ counter(
  "stevedore_items_skipped",
  "List items skipped because they do not match their Schema"
)

/**
 * Parts that storage has confirmed; a single PUT counts as one.
 *
 * @category metrics
 */
export const partsConfirmed = counter("stevedore_parts_confirmed", "Parts that storage has confirmed")

/**
 * Requests made, by `operation`: `put`, `putPart`, `get`, or the service's operation. Includes retries.
 *
 * @category metrics
 */
export const attempts = counter("stevedore_attempts", "Requests, including retries")

/**
 * Retried requests, by `category`, which is the `recovery` of the preceding error.
 *
 * @category metrics
 */
export const retries = counter("stevedore_retries", "Retried requests")

/**
 * How long PUTs that storage confirmed took, in milliseconds, without the wait for their turn.
 *
 * @category metrics
 */
export const putDuration = Metric.timerWithBoundaries(
  "stevedore_put_duration",
  MetricBoundaries.exponential({ start: 50, factor: 2, count: 16 }).values,
  "Duration of PUTs that storage confirmed"
)

/**
 * The throughput of one connection in a PUT that storage confirmed, in bytes per second.
 *
 * @category metrics
 */
export const putThroughput = Metric.histogram(
  "stevedore_put_throughput",
  MetricBoundaries.exponential({ start: 16_384, factor: 2, count: 18 }),
  "Throughput of one connection in a PUT, in bytes per second"
)

/** What the metrics of an application are labelled with. */
type Labels = ReadonlyArray<MetricLabel.MetricLabel>

const current: Effect.Effect<Labels> = Effect.metricLabels

const labelled = (labels: Labels, name: string, value: string): Labels => [...labels, MetricLabel.make(name, value)]

/**
 * Counts one request.
 *
 * @internal
 */
export const countAttempt = (operation: string): Effect.Effect<void> =>
  Effect.map(current, (labels) => attempts.unsafeUpdate(1, labelled(labels, "operation", operation)))

/**
 * Counts one retry.
 *
 * @internal
 */
export const countRetry = (category: Recovery): Effect.Effect<void> =>
  Metric.increment(Metric.tagged(retries, "category", category))

/**
 * Records a PUT that storage confirmed.
 *
 * @internal
 */
export const measurePut = (put: { readonly bytes: number; readonly took: Duration.Duration }): Effect.Effect<void> =>
  Effect.map(current, (labels) => {
    bytesConfirmed.unsafeUpdate(put.bytes, labels)
    partsConfirmed.unsafeUpdate(1, labels)
    putDuration.unsafeUpdate(put.took, labels)
    putThroughput.unsafeUpdate(put.bytes / Math.max(0.001, Duration.toSeconds(put.took)), labels)
  })

/**
 * What counts the bytes that a download receives: there may be millions of small chunks, and an effect for each would
 * cost more than everything else.
 *
 * @internal
 */
export const receiver: Effect.Effect<(bytes: number) => void> = /* #__PURE__ */ Effect.map(
  current,
  (labels) => (bytes) => bytesReceived.unsafeUpdate(bytes, labels)
)

const outcomeOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>): string =>
  Exit.match(exit, {
    onSuccess: () => "completed",
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onSome: ({ _tag }) => _tag,
        onNone: () => Cause.isInterruptedOnly(cause) ? "cancelled" : "defect"
      })
  })

/**
 * Counts an upload by its outcome, and records how long it took if it completed; then `ended` is told.
 *
 * @internal
 */
export const measureUpload = <
  A extends { readonly sent: { readonly proof: string } },
  E extends { readonly _tag: string },
  R
>(
  upload: Effect.Effect<A, E, R>,
  ended: (exit: Exit.Exit<A, E>) => Effect.Effect<void>
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const began = clock.unsafeCurrentTimeNanos()
    return Effect.onExit(upload, (exit) =>
      Effect.flatMap(current, (labels) => {
        if (Exit.isSuccess(exit)) {
          uploadDuration.unsafeUpdate(Duration.nanos(clock.unsafeCurrentTimeNanos() - began), labels)
        }
        const outcome = labelled(labels, "outcome", outcomeOf(exit))
        uploads.unsafeUpdate(1, Exit.isSuccess(exit) ? labelled(outcome, "proof", exit.value.sent.proof) : outcome)
        return ended(exit)
      }))
  })
