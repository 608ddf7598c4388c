/**
 * A session from its opening to the completed file, and from one session to the next.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { FileRecord } from "./FileRecord.js"
import type { ObjectStorage } from "./ObjectStorage.js"
import * as PartTransfer from "./PartTransfer.js"
import type { PresignedUrl } from "./PresignedUrl.js"
import { ServiceApi } from "./ServiceApi.js"
import type { ServiceError } from "./ServiceError.js"
import type { ServiceProfile } from "./ServiceProfile.js"
import type { TransferGate } from "./TransferGate.js"
import * as UploadCompletion from "./UploadCompletion.js"
import type { UploadError } from "./UploadError.js"
import type { UploadMonitor } from "./UploadMonitor.js"
import type { CheckedOptions } from "./UploadOptions.js"
import type { ByteRange, InvalidPartCount } from "./UploadPlan.js"
import * as UploadPlan from "./UploadPlan.js"
import type { PartReceipt, UploadSession } from "./UploadSession.js"
import type { OpenSource, UploadSource } from "./UploadSource.js"

/**
 * What an upload needs of its surroundings.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements = ServiceApi | ObjectStorage | TransferGate

/**
 * An upload that is about to run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Upload {
  readonly source: UploadSource
  readonly options: CheckedOptions
  readonly monitor: UploadMonitor
}

const openSession = ({ options, source }: Upload): Effect.Effect<UploadSession, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service): Effect.Effect<UploadSession, ServiceError> => {
    const file = { name: source.name, mediaType: source.mediaType, size: source.size }
    return options.plan._tag === "SinglePlan"
      ? service.initiateUpload(file)
      : service.initiateLargeUpload({ ...file, parts: options.plan.parts })
  })

// Sections that are held in memory bound how many of them are in flight; a file's are not.
const concurrency = ({ options, source }: Upload, longest: number): number =>
  source.held
    ? Math.max(1, Math.min(options.concurrency, Math.floor(options.maxBufferedBytes / longest)))
    : options.concurrency

interface Part {
  readonly partNumber: number
  readonly range: ByteRange
  readonly url: PresignedUrl
}

interface OpenUpload extends Upload {
  readonly session: UploadSession
  readonly parts: Arr.NonEmptyReadonlyArray<Part>
  readonly opened: OpenSource
}

const partsOf = (
  session: UploadSession,
  size: number,
  limits: ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<Part>, InvalidPartCount> =>
  session._tag === "SingleSession"
    ? Either.right([{ partNumber: 1, range: { offset: 0, length: size }, url: session.url }])
    : Either.map(UploadPlan.ranges(size, session.urls.length, limits), (ranges) =>
      Arr.map(Arr.zip(ranges, session.urls), ([range, url], index) => ({ partNumber: index + 1, range, url })))

const put = (upload: OpenUpload, part: Part): Effect.Effect<PartReceipt, UploadError, Requirements> =>
  Effect.flatMap(ServiceApi, ({ profile }) =>
    Effect.map(
      PartTransfer.run({
        source: upload.source,
        opened: upload.opened,
        range: part.range,
        url: part.url,
        kind: upload.session._tag === "SingleSession" ? "single" : "part",
        encryptionHeaders: profile.encryptionHeaders,
        clockOffset: upload.session.clockOffset,
        monitor: upload.monitor
      }),
      ({ attempts, etag }) => ({ partNumber: part.partNumber, etag, size: part.range.length, attempts })
    ))

type Receipts = Arr.NonEmptyReadonlyArray<PartReceipt>

const putAll = (upload: OpenUpload): Effect.Effect<Receipts, UploadError, Requirements> =>
  Effect.forEach(upload.parts, (part) => put(upload, part), {
    concurrency: concurrency(upload, Math.max(...upload.parts.map(({ range }) => range.length)))
  })

const isDoubtful = (receipt: PartReceipt): boolean => receipt.attempts > 1

// The service answers so when storage refused the etags. A late attempt may have replaced a part that had several.
const isRefusedFinalization = (error: UploadError): boolean =>
  (error._tag === "ServiceUnavailable" && error.status === 502) ||
  (error._tag === "RequestRejected" && error.issues.some((issue) => issue.code === "InvalidPart"))

const putDoubtfulAgain = (
  upload: OpenUpload,
  receipts: Receipts
): Effect.Effect<Receipts, UploadError, Requirements> =>
  Effect.forEach(
    Arr.zip(upload.parts, receipts),
    ([part, receipt]) =>
      isDoubtful(receipt)
        ? Effect.zipRight(upload.monitor.reopenPart(receipt.size), put(upload, part))
        : Effect.succeed(receipt),
    { concurrency: upload.options.concurrency }
  )

const complete = (
  upload: OpenUpload,
  receipts: Receipts
): Effect.Effect<FileRecord, UploadError, Requirements> =>
  upload.opened.unchanged.pipe(
    Effect.zipRight(upload.monitor.enter("completing")),
    Effect.zipRight(UploadCompletion.run({ session: upload.session, receipts, size: upload.source.size }))
  )

const completeWithRepair = (
  upload: OpenUpload,
  receipts: Receipts
): Effect.Effect<FileRecord, UploadError, Requirements> =>
  Effect.catchAll(complete(upload, receipts), (error) =>
    isRefusedFinalization(error) && receipts.some(isDoubtful)
      ? Effect.logInfo(`Storage refused the parts of ${upload.source.name}: those sent twice are sent again`).pipe(
        Effect.zipRight(upload.monitor.enter("uploading")),
        Effect.zipRight(putDoubtfulAgain(upload, receipts)),
        Effect.flatMap((repaired) => complete(upload, repaired))
      )
      : Effect.fail(error))

const runSession = (upload: Upload): Effect.Effect<FileRecord, UploadError, Requirements> =>
  Effect.gen(function*() {
    const { profile } = yield* ServiceApi
    yield* upload.monitor.enter("preparing")
    const opened = yield* upload.source.open
    yield* opened.unchanged
    const session = yield* openSession(upload)
    const parts = yield* partsOf(session, upload.source.size, profile.limits)
    const open: OpenUpload = { ...upload, session, parts, opened }
    yield* upload.monitor.beginSession(parts.length)
    yield* upload.monitor.enter("uploading")
    return yield* Effect.flatMap(putAll(open), (receipts) => completeWithRepair(open, receipts))
  }).pipe(Effect.scoped)

/**
 * Runs an upload through one session after another: when the URLs of one have ended, a new one is opened and
 * everything is sent again, as long as the source can be read again and sessions are left.
 *
 * @since 0.1.0
 * @category sessions
 */
export const run = (upload: Upload): Effect.Effect<FileRecord, UploadError, Requirements> => {
  const session = (number: number): Effect.Effect<FileRecord, UploadError, Requirements> =>
    Effect.catchAll(
      runSession(upload),
      (error) =>
        error.recovery === "newSession" && number < upload.options.maxSessions &&
          upload.source._tag === "RepeatableSource"
          ? Effect.zipRight(
            Effect.logInfo(`Session ${number} of ${upload.source.name} ended (${error._tag}): a new one starts over`),
            Effect.suspend(() => session(number + 1))
          )
          : Effect.fail(error)
    )
  return session(1)
}
