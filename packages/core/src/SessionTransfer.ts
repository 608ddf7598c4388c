/**
 * One session: PUTs every part that storage does not have yet, then completes the upload.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { FileRecord } from "./FileRecord.js"
import { isThere } from "./FileRecord.js"
import { namesInvalidPart } from "./internal/invalidPart.js"
import { inOwnFiber } from "./internal/ownFiber.js"
import { printable } from "./internal/printable.js"
import type { ObjectStorage } from "./ObjectStorage.js"
import * as PartTransfer from "./PartTransfer.js"
import type { InvalidPartCount } from "./PlanError.js"
import type { PresignedUrl } from "./PresignedUrl.js"
import { ServiceApi } from "./ServiceApi.js"
import type { ServiceProfile } from "./ServiceProfile.js"
import type { TransferGate } from "./TransferGate.js"
import * as UploadCompletion from "./UploadCompletion.js"
import type { UploadError } from "./UploadError.js"
import { DeadlineUnreachable } from "./UploadError.js"
import type { CheckedOptions } from "./UploadOptions.js"
import type { ByteRange } from "./UploadPlan.js"
import * as UploadPlan from "./UploadPlan.js"
import type { UploadState } from "./UploadRun.js"
import type { PartReceipt, UploadSession } from "./UploadSession.js"
import { uploadIdOf, urlsOf } from "./UploadSession.js"
import type { OpenSource, UploadSource } from "./UploadSource.js"

/**
 * The services that an upload needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements = ServiceApi | ObjectStorage | TransferGate

/**
 * A part of a session: its number from 1, its bytes, and its URL.
 *
 * @since 0.1.0
 * @category models
 */
export interface Part {
  readonly partNumber: number
  readonly range: ByteRange
  readonly url: PresignedUrl
}

/**
 * What is recorded while a session runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Journal {
  readonly received: (receipt: PartReceipt) => Effect.Effect<void>
  readonly completing: Effect.Effect<void>
}

/**
 * A session that is ready for its parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface SessionTransfer {
  readonly source: UploadSource
  readonly options: Pick<CheckedOptions, "concurrency" | "onImpossible">
  readonly run: UploadState
  readonly session: UploadSession
  readonly parts: Arr.NonEmptyReadonlyArray<Part>
  readonly opened: OpenSource
  /** The parts that storage had already confirmed, by their numbers. */
  readonly confirmed: ReadonlyMap<number, PartReceipt>
  /** Whether an earlier process worked on this session: it may have been sending any part when it ended. */
  readonly goesOn: boolean
  /** When the first of its URLs expires, in the server's time. */
  readonly deadline: Date
  readonly journal: Journal
}

/** The latest time that a Date can represent. */
const lastMoment = 8.64e15

/**
 * When the first URL of these parts expires, in the server's time.
 *
 * @since 0.1.0
 * @category deadlines
 */
export const deadlineOf = (parts: ReadonlyArray<Part>): Date =>
  new Date(
    parts.reduce(
      (first, { url }) =>
        Option.match(url.deadline, { onNone: () => first, onSome: (one) => Math.min(first, one.getTime()) }),
      lastMoment
    )
  )

/**
 * Which bytes go to which of a session's URLs, in order. A single PUT has no `uploadId` and takes all bytes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const rangesOf = (
  session: { readonly parts: number; readonly uploadId?: string | undefined },
  size: number,
  limits: ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<ByteRange>, InvalidPartCount> =>
  session.uploadId === undefined
    ? Either.right([{ offset: 0, length: size }])
    : UploadPlan.ranges(size, session.parts, limits)

/**
 * The parts of a session for a file of this size.
 *
 * @since 0.1.0
 * @category constructors
 */
