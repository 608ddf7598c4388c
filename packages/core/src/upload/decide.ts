/**
 * The life of an upload, one row a step: what follows from where it stands, and from how its step ended. Pure and
 * total. Nothing else decides what a failure leads to; `upload/run` performs what is decided, and `upload/meaning` says
 * what an error means.
 *
 * ```
 * Finding ─► Proving ─► Opening ─► Sending ─► Completing ─► Done
 *               └──────────────────►│  ▲          │ ▲
 *                                   │  └ repair ──┤ └─ Asking
 *                                   └ another session, or Failed
 * ```
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { changedError } from "../errors/errorWords.js"
import type { FileRecord } from "../FileRecord.js"
import * as RetryPolicy from "../RetryPolicy.js"
import { wasNotCarriedOut } from "../service/call.js"
import { isAllowed } from "../ServiceConfig.js"
import { UploadConflict } from "../ServiceError.js"
import { SourceChanged } from "../SourceError.js"
import type { UploadError } from "../UploadError.js"
import { CompletionUnknown, StoredSizeDiffers, UnfinishedUploadNotFound } from "../UploadError.js"
import type { Unfinished } from "../UploadLedger.js"
import { urlsOf } from "../UploadSession.js"
import { isDoubtful, mayBeComplete, meaningOf, namesInvalidPart, wasAnswered } from "./meaning.js"
import { provenBy } from "./proof.js"
import * as UploadResume from "./resume.js"
import { outcomeOf, rangesOf, usable } from "./session.js"
import type * as S from "./state.js"
import { asCall } from "./state.js"

/** How a step ended. */
type End<A, E = UploadError> = Either.Either<A, E>

export const initial: S.Finding = { _tag: "Finding", record: undefined, number: 1, lastChances: 0, notice: undefined }

// --- Finding

export const found = (terms: S.Terms, state: S.Finding, end: End<S.Found>): S.State => {
  if (Either.isLeft(end)) return failed(state, end.left)
  const { options: { unfinished: wanted }, service: { baseUrl, profile }, source } = terms
  const { left, now } = end.right
  // whoever's it is, it stays there until something else is decided
  const course = { ...state, record: left?.record }
  if (wanted !== undefined && left?.record.service !== baseUrl) {
    return failed(course, new UnfinishedUploadNotFound({ id: wanted }))
  }
  if (left === undefined) return openAnother(course)
  const { record } = left
  if (wanted !== undefined) {
    const changed = UploadResume.changeOf(record, source)
    if (changed !== undefined) return failed(course, changed)
  } else if (!UploadResume.isOf(record, source, baseUrl)) {
    return startOver(terms, course, "the file or its media type has changed")
  }
  if (record.phase === "uploading") return resumed(terms, course, left, now)
  const { clockOffset, fileId, numericIds, openedAt, parts: count, uploadId } = record.session
  const session = { fileId, uploadId, numericIds, clockOffset, openedAt, count, parts: [], inherited: true }
  return Either.match(rangesOf(record.session, source.size, profile.limits), {
    onLeft: () => startOver(terms, course, otherContent),
    onRight: (ranges) => ({ ...course, _tag: "Proving", session, left, ranges, spare: undefined })
  })
}

/** Whether the session of an earlier process can be used, by the clock of the server. */
const resumed = (terms: S.Terms, course: S.Course, left: Unfinished, now: number, spare?: S.Opened): S.State => {
  const { service: { allowInsecureHttp, profile }, source } = terms
  const { session } = left.record
  const clockOffset = spare?.session.clockOffset ?? session.clockOffset
  const valid = Option.filter(
    UploadResume.sessionOf({ ...left.record, session: { ...session, clockOffset } }, now, profile),
    (valid) => urlsOf(valid).every((url) => isAllowed(url, allowInsecureHttp))
  )
  if (Option.isNone(valid)) {
    // Our clock may have been set since. The response that opens the next session, needed anyway, has the time: if the
    // earlier session is valid by it, nobody uses the next one, and the service cleans that up.
    return spare === undefined && session.urls !== undefined
      ? openAnother(course, undefined, left)
      : startOver(terms, course, "the URLs were not kept, use http, or expire within a minute", spare)
  }
  return Either.match(usable(valid.value, source.size, profile.limits, true), {
    onLeft: () => startOver(terms, course, "the service no longer allows such parts", spare),
    onRight: (session) => ({
      ...plain(course),
      _tag: "Proving",
      session,
      left,
      ranges: Arr.map(session.parts, ({ range }) => range),
      spare
    })
  })
}

// --- Proving

const otherContent = "the content has changed or cannot be compared"

