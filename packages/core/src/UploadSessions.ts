/**
 * An upload from the start, or from where an earlier process left it, through one session after another.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Checksum from "./Checksum.js"
import type { FileRecord } from "./FileRecord.js"
import { isThere } from "./FileRecord.js"
import { namesInvalidPart } from "./internal/invalidPart.js"
import { type Opening, openingOf } from "./internal/openSession.js"
import { endsEarlierSession, isOtherKey, isPassing, isReadOnce } from "./internal/passing.js"
import { printable } from "./internal/printable.js"
import type { Book } from "./internal/uploadBook.js"
import { journalOf, noJournal } from "./internal/uploadBook.js"
import type { InvalidPartCount } from "./PlanError.js"
import { ServiceApi } from "./ServiceApi.js"
import { isAllowed } from "./ServiceConfig.js"
import type { ServiceError } from "./ServiceError.js"
import type { Requirements } from "./SessionTransfer.js"
import * as SessionTransfer from "./SessionTransfer.js"
import type { SourceError } from "./SourceError.js"
import { SourceChanged } from "./SourceError.js"
import type * as TransferGate from "./TransferGate.js"
import * as UploadCompletion from "./UploadCompletion.js"
import type { UploadError } from "./UploadError.js"
import { UnfinishedUploadNotFound, UploadLocked } from "./UploadError.js"
import type { Unfinished } from "./UploadLedger.js"
import * as UploadLedger from "./UploadLedger.js"
import type { CheckedOptions } from "./UploadOptions.js"
import type { ByteRange } from "./UploadPlan.js"
import type { UploadRecord } from "./UploadRecord.js"
import * as UploadResume from "./UploadResume.js"
import type { UploadState } from "./UploadRun.js"
import type { PartReceipt, UploadSession } from "./UploadSession.js"
import { urlsOf } from "./UploadSession.js"
import type { OpenSource, UploadSource } from "./UploadSource.js"

/**
 * An upload that is about to run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Upload {
  readonly source: UploadSource
  readonly options: CheckedOptions
  readonly run: UploadState
}

/**
 * An uploaded file, with the checksum of what was sent; none if the algorithm cannot combine the checksums of the
 * parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Uploaded {
  readonly file: FileRecord
  readonly checksum: Option.Option<Checksum.Checksum>
}

interface Beginning {
  readonly session: UploadSession
  readonly parts: Arr.NonEmptyReadonlyArray<SessionTransfer.Part>
  readonly confirmed: ReadonlyMap<number, PartReceipt>
  readonly goesOn: boolean
  readonly record: Option.Option<UploadRecord>
}

const begin = (
  upload: Upload,
  book: Book,
  opening: Opening
): Effect.Effect<Beginning, ServiceError | InvalidPartCount, ServiceApi | TransferGate.TransferGate> =>
  Effect.gen(function*() {
    const { profile } = yield* ServiceApi
    const session = yield* opening
    // A session that cannot take the file is not recorded: it would refuse the file until its URLs expire
    const parts = yield* SessionTransfer.partsOf(session, upload.source.size, profile.limits)
    const record = Option.isNone(book.id)
      ? Option.none()
      : Option.some(yield* UploadResume.recordOf(upload.source, book.id.value, session))
    if (Option.isSome(record)) yield* book.ledger.begin(record.value)
    return { session, parts, confirmed: new Map(), goesOn: false, record }
  })

const uploaded = (file: FileRecord, receipts: ReadonlyArray<PartReceipt>): Effect.Effect<Uploaded> =>
  Effect.map(Checksum.Algorithm, (algorithm) => ({ file, checksum: Checksum.combineAll(algorithm, receipts) }))

// A source that can be read only once proves nothing, unless the caller asked to continue this very upload.
const hasSameContent = (
  { options, source }: Upload,
  opened: OpenSource,
  unfinished: Unfinished,
  ranges: ReadonlyArray<ByteRange>
): Effect.Effect<boolean, SourceError> => {
  const mustBeSame = options.unfinished !== undefined
  return Effect.matchEffect(UploadResume.isSame(opened, unfinished, ranges, options.verify), {
    onFailure: (error) => isReadOnce(error) && !mustBeSame ? Effect.succeed(false) : Effect.fail(error),
    onSuccess: (isSame) =>
      mustBeSame && !isSame
        ? Effect.fail(new SourceChanged({ fileName: source.name, what: "content" }))
        : Effect.succeed(isSame)
  })
}

const otherContent = "the content has changed or cannot be compared"

const nameOf = ({ source }: Upload): string => printable(source.name)

const tellSentAnew = (upload: Upload, why: string): Effect.Effect<void> =>
  Effect.logWarning(`${nameOf(upload)} cannot be resumed and starts over: ${why}`)

const resume = (
  upload: Upload,
  book: Book,
  opened: OpenSource,
  unfinished: Unfinished,
  opening: Opening
): Effect.Effect<Option.Option<Beginning>, UploadError, ServiceApi | TransferGate.TransferGate> =>
  Effect.gen(function*() {
    const { allowInsecureHttp, profile } = yield* ServiceApi
    const { record } = unfinished
    const lively = (clockOffset: number) =>
      Effect.map(
        UploadResume.lively({ ...record, session: { ...record.session, clockOffset } }, profile),
        Option.filter((session) => urlsOf(session).every((url) => isAllowed(url, allowInsecureHttp)))
      )
    let session = yield* lively(record.session.clockOffset)
    // Our clock may have been set since. The response that opens the next session, needed anyway, has the time: if the
    // earlier session is alive by it, nobody uses the next one, and the service cleans that up.
    if (Option.isNone(session) && record.session.urls) session = yield* lively((yield* opening).clockOffset)
    const parts = Option.flatMap(
      session,
      (session) => Option.getRight(SessionTransfer.partsOf(session, upload.source.size, profile.limits))
    )
    if (Option.isSome(session) && Option.isSome(parts)) {
      const ranges = Arr.map(parts.value, ({ range }) => range)
      if (yield* hasSameContent(upload, opened, unfinished, ranges)) {
        const confirmed = new Map(unfinished.receipts.map((receipt) => [receipt.partNumber, receipt]))
        yield* Effect.logInfo(`Resuming ${nameOf(upload)}: storage has ${confirmed.size} of ${ranges.length} parts`)
        return Option.some({
          session: session.value,
          parts: parts.value,
          confirmed,
          goesOn: true,
          record: Option.some(record)
        })
      }
    }
    yield* tellSentAnew(
      upload,
      Option.isNone(session)
        ? "the URLs were not kept, use http, or expire within a minute"
        : Option.isNone(parts)
        ? "the service no longer allows such parts"
        : otherContent
    )
    yield* book.ledger.forget(record)
    return Option.none()
  })

// A faster connection may still finish in time what this run began. A session left by another run may simply be too
// old.
const isTooSlow = (error: UploadError, { goesOn }: Beginning): boolean =>
  error._tag === "DeadlineUnreachable" && !goesOn

const tellEnded = ({ run: { monitor } }: Upload, what: string, { _tag }: UploadError): Effect.Effect<void> =>
  Effect.zipRight(Effect.logInfo(`${what} (${_tag}): a new one starts over`), monitor.endSession(_tag))

// A session that ended well is done, and one that no retry helps is dead: neither keeps its URLs. After any other
// failure, running the upload again continues from there.
const runSession = (
  upload: Upload,
  book: Book,
  earlier: Option.Option<Unfinished>
): Effect.Effect<Uploaded, UploadError, Requirements> =>
  Effect.gen(function*() {
    yield* upload.run.monitor.enter("preparing")
    const opened = yield* upload.source.open
    const opening = openingOf(upload)
    const resumed = Option.isNone(earlier) ? Option.none() : yield* resume(upload, book, opened, earlier.value, opening)
    const beginning = Option.isSome(resumed) ? resumed.value : yield* begin(upload, book, opening)
    upload.run.serverClock.opened(beginning.session.clockOffset)
    const deadline = SessionTransfer.deadlineOf(beginning.parts)
    const { forget, ...journal } = Option.match(beginning.record, {
      onNone: () => noJournal,
      onSome: (record) => journalOf(book.ledger, record)
    })
    return yield* SessionTransfer.run({ ...upload, ...beginning, deadline, opened, journal }).pipe(
      Effect.tapError((error) => isPassing(error) || isTooSlow(error, beginning) ? Effect.void : forget),
      Effect.tap(() => forget),
      Effect.flatMap(({ file, receipts }) => uploaded(file, receipts)),
      Effect.catchAll((error) =>
        beginning.goesOn && endsEarlierSession(error)
          ? Effect.zipRight(
            tellEnded(upload, `The earlier session of ${nameOf(upload)} is gone`, error),
            runSession(upload, book, Option.none())
          )
          : Effect.fail(error)
      )
    )
  }).pipe(Effect.scoped)

const sessions = (
  upload: Upload,
  book: Book,
  earlier: Option.Option<Unfinished>
): Effect.Effect<Uploaded, UploadError, Requirements> => {
  const session = (
    number: number,
    earlier: Option.Option<Unfinished>,
    unknownKeys: number
  ): Effect.Effect<Uploaded, UploadError, Requirements> =>
    Effect.catchAll(
      runSession(upload, book, earlier),
      (error) => {
        const keys = unknownKeys + (isOtherKey(error) ? 1 : 0)
        // a stream that was already consumed can be opened again in a new session
        const isHelped = error.recovery === "newSession" || isReadOnce(error)
        return isHelped && number < upload.options.maxSessions && keys < 2 && upload.source._tag === "RepeatableSource"
          ? Effect.zipRight(
            tellEnded(upload, `Session ${number} of ${nameOf(upload)} ended`, error),
            session(number + 1, Option.none(), keys)
          )
          : Effect.fail(error)
      }
    )
  return session(1, earlier, 0)
}

const completionOf = (
  { receipts, record: { session } }: Unfinished,
  size: number
): Effect.Effect<FileRecord, UploadError, ServiceApi> =>
  receipts.length === session.parts
    ? UploadCompletion.run({
      target: { fileId: session.fileId, uploadId: session.uploadId },
      receipts,
      size,
      goesOn: true
    })
    : Effect.flatMap(ServiceApi, (service) => service.file(session.fileId))

// An earlier process had all parts in storage and may have sent Complete. This is resolved before anything is sent,
// unless the source's content has changed.
const completeEarlier = (
  upload: Upload,
  book: Book,
  unfinished: Unfinished
): Effect.Effect<Option.Option<Uploaded>, UploadError, ServiceApi> => {
  const { receipts, record } = unfinished
  const { run: { monitor }, source } = upload
  // Whoever sent a part twice, such as a proxy, need not be this client: etags that storage rejects stay rejected
  const mayStillEndWell = (error: UploadError) =>
    isPassing(error) && !SessionTransfer.isRefusedForDoubt(error, receipts) && !namesInvalidPart(error)
  const completed = monitor.beginSession(record.session.parts, receipts.map((receipt) => receipt.size)).pipe(
    Effect.zipRight(monitor.enter("completing")),
    Effect.zipRight(completionOf(unfinished, source.size)),
    Effect.matchEffect({
      onFailure: (error) => mayStillEndWell(error) ? Effect.fail(error) : Effect.succeedNone,
      onSuccess: (file) =>
        isThere(file, source.size)
          ? Effect.asSome(uploaded(file, receipts.length === record.session.parts ? receipts : []))
          : Effect.succeedNone
    })
  )
  return Effect.gen(function*() {
    const { profile } = yield* ServiceApi
    const opened = yield* source.open
    const ranges = Option.getRight(SessionTransfer.rangesOf(record.session, source.size, profile.limits))
    const isSame = Option.isSome(ranges) && (yield* hasSameContent(upload, opened, unfinished, ranges.value))
    const file = isSame ? yield* completed : Option.none()
    if (Option.isNone(file)) yield* tellSentAnew(upload, isSame ? "the service cannot complete it" : otherContent)
    yield* book.ledger.forget(record)
    return file
  }).pipe(Effect.scoped)
}

const runFrom = (
  upload: Upload,
  book: Book,
  unfinished: Unfinished
): Effect.Effect<Uploaded, UploadError, Requirements> =>
  Effect.gen(function*() {
    const { baseUrl } = yield* ServiceApi
    if (upload.options.unfinished !== undefined) {
      yield* UploadResume.checkSame(unfinished.record, upload.source)
    } else if (!UploadResume.isOf(unfinished.record, upload.source, baseUrl)) {
      yield* tellSentAnew(upload, "the file or its media type has changed")
      yield* book.ledger.forget(unfinished.record)
      return yield* sessions(upload, book, Option.none())
    }
    if (unfinished.record.phase === "uploading") return yield* sessions(upload, book, Option.some(unfinished))
    const completed = yield* completeEarlier(upload, book, unfinished)
    return Option.isSome(completed) ? completed.value : yield* sessions(upload, book, Option.none())
  })

/**
 * Runs an upload: from where an earlier process left it, if the ledger has it and the source is proven to be the same;
 * otherwise from the start. When the URLs of a session have expired, a new session is opened and everything is sent
 * again, as long as the source can be read again and sessions are left.
 *
 * @since 0.1.0
 * @category sessions
 */
export const run = (upload: Upload): Effect.Effect<Uploaded, UploadError, Requirements> =>
  Effect.gen(function*() {
    const { baseUrl } = yield* ServiceApi
    const ledger = yield* UploadLedger.UploadLedger
    const { resume, unfinished: wanted } = upload.options
    const id = wanted !== undefined
      ? Option.some(wanted)
      : resume
      ? UploadLedger.idOf(baseUrl, upload.source)
      : Option.none()
    if (Option.isNone(id)) return yield* sessions(upload, { id, ledger }, Option.none())
    if (!(yield* ledger.lock(id.value))) return yield* new UploadLocked({ fileName: upload.source.name })
    const found = yield* ledger.find(id.value)
    if (wanted !== undefined && !Option.exists(found, ({ record }) => record.service === baseUrl)) {
      return yield* new UnfinishedUploadNotFound({ id: wanted })
    }
    return yield* Option.match(found, {
      onNone: () => sessions(upload, { id, ledger }, Option.none()),
      onSome: (unfinished) => runFrom(upload, { id, ledger }, unfinished)
    })
  }).pipe(Effect.scoped)