export const partsOf = (
  session: UploadSession,
  size: number,
  limits: ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<Part>, InvalidPartCount> => {
  const urls = urlsOf(session)
  return Either.map(
    rangesOf({ parts: urls.length, uploadId: uploadIdOf(session) }, size, limits),
    (ranges) => Arr.map(Arr.zip(ranges, urls), ([range, url], index) => ({ partNumber: index + 1, range, url }))
  )
}

const look = (upload: SessionTransfer, deadline: Date): Effect.Effect<void, DeadlineUnreachable> =>
  Effect.suspend(() => {
    const { options, run: { monitor, serverClock }, session, source } = upload
    return Effect.flatMap(
      monitor.assess({
        secondsLeft: (deadline.getTime() - serverClock.now()) / 1000,
        sessionSeconds: (deadline.getTime() - session.openedAt) / 1000
      }),
      (feasibility) =>
        feasibility._tag === "Impossible" && options.onImpossible === "fail"
          ? new DeadlineUnreachable({
            fileName: source.name,
            size: source.size,
            needs: feasibility.needs,
            has: feasibility.has,
            deadline
          })
          : Effect.void
    )
  })

interface Parts extends SessionTransfer {
  /** Whether a part has failed for good: all others are then about to be interrupted. */
  hasFailed: boolean
}

const put = (upload: Parts, part: Part): Effect.Effect<PartReceipt, UploadError, Requirements> => {
  // The memory that a failing part releases goes at once to a waiting part, which is itself about to be interrupted
  const unlessOver = Effect.suspend(() => upload.hasFailed ? Effect.never : Effect.void)
  return Effect.flatMap(ServiceApi, ({ profile }) =>
    PartTransfer.run({
      run: upload.run,
      source: upload.source,
      opened: { ...upload.opened, section: (range) => Effect.zipRight(unlessOver, upload.opened.section(range)) },
      partNumber: part.partNumber,
      range: part.range,
      url: part.url,
      kind: upload.session._tag === "SingleSession" ? "single" : "part",
      encryptionHeaders: profile.encryptionHeaders,
      look: look(upload, upload.deadline)
    })).pipe(
      Effect.tapErrorCause(() =>
        Effect.sync(() => {
          upload.hasFailed = true
        })
      ),
      Effect.map(({ attempts, checksum, etag, perhapsRepeated }): PartReceipt => ({
        partNumber: part.partNumber,
        etag,
        size: part.range.length,
        attempts: upload.goesOn ? attempts + 1 : attempts,
        perhapsRepeated,
        checksum
      })),
      Effect.tap(upload.journal.received)
    )
}

/**
 * A receipt for every part of a session, in order.
 *
 * @since 0.1.0
 * @category models
 */
export type Receipts = Arr.NonEmptyReadonlyArray<PartReceipt>

const putAll = (upload: Parts): Effect.Effect<Receipts, UploadError, Requirements> => {
  const all = Effect.forEach(upload.parts, (part) => {
    const confirmed = upload.confirmed.get(part.partNumber)
    return confirmed === undefined ? put(upload, part) : Effect.succeed(confirmed)
  }, {
    concurrency: Math.min(upload.options.concurrency, upload.parts.length)
  })
  // What runs alone needs no fibers: with them, a small file would take a twentieth longer
  return upload.parts.length > 1 ? inOwnFiber(all) : all
}

// The service responds like this if storage rejected the etags.
const isRefusedFinalization = (error: UploadError): boolean =>
  (error._tag === "ServiceUnavailable" || error._tag === "RequestRejected") &&
  (error.status === 502 || namesInvalidPart(error))

// A gateway's 502 has no issues. It is no reason to send again what a browser may have repeated, which is every part.
const isDoubtfulAfter = (refusal: UploadError) => ({ attempts, perhapsRepeated = false }: PartReceipt): boolean =>
  attempts > 1 || (perhapsRepeated && "issues" in refusal && refusal.issues.length > 0)

/**
 * Whether a rejected Complete may be due to a part that was sent several times: a late request may have replaced the one
 * that the receipt belongs to.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusedForDoubt = (error: UploadError, receipts: ReadonlyArray<PartReceipt>): boolean =>
  isRefusedFinalization(error) && receipts.some(isDoubtfulAfter(error))

const putDoubtfulAgain = (
  upload: Parts,
  receipts: Receipts,
  isDoubtful: (receipt: PartReceipt) => boolean
): Effect.Effect<Receipts, UploadError, Requirements> =>
  inOwnFiber(Effect.forEach(
    Arr.zip(upload.parts, receipts),
    ([part, receipt]) =>
      isDoubtful(receipt)
        ? Effect.zipRight(upload.run.monitor.reopenPart(receipt.size), put(upload, part))
        : Effect.succeed(receipt),
    { concurrency: upload.options.concurrency }
  ))

const complete = (
  upload: SessionTransfer,
  receipts: Receipts
): Effect.Effect<FileRecord, UploadError, Requirements> =>
  upload.run.transferSwitch.on.pipe(
    Effect.zipRight(upload.opened.unchanged),
    Effect.zipRight(upload.journal.completing),
    Effect.zipRight(upload.run.monitor.enter("completing")),
    Effect.zipRight(UploadCompletion.run({
      target: { fileId: upload.session.fileId, uploadId: uploadIdOf(upload.session) },
      receipts,
      size: upload.source.size
    }))
  )

const completed = (upload: SessionTransfer, receipts: Receipts) =>
  Effect.map(complete(upload, receipts), (file) => ({ file, receipts }))

// Complete may have been received after all: the parts could then not be sent again because the file is already there
const fileIfThere = (upload: SessionTransfer) =>
  Effect.flatMap(ServiceApi, (service) => service.file(upload.session.fileId)).pipe(
    Effect.filterOrFail((file) => isThere(file, upload.source.size))
  )

const completeWithRepair = (
  upload: Parts,
  receipts: Receipts
): Effect.Effect<{ readonly file: FileRecord; readonly receipts: Receipts }, UploadError, Requirements> =>
  Effect.catchAll(completed(upload, receipts), (error) =>
    isRefusedForDoubt(error, receipts)
      ? Effect.logInfo(
        printable(`Storage refused the parts of ${upload.source.name}: resending those in doubt`)
      ).pipe(
        Effect.zipRight(upload.run.monitor.enter("uploading")),
        Effect.zipRight(putDoubtfulAgain(upload, receipts, isDoubtfulAfter(error))),
        Effect.matchEffect({
          onSuccess: (repaired) => completed(upload, repaired),
          onFailure: (failure) =>
            Effect.mapBoth(fileIfThere(upload), {
              onFailure: () => failure,
              onSuccess: (file) => ({ file, receipts })
            })
        })
      )
      : Effect.fail(error))

/**
 * Sends the parts of a session and completes it. Returns the file, and the receipts that it was made from.
 *
 * @since 0.1.0
 * @category transfer
 */
export const run = (
  upload: SessionTransfer
): Effect.Effect<{ readonly file: FileRecord; readonly receipts: Receipts }, UploadError, Requirements> =>
  Effect.gen(function*() {
    const confirmed = upload.parts.filter((part) => upload.confirmed.has(part.partNumber))
    const { monitor } = upload.run
    yield* monitor.beginSession(upload.parts.length, confirmed.map((part) => part.range.length))
    yield* monitor.enter("uploading")
    yield* monitor.publish({
      _tag: "SessionOpened",
      session: (yield* monitor.progress.get).sessions,
      fileId: upload.session.fileId,
      parts: { total: upload.parts.length, confirmed: confirmed.length },
      deadline: upload.deadline
    })
    const parts: Parts = { ...upload, hasFailed: false }
    return yield* Effect.flatMap(putAll(parts), (receipts) => completeWithRepair(parts, receipts))
  })
