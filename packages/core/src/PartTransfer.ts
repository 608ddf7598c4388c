/**
 * One part (or the whole of a small file) on its way to storage: attempts, each with its timers, until there is a
 * receipt or an error that no repeat helps against.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RunningChecksum } from "./Checksum.js"
import * as Checksum from "./Checksum.js"
import { TimedOut } from "./ConnectionError.js"
import * as ObjectStorage from "./ObjectStorage.js"
import type { PresignedUrl } from "./PresignedUrl.js"
import * as RetryPolicy from "./RetryPolicy.js"
import type { SourceError } from "./SourceError.js"
import type { StorageError } from "./StorageError.js"
import { ChecksumMismatch } from "./StorageError.js"
import type { PutReceipt } from "./StorageResponse.js"
import * as Timeouts from "./Timeouts.js"
import * as TransferGate from "./TransferGate.js"
import type { UploadMonitor } from "./UploadMonitor.js"
import type { ByteRange } from "./UploadPlan.js"
import type { OpenSource, SourceSection, UploadSource } from "./UploadSource.js"

/**
 * What goes where.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartTransfer {
  readonly source: UploadSource
  readonly opened: OpenSource
  readonly range: ByteRange
  readonly url: PresignedUrl
  readonly kind: "single" | "part"
  readonly encryptionHeaders: Readonly<Record<string, string>>
  /** The server's clock less ours, in milliseconds. */
  readonly clockOffset: number
  /** When a URL is taken to end that does not say so itself, in milliseconds of the server's clock. */
  readonly assumedDeadline?: number | undefined
  readonly monitor: UploadMonitor
}

/**
 * The receipt of the last attempt, which is the one that counts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Transferred extends PutReceipt {
  /** How many attempts it took: a part that took more than one may have been stored twice. */
  readonly attempts: number
  /** Of the bytes as they were sent, in base64; absent where they could not be seen on their way. */
  readonly checksum: string | undefined
}

/** The slowest line that is served, in bytes a second: a chunk may take this long to leave, unseen, from a buffer. */
const slowestLine = 32_768

interface Watch {
  readonly put: (onSent: (bytes: number) => void) => Effect.Effect<PutReceipt, StorageError | SourceError>
  readonly length: number
  readonly attempts: number
}

/**
 * Fails with `TimedOut` when an attempt makes no progress: until its first bytes are taken, while the body is on its
 * way, and from its last byte to the answer, each with a limit of its own.
 *
 * @since 0.1.0
 * @category timers
 */
export const watched = (watch: Watch): Effect.Effect<PutReceipt, StorageError | SourceError> =>
  Effect.gen(function*() {
    const limits = yield* Timeouts.Timeouts
    const clock = yield* Effect.clock
    let progressAt = clock.unsafeCurrentTimeMillis()
    let sent = 0
    let lastChunk = 0

    const current = (): { readonly phase: TimedOut["phase"]; readonly limit: Duration.Duration } => {
      if (sent === 0) return { phase: "connect", limit: limits.connect }
      const leaving = Duration.seconds(lastChunk / slowestLine)
      return sent < watch.length
        ? { phase: "body", limit: Duration.sum(limits.stall, leaving) }
        : { phase: "answer", limit: Duration.sum(limits.answer, leaving) }
    }

    const timer: Effect.Effect<never, TimedOut> = Effect.suspend(() => {
      const { limit, phase } = current()
      const idle = clock.unsafeCurrentTimeMillis() - progressAt
      // Whole milliseconds: a rest too small to move the clock would be slept for ever.
      const left = Math.ceil(Duration.toMillis(limit) - idle)
      return left > 0
        ? Effect.zipRight(Effect.sleep(Duration.millis(left)), timer)
        : Effect.fail(new TimedOut({ peer: "storage", phase, after: limit, attempts: watch.attempts }))
    })

    return yield* Effect.raceFirst(
      watch.put((bytes) => {
        sent += bytes
        lastChunk = bytes
        progressAt = clock.unsafeCurrentTimeMillis()
      }),
      timer
    )
  })

