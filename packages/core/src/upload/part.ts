/**
 * Sends one part (or the whole of a small file) to storage: attempts, each with its timers, until there is a receipt or
 * an error that no retry helps against.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { BandwidthLimit } from "../BandwidthLimit.js"
import * as Checksum from "../Checksum.js"
import type { RunningChecksum } from "../Checksum.js"
import { changedError, tellRepeat } from "../errors/errorWords.js"
import * as Metrics from "../Metrics.js"
import * as ObjectStorage from "../ObjectStorage.js"
import type { PresignedUrl } from "../PresignedUrl.js"
import * as RetryPolicy from "../RetryPolicy.js"
import { wasNotCarriedOut } from "../service/call.js"
import * as SequentialReader from "../source/sequentialReader.js"
import type { SourceError } from "../SourceError.js"
import type { PutReceipt } from "../storage/response.js"
import type { StorageError } from "../StorageError.js"
import { ChecksumMismatch, UrlExpired } from "../StorageError.js"
import * as TransferGate from "../TransferGate.js"
import type { DeadlineUnreachable, UploadLocked } from "../UploadError.js"
import type { ByteRange } from "../UploadPlan.js"
import type { OpenSource, SourceSection, UploadSource } from "../UploadSource.js"
import * as AttemptWatch from "./attempt.js"
import type { UploadState } from "./control.js"
import { meaningOf } from "./meaning.js"

/** What to send, and where. */
export interface PartTransfer {
  readonly run: UploadState
  readonly source: UploadSource
  readonly opened: OpenSource
  readonly partNumber: number
  readonly range: ByteRange
  readonly url: PresignedUrl
  readonly kind: "single" | "part"
  readonly encryptionHeaders: Readonly<Record<string, string>>
  /**
   * Asked before each attempt, and during it: fails once it is known that the upload cannot finish in time, and once another
   * process may have taken it over.
   */
  readonly look: Effect.Effect<void, DeadlineUnreachable | UploadLocked>
}

/** The receipt of the last attempt, which is the one that counts. */
export interface Transferred extends PutReceipt {
  /** How many attempts were made. A part that took more than one may have been stored twice. */
  readonly attempts: number
  /** Of the bytes as sent, in base64; absent if they could not be observed. */
  readonly checksum: string | undefined
  /** Whether storage reported the same. */
  readonly proven: boolean
}

/** Every way a part can fail. */
export type PartError = StorageError | SourceError | DeadlineUnreachable | UploadLocked

interface Hashing {
  readonly section: SourceSection
  readonly checksum: () => string | undefined
}