export const proved = (terms: S.Terms, state: S.Proving, end: End<S.Proof>): S.State => {
  if (Either.isLeft(end)) return failed(state, end.left)
  const { left: { receipts }, ranges, session, spare } = state
  const proof = end.right
  const isWanted = terms.options.unfinished !== undefined
  // A source that can be read only once proves nothing. Whoever asked for this very upload does not want another one.
  if (Either.isLeft(proof) && (isWanted || meaningOf(proof.left).opens !== "next")) return failed(state, proof.left)
  if (!Either.getOrElse(proof, () => false)) {
    return isWanted
      ? failed(state, new SourceChanged({ fileName: terms.source.name, what: "content" }))
      : startOver(terms, state, otherContent, spare)
  }
  const course = plain(state)
  if (session.parts.length > 0) {
    const notice: S.Notice = { _tag: "Resumes", confirmed: receipts.length, parts: ranges.length }
    return { ...course, _tag: "Sending", notice, session, receipts, refused: undefined }
  }
  // An earlier process may have sent Complete. This is resolved before anything is sent.
  const sent = { ...course, session, receipts, repaired: false }
  return receipts.length === session.count
    ? { ...sent, _tag: "Completing" }
    : { ...sent, _tag: "Asking", after: "Restart", because: undefined }
}

// --- Opening

export const opened = (terms: S.Terms, state: S.Opening, end: End<S.Opened>): S.State => {
  if (Either.isLeft(end)) return notOpened(terms, state, end.left)
  return state.left === undefined
    ? begin(terms, state, end.right)
    : resumed(terms, state, state.left, end.right.now, end.right)
}

// If a response is lost, nobody uses that session, so another one may be opened, but it counts. What was not carried out
// was repeated by the call itself, which has used up its attempts by then.
const notOpened = (terms: S.Terms, state: S.Opening, error: UploadError): S.State => {
  const { options: { maxSessions }, policy } = terms
  const number = state.number + (error._tag === "ServiceUnavailable" ? 0 : 1)
  const tries: S.Tries = {
    calls: state.tries.calls + 1,
    requests: state.tries.requests + error.attempts,
    once: state.tries.once + (error.recovery === "retryOnce" ? 1 : 0)
  }
  return !wasNotCarriedOut(error) && number <= maxSessions &&
      RetryPolicy.repeats(policy, asCall(error, tries), tries.once)
    ? { ...state, notice: undefined, number, tries, after: error }
    : nextSessionOrFailed(
      terms,
      state,
      tries.requests === error.attempts ? error : changedError(error, { attempts: tries.requests })
    )
}

// --- Sending

export const sent = (terms: S.Terms, state: S.Sending, end: End<S.Receipts>): S.State => {
  const { record, refused, session } = state
  const completing = (receipts: S.Receipts): S.Completing => ({
    ...plain(state),
    _tag: "Completing",
    record: record && { ...record, phase: "completing" },
    session,
    receipts,
    repaired: refused !== undefined
  })
  if (Either.isRight(end)) return completing(end.right)
  // nothing is missing but the etag
  if (meaningOf(end.left).session === "sent") return completing([])
  // Complete may have been received after all: parts cannot be sent again if the file is already there
  return refused === undefined ? ended(terms, state, session, end.left) : {
    ...plain(state),
    _tag: "Asking",
    session,
    receipts: refused,
    repaired: true,
    after: "Sending",
    because: end.left
  }
}

// --- Completing

export const completed = (terms: S.Terms, state: S.Completing, end: End<FileRecord>): S.State => {
  const { receipts, repaired, session } = state
  // A success that says it failed contradicts itself, so the file itself decides
  const contradiction = Either.isRight(end) && end.right.status === "failed"
  if (Either.isRight(end) && !contradiction) return unlessDifferent(terms, state, end.right)
  const operation = session.uploadId === undefined ? "completeUpload" : "completeLargeUpload"
  const error = Either.isLeft(end) ? end.left : new UploadConflict({ operation, status: 200, issues: [] })
  return contradiction || mayBeComplete(error, repaired || session.parts.length === 0)
    ? { ...plain(state), _tag: "Asking", session, receipts, repaired, after: "Completing", because: error }
    : notCompleted(terms, state, error)
}

// --- Asking

export const asked = (terms: S.Terms, state: S.Asking, end: End<S.FileLookup>): S.State => {
  const { after, because, session: { fileId } } = state
  const outcome = outcomeOf(terms.service.profile, end)
  // without the lost receipt, the others say nothing about the whole
  if (outcome._tag === "There") return stored(terms, because ? state : { ...state, receipts: [] }, outcome.file)
  if (because === undefined) {
    if (outcome._tag !== "Unknown") return startOver(terms, state, unfinishable)
    const unknown = new CompletionUnknown({ fileId, because: "ContentUnverified", attempts: 1 })
    return notCompleted(terms, state, outcome.error ?? unknown)
  }
  // That it is not there (yet) settles it only if the service has answered about Complete
  return outcome._tag === "Bad" || after === "Sending" || (outcome._tag === "Missing" && wasAnswered(because))
    ? notCompleted(terms, state, because)
    : failed(state, new CompletionUnknown({ fileId, because: because._tag, attempts: because.attempts }))
}

// --- What several rows share