const hashed = (section: SourceSection, begin: () => RunningChecksum) => {
  let running = begin()
  let seen = 0
  const observed: SourceSection = {
    range: section.range,
    body: (observe) =>
      Effect.suspend(() => {
        running = begin()
        seen = 0
        return section.body((chunk) => {
          running.update(chunk)
          seen += chunk.byteLength
          observe(chunk)
        })
      })
  }
  return { section: observed, checksum: () => seen === section.range.length ? running.value() : undefined }
}

const attempt = (
  transfer: PartTransfer,
  section: SourceSection,
  headers: Readonly<Record<string, string>>,
  number: number
): Effect.Effect<Transferred, StorageError | SourceError, ObjectStorage.ObjectStorage> =>
  Effect.gen(function*() {
    const storage = yield* ObjectStorage.ObjectStorage
    const algorithm = yield* Checksum.Algorithm
    yield* transfer.opened.unchanged
    const counts = transfer.monitor.beginAttempt(section.range.length)
    const hashing = hashed(section, algorithm.begin)
    return yield* watched({
      length: section.range.length,
      attempts: number,
      put: (onSent) =>
        storage.put({
          url: transfer.url,
          section: hashing.section,
          name: transfer.source.name,
          headers,
          clockOffset: transfer.clockOffset,
          assumedDeadline: transfer.assumedDeadline,
          attempt: number,
          onSent: (bytes) => {
            counts.sent(bytes)
            onSent(bytes)
          }
        })
    }).pipe(
      Effect.flatMap((receipt) => {
        const checksum = hashing.checksum()
        const stored = receipt.checksums[algorithm.name]
        return checksum === undefined || stored === undefined || stored === checksum
          ? Effect.succeed({ ...receipt, attempts: number, checksum })
          : Effect.fail(damaged(transfer, receipt, { algorithm: algorithm.name, sent: checksum, stored }, number))
      }),
      Effect.onExit((exit) => Effect.sync(exit._tag === "Success" ? counts.confirmed : counts.lost))
    )
  })

const damaged = (
  transfer: PartTransfer,
  receipt: PutReceipt,
  values: { readonly algorithm: string; readonly sent: string; readonly stored: string },
  attempts: number
): ChecksumMismatch =>
  new ChecksumMismatch({
    ...values,
    part: Option.getOrUndefined(transfer.url.partNumber),
    requestId: receipt.requestId,
    attempts
  })

/**
 * Puts one part. Each attempt waits for its turn at the gate, and its connection is closed before the next begins;
 * a SlowDown holds everybody's parts for as long as this one waits.
 *
 * @since 0.1.0
 * @category transfer
 */
export const run = (
  transfer: PartTransfer
): Effect.Effect<
  Transferred,
  StorageError | SourceError,
  ObjectStorage.ObjectStorage | TransferGate.TransferGate
> =>
  Effect.gen(function*() {
    const gate = yield* TransferGate.TransferGate
    const headers = yield* ObjectStorage.putHeaders({
      url: transfer.url,
      kind: transfer.kind,
      mediaType: transfer.source.mediaType,
      encryptionHeaders: transfer.encryptionHeaders
    })
    const section = yield* transfer.opened.section(transfer.range)
    return yield* RetryPolicy.retry(
      (number) => gate.pass(attempt(transfer, section, headers, number)),
      {
        onRetry: (error, wait) =>
          Effect.zipRight(
            Effect.logDebug(
              `Attempt ${error.attempts} of ${transfer.source.name} failed; the next in ${Duration.format(wait)}`,
              error
            ),
            error.recovery === "slowDown" ? gate.pause(wait) : Effect.void
          )
      }
    )
  }).pipe(Effect.scoped)