const hashed = (section: SourceSection, begin: () => RunningChecksum): Hashing => {
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

// A Blob is sent without passing through here: it would be read a second time for nobody
const unhashed = ({ body, range }: SourceSection): Hashing => ({
  section: {
    range,
    body: (observe) =>
      Effect.map(body(observe), (sent) => sent._tag === "BlobBody" ? { ...sent, observed: Effect.void } : sent)
  },
  checksum: () => undefined
})

// A whole stream that is longer than this passes through without being held.
const isHeld = ({ kind, range, source }: PartTransfer): boolean =>
  source.held && (kind === "part" || range.length <= SequentialReader.longestHeldWhole)

// Even with all of the bandwidth, at 1.5 times the best measured speed, it would not finish in time: such a part is not
// started.
const cannotEndInTime = ({ range, run, url }: PartTransfer): boolean =>
  Option.exists(url.deadline, (deadline) =>
    Option.exists(run.monitor.speed(), ({ most }) => {
      const secondsLeft = (deadline.getTime() - run.serverClock.now()) / 1000
      return secondsLeft > 0 && most > 0 && range.length > secondsLeft * most * 1.5
    }))

const tooLate = ({ run, url }: PartTransfer, attempts: number): UrlExpired =>
  new UrlExpired({
    part: Option.getOrUndefined(url.partNumber),
    reason: "TooLate",
    deadline: Option.getOrUndefined(url.deadline),
    serverTime: new Date(run.serverClock.now()),
    attempts
  })

// What is held is hashed where it is; anything else is read once more
const contentHeaders = ({ opened, range, url }: PartTransfer, section: SourceSection) =>
  ObjectStorage.contentHeaders(
    url,
    (observe) =>
      Effect.scoped(Effect.flatMap(section.body(() => {}), (body) =>
        body._tag === "BytesBody"
          ? Effect.sync(() => observe(body.bytes))
          : opened.readThrough(range, observe)))
  )

type Receipt = Omit<Transferred, "attempts">

const accepted = (
  transfer: PartTransfer,
  receipt: PutReceipt,
  { algorithm, sent: checksum }: { readonly algorithm: string; readonly sent: string | undefined },
  attempts: number
): Effect.Effect<Receipt, ChecksumMismatch> => {
  const stored = receipt.checksums[algorithm]
  return checksum === undefined || stored === undefined || stored === checksum
    ? Effect.succeed({ ...receipt, checksum, proven: stored !== undefined && stored === checksum })
    : Effect.fail(
      new ChecksumMismatch({
        algorithm,
        sent: checksum,
        stored,
        part: Option.getOrUndefined(transfer.url.partNumber),
        requestId: receipt.requestId,
        attempts
      })
    )
}

/** An attempt was cut by a pause, or because the computer slept. */
interface Cut {
  readonly _tag: "Cut"
}

const cut: Effect.Effect<never, Cut> = Effect.fail({ _tag: "Cut" })

/** What the attempts of a single PUT so far may have left in storage. */
type Leftover = "nothing" | "file" | "damaged"

const leftoverOf = (error: PartError | Cut, before: Leftover): Leftover => {
  if (before === "damaged" || error._tag === "ChecksumMismatch") return "damaged"
  const sentNothing = error._tag === "TimedOut"
    ? error.phase === "connect"
    : error._tag !== "Cut" && wasNotCarriedOut(error)
  return sentNothing ? before : "file"
}

const isStored = (error: PartError | Cut): boolean => error._tag !== "Cut" && meaningOf(error).session === "sent"

const hasStored = (cause: Cause.Cause<PartError | Cut>): boolean => Option.exists(Cause.failureOption(cause), isStored)

interface Attempt {
  readonly section: SourceSection
  readonly headers: Readonly<Record<string, string>>
  /** The number of the attempt for the retry policy, from 1. */
  readonly number: number
  readonly onStart: () => void
  /** What earlier attempts may have left, to which the failure of this one is added. */
  readonly earlier: { left: Leftover }
}

const attempt = (
  transfer: PartTransfer,
  { earlier, headers, number, onStart, section }: Attempt
): Effect.Effect<Receipt, PartError | Cut, ObjectStorage.ObjectStorage> =>
  Effect.gen(function*() {
    const { run } = transfer
    const storage = yield* ObjectStorage.ObjectStorage
    const bandwidth = yield* BandwidthLimit
    const algorithm = yield* Checksum.Algorithm
    yield* transfer.opened.unchanged
    // It may have been paused while it waited for its turn, or just now, for the source
    if (run.transferSwitch.isOff()) return yield* cut
    yield* transfer.look
    if (cannotEndInTime(transfer)) return yield* tooLate(transfer, number - 1)
    onStart()
    yield* run.monitor.publish({ _tag: "PartStarted", part: transfer.partNumber, attempt: number })
    const counts = run.monitor.beginAttempt(section.range.length)
    const hashing = algorithm.whileSending === false ? unhashed(section) : hashed(section, algorithm.begin)
    yield* Metrics.countAttempt(transfer.kind === "part" ? "putPart" : "put")
    const { monotonic } = run.serverClock
    const beganAt = monotonic()
    return yield* AttemptWatch.watched({
      length: section.range.length,
      attempts: number,
      serverClock: run.serverClock,
      timers: run.timers,
      look: transfer.look,
      onCut: run.transferSwitch.whenOff,
      put: (onSent, onWait) =>
        storage.put({
          url: transfer.url,
          section: hashing.section,
          name: transfer.source.name,
          headers,
          clockOffset: run.serverClock.offset(),
          attempt: number,
          onSent: (bytes) => {
            counts.sent(bytes)
            onSent(bytes)
          },
          pace: bandwidth.pace((waits) => {
            counts.waits(waits)
            onWait(waits)
          })
        })
    }).pipe(
      Effect.flatMap((put): Effect.Effect<Receipt, ChecksumMismatch | Cut> =>
        Option.isSome(put)
          ? accepted(transfer, put.value, { algorithm: algorithm.name, sent: hashing.checksum() }, number)
          : cut
      ),
      Effect.mapError((error) => {
        const isSecond = error._tag === "StorageRejected" && transfer.kind === "single" && earlier.left === "file"
        earlier.left = leftoverOf(error, earlier.left)
        return isSecond ? changedError(error, { mayHaveArrived: true }) : error
      }),
      // a source that changed while it was read may have said only that it could not be read
      Effect.tapError((error) => error._tag === "SourceUnreadable" ? transfer.opened.unchanged : Effect.void),
      Effect.tap(() =>
        Metrics.measurePut({ bytes: section.range.length, took: Duration.millis(monotonic() - beganAt) })
      ),
      Effect.onExit((exit) =>
        Effect.sync(Exit.isSuccess(exit) || hasStored(exit.cause) ? counts.confirmed : counts.lost)
      )
    )
  })

// A cut attempt is made again: it was nobody's failure. Only the receipt counts it, because storage may have received
// its bytes all the same.
const againAfterCut = <R>(
  run: UploadState,
  attempt: Effect.Effect<Receipt, PartError | Cut, R>
): Effect.Effect<Receipt, PartError, R> =>
  run.transferSwitch.on.pipe(
    Effect.zipRight(attempt),
    Effect.catchAll((error) =>
      error._tag === "Cut" ? Effect.zipRight(run.noteSleep, againAfterCut(run, attempt)) : Effect.fail(error)
    )
  )

/**
 * PUTs one part. Each attempt waits for its turn at the gate, and its connection is closed before the next one starts.
 * A SlowDown holds back the parts of all uploads for as long as this one waits.
 */
export const run = (
  transfer: PartTransfer
): Effect.Effect<Transferred, PartError, ObjectStorage.ObjectStorage | TransferGate.TransferGate> =>
  Effect.gen(function*() {
    const { run } = transfer
    const gate = yield* TransferGate.TransferGate
    const fixed = yield* ObjectStorage.putHeaders({
      url: transfer.url,
      kind: transfer.kind,
      mediaType: transfer.source.mediaType,
      encryptionHeaders: transfer.encryptionHeaders
    })
    if (isHeld(transfer)) yield* gate.hold(transfer.range.length, run)
    const section = yield* transfer.opened.section(transfer.range)
    const headers = { ...fixed, ...(yield* contentHeaders(transfer, section)) }
    let made = 0
    const earlier: Attempt["earlier"] = { left: "nothing" }
    const onStart = () => {
      made += 1
    }
    const once = (number: number) =>
      Effect.flatMap(
        run.monitor.progress.get,
        ({ confirmed, size }) =>
          gate.pass(attempt(transfer, { section, headers, number, onStart, earlier }), {
            bytes: transfer.range.length,
            owner: run,
            left: size - confirmed
          })
      )
    const stored = Effect.suspend(() =>
      run.monitor.publish({
        _tag: "PartStored",
        part: transfer.partNumber,
        size: transfer.range.length,
        attempts: made
      })
    )
    const receipt = yield* RetryPolicy.retry(
      (number) => againAfterCut(run, once(number)),
      {
        budget: run.budget,
        onRetry: (error, wait) =>
          Effect.all([
            run.monitor.publish({
              _tag: "PartFailed",
              part: transfer.partNumber,
              attempt: error.attempts,
              because: error._tag,
              wait
            }),
            tellRepeat(`of ${transfer.source.name}`, error, wait),
            error.recovery === "slowDown" ? gate.pause(wait) : Effect.void
          ], { discard: true })
      }
    ).pipe(Effect.tapError((error) => isStored(error) ? stored : Effect.void))
    yield* stored
    return { ...receipt, attempts: made }
  }).pipe(Effect.scoped)