const plain = ({ lastChances, number, record }: S.Course): S.Course => ({
  record,
  number,
  lastChances,
  notice: undefined
})

const failed = (course: S.Course, error: UploadError): S.State => ({ ...plain(course), _tag: "Failed", error })

const openAnother = (course: S.Course, notice?: S.Notice, left?: Unfinished): S.State => ({
  ...plain(course),
  _tag: "Opening",
  notice,
  tries: { calls: 0, requests: 0, once: 0 },
  after: undefined,
  left
})

const begin = (terms: S.Terms, course: S.Course, { record, session }: S.Opened, notice?: S.Notice): S.State =>
  Either.match(usable(session, terms.source.size, terms.service.profile.limits, false), {
    // A session that cannot take the file is not recorded: it would refuse the file until its URLs expire
    onLeft: (error) => failed({ ...course, record: undefined }, error),
    onRight: (session) => ({
      ...plain(course),
      _tag: "Sending",
      notice,
      record,
      session,
      receipts: [],
      refused: undefined
    })
  })

const startOver = (terms: S.Terms, course: S.Course, why: string, spare?: S.Opened): S.State => {
  const notice: S.Notice = { _tag: "StartsOver", why }
  return spare === undefined
    ? openAnother({ ...course, record: undefined }, notice)
    : begin(terms, course, spare, notice)
}

/** A failure that this session does not survive: the next may. */
const nextSessionOrFailed = (
  { options, source }: S.Terms,
  course: S.Course,
  error: UploadError,
  opens = meaningOf(error).opens
): S.State => {
  const { number } = course
  // A rotated key, bytes damaged on the way: if the next session ends like this too, so will any other
  const lastChances = course.lastChances +
    (error._tag === "ChecksumMismatch" || (error._tag === "UrlExpired" && error.reason === "UnknownKey") ? 1 : 0)
  return opens === "next" && number < options.maxSessions && lastChances < 2 &&
      source._tag === "RepeatableSource"
    ? openAnother(
      { ...course, number: number + 1, lastChances },
      { _tag: "SessionEnded", number, error }
    )
    : failed(course, error)
}

// A session that no retry helps is dead and does not keep its URLs. After any other failure, running the upload again
// continues from there.
const ended = (terms: S.Terms, course: S.Course, { inherited }: S.Session, error: UploadError): S.State => {
  const { opens, session } = meaningOf(error)
  const isKept = session === "kept" || (session === "unlessEarlier" && !inherited)
  const after = isKept ? course : { ...course, record: undefined }
  if (inherited && opens === "instead") return openAnother(after, { _tag: "EarlierSessionGone", error })
  // Whoever asked for this very upload, of a source that can be read only once, does not want another one
  return inherited && isKept && terms.options.unfinished !== undefined
    ? failed(after, error)
    : nextSessionOrFailed(terms, after, error)
}

const unfinishable = "the service cannot complete it"

/** Complete has not taken effect. */
const notCompleted = (terms: S.Terms, state: S.Completing | S.Asking, error: UploadError): S.State => {
  const { receipts, repaired, session } = state
  const trusted = receipts.filter((receipt) => !isDoubtful(error, receipt))
  const isInDoubt = trusted.length < receipts.length
  if (session.parts.length === 0) {
    // Whoever sent a part twice, such as a proxy, need not be this client: etags that storage rejects stay rejected
    return meaningOf(error).session === "kept" && !isInDoubt && !namesInvalidPart(error)
      ? failed(state, error)
      : startOver(terms, state, unfinishable)
  }
  // A service may want the etag of what storage has; that of a new session is known
  if (session.uploadId === undefined && receipts.length === 0 && meaningOf(error).session === "forgotten") {
    return nextSessionOrFailed(terms, { ...state, record: undefined }, error, "next")
  }
  return isInDoubt && !repaired
    ? {
      ...plain(state),
      _tag: "Sending",
      notice: { _tag: "PartsRefused" },
      session,
      receipts: trusted,
      refused: receipts
    }
    : ended(terms, state, session, error)
}

/** The service has the file, and its bytes are those that were sent as far as it says. */
const unlessDifferent = (terms: S.Terms, state: S.Completing | S.Asking, file: FileRecord): S.State => {
  const { receipts } = state
  const { mismatch: error } = provenBy(terms.algorithm, receipts, file)
  return error === undefined
    ? { ...plain(state), _tag: "Done", record: undefined, file, receipts }
    : nextSessionOrFailed(terms, { ...state, record: undefined }, error, "next")
}

/**
 * The service has a file that it was asked for, because Complete did not say: it is the source's if its record does not
 * say another size. Where Complete has succeeded, nothing that it says of the file decides.
 */
const stored = (terms: S.Terms, state: S.Asking, file: FileRecord): S.State => {
  const { source: { size } } = terms
  return file.size == null || file.size === size
    ? unlessDifferent(terms, state, file)
    : notCompleted(terms, state, new StoredSizeDiffers({ fileId: file.id, expected: size, actual: file.size }))
}
