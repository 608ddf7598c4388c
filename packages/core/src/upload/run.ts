/**
 * The only loop of an upload: it performs the step that `upload/decide` has decided on, and carries out what follows from
 * its end. The only place that catches what a step fails with. The ledger holds what was decided before the next step.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { inOwnFiber, lazily } from "../base/fibers.js"
import { printable } from "../base/text.js"
import { ConnectionFailed } from "../ConnectionError.js"
import { tellRepeat } from "../errors/errorWords.js"
import type { FileRecord } from "../FileRecord.js"
import type { ObjectStorage } from "../ObjectStorage.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type { ServiceApi } from "../ServiceApi.js"
import { TransferGate } from "../TransferGate.js"
import type { UploadedFile } from "../UploadedFile.js"
import type { UploadError } from "../UploadError.js"
import { DeadlineUnreachable, UploadLocked } from "../UploadError.js"
import * as UploadPlan from "../UploadPlan.js"
import type { PartReceipt } from "../UploadSession.js"
import * as Decide from "./decide.js"
import * as PartTransfer from "./part.js"
import { provenBy } from "./proof.js"
import * as UploadResume from "./resume.js"
import type { Running, Upload } from "./running.js"
import { closed, given, ifHeld, make, openedSource, record } from "./running.js"
import { deadlineOf, isFinal } from "./session.js"
import type * as S from "./state.js"
import { asCall } from "./state.js"

/** The services that an upload needs. */
export type Requirements = ServiceApi | ObjectStorage | TransferGate

/** An uploaded file, and what is known of its content. */
export interface Uploaded extends Pick<UploadedFile["sent"], "checksum" | "proof"> {
  readonly file: FileRecord
}

type Step<A> = Effect.Effect<A, UploadError, Requirements>

// --- The steps

const find = (upload: Running, id: string): Step<S.Found> =>
  Effect.gen(function*() {
    const { ledger, scope, source } = upload
    const found = yield* given(
      ledger,
      (service) =>
        Effect.flatMap(
          Scope.extend(service.lock(id), scope),
          (locked) => locked ? Effect.asSome(service.find(id)) : Effect.succeedNone
        ),
      Option.some(Option.none())
    )
    if (Option.isNone(found)) return yield* new UploadLocked({ fileName: source.name })
    const left = found.value
    ledger.record = Option.getOrUndefined(Option.map(left, ({ record }) => record))
    upload.metadata ??= ledger.record?.metadata
    return { left: Option.getOrUndefined(left), now: yield* Clock.currentTimeMillis }
  })

const prove = (upload: Running, { left, ranges, session }: S.Proving): Step<S.Proof> =>
  Effect.zipRight(
    session.parts.length > 0 ? upload.run.monitor.enter("preparing") : Effect.void,
    Effect.flatMap(
      openedSource(upload),
      (source) => Effect.either(UploadResume.isSame(source, left, ranges, upload.options.verify))
    )
  )

// If the network was measured, it determines the parts. Otherwise there are enough for a network with high latency, and
// for a large file the service chooses. What is held in memory is no larger than the service wants it.
const partsToAskFor = ({ service, source }: Running, wished: Option.Option<number>) =>
  Option.isSome(wished) || source.held ? Effect.succeed(wished) : Effect.gen(function*() {
    const { limits, urlLifetimeSeconds } = service.profile
    const { throughput, width } = yield* (yield* TransferGate).state
    return Option.map(
      throughput,
      (throughput) => UploadPlan.partsFor(source.size, limits, { throughput, width, urlLifetimeSeconds })
    ).pipe(Option.orElse(() => UploadPlan.partsUnmeasured(source.size, limits)))
  })

const open = (upload: Running, { after, tries }: S.Opening): Step<S.Opened> =>
  Effect.gen(function*() {
    const { id, metadata, options: { plan }, run: { monitor }, service, source, terms: { policy } } = upload
    const { mediaType, name, size } = source
    yield* monitor.enter("preparing")
    yield* openedSource(upload)
    if (after !== undefined) {
      yield* RetryPolicy.pause(policy, asCall(after, tries), (_, wait) =>
        tellRepeat(`to open a session for ${name}`, after, wait, tries.calls))
    }
    const file = { name, mediaType, size, ...(metadata && { metadata }) }
    const session = plan._tag === "SinglePlan"
      ? yield* ifHeld(upload, service.initiateUpload(file))
      : yield* ifHeld(
        upload,
        service.initiateLargeUpload({ ...file, parts: yield* partsToAskFor(upload, plan.parts) })
      )
    return {
      session,
      record: Option.isNone(id) ? undefined : yield* UploadResume.recordOf(source, id.value, session, metadata),
      now: yield* Clock.currentTimeMillis
    }
  })

const refuseUnreachable = (
  { options, run: { monitor, serverClock }, source: { name, size } }: Upload,
  { openedAt }: S.Session,
  deadline: Date
): Effect.Effect<void, DeadlineUnreachable> =>
  Effect.suspend(() =>
    Effect.flatMap(
      monitor.assess({
        secondsLeft: (deadline.getTime() - serverClock.now()) / 1000,
        sessionSeconds: (deadline.getTime() - openedAt) / 1000
      }),
      (feasibility) => {
        if (feasibility._tag !== "Impossible" || options.onImpossible !== "fail") return Effect.void
        const { has, needs } = feasibility
        const limit = monitor.mostAllowed()
        return new DeadlineUnreachable({ fileName: name, size, needs, has, limit, deadline })
      }
    )
  )

const beginSending = (
  { run: { monitor, serverClock } }: Running,
  { receipts, refused, session: { clockOffset, fileId, parts } }: S.Sending,
  deadline: Date
): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (refused !== undefined) {
      yield* monitor.enter("uploading")
      for (const { partNumber, size } of refused) {
        if (receipts.every((receipt) => receipt.partNumber !== partNumber)) yield* monitor.reopenPart(size)
      }
      return
    }
    serverClock.opened(clockOffset)
    const sizes = receipts.map(({ size }) => size)
    yield* monitor.beginSession(parts.length, sizes)
    yield* monitor.enter("uploading")
    const { sessions } = yield* monitor.progress.get
    const counts = { total: parts.length, confirmed: sizes.length }
    yield* monitor.publish({ _tag: "SessionOpened", session: sessions, fileId, parts: counts, deadline })
  })

const send = (upload: Running, state: S.Sending): Step<S.Receipts> =>
  Effect.gen(function*() {
    const { ledger, options, run, service: { profile }, source } = upload
    const { receipts, record, session } = state
    const deadline = deadlineOf(session.parts)
    yield* beginSending(upload, state, deadline)
    const content = yield* openedSource(upload)
    // The memory that a failing part releases goes at once to a waiting part, which is itself about to be interrupted
    let hasFailed = false
    const unlessOver = Effect.suspend(() => hasFailed ? Effect.never : Effect.void)
    const put = ({ partNumber, range, url }: S.Part): Step<PartReceipt> =>
      PartTransfer.run({
        run,
        source,
        opened: { ...content, section: (range) => Effect.zipRight(unlessOver, content.section(range)) },
        partNumber,
        range,
        url,
        kind: session.uploadId === undefined ? "single" : "part",
        encryptionHeaders: profile.encryptionHeaders,
        look: ifHeld(upload, refuseUnreachable(upload, session, deadline))
      }).pipe(
        Effect.tapError((error) => Effect.sync(() => upload.failure ??= error)),
        Effect.tapErrorCause(() => Effect.sync(() => hasFailed = true)),
        Effect.map(({ attempts, checksum, etag, perhapsRepeated, proven }): PartReceipt => ({
          partNumber,
          etag,
          size: range.length,
          attempts: session.inherited ? attempts + 1 : attempts,
          perhapsRepeated,
          checksum,
          proven
        })),
        Effect.tap((receipt) =>
          record === undefined ? Effect.void : given(ledger, (service) => service.receive(record, receipt), undefined)
        )
      )
    const has = new Map(receipts.map((receipt) => [receipt.partNumber, receipt]))
    const isAlone = session.parts.length === 1
    const { first } = yield* TransferGate
    const begun = isAlone ? undefined : first?.(run.monitor.progress.get)
    const all = Effect.forEach(session.parts, (part) => {
      const receipt = has.get(part.partNumber)
      return receipt === undefined
        ? Effect.zipRight(begun?.(part.range.length) ?? Effect.void, put(part))
        : Effect.succeed(receipt)
    }, { concurrency: Math.min(options.concurrency, session.parts.length) })
    // What runs alone needs no fibers: with them, a small file would take a twentieth longer
    return yield* isAlone ? all : inOwnFiber(all)
  })

const beginCompleting = ({ run: { monitor } }: Running, { receipts, session }: S.Completing | S.Asking) =>
  Effect.zipRight(
    session.parts.length === 0
      ? monitor.beginSession(session.count, receipts.map(({ size }) => size))
      : Effect.void,
    monitor.enter("completing")
  )

const complete = (upload: Running, state: S.Completing): Step<FileRecord> =>
  Effect.gen(function*() {
    const { ledger, run, service } = upload
    const { receipts, record, session: { fileId, numericIds, uploadId } } = state
    const { mediaType, name, size } = upload.source
    yield* run.transferSwitch.on
    yield* (yield* openedSource(upload)).unchanged
    // Whoever watches the ledger knows of Complete before it is sent
    if (record !== undefined && ledger.record?.phase !== "completing") {
      ledger.record = record
      yield* given(ledger, (service) => service.completing(record), undefined)
    }
    yield* beginCompleting(upload, state)
    return yield* ifHeld(
      upload,
      uploadId === undefined
        ? service.completeUpload({
          fileId,
          numericIds,
          name,
          mediaType,
          etag: receipts[0]?.etag,
          size
        })
        : service.completeLargeUpload({ fileId, uploadId, numericIds, parts: receipts })
    )
  })

/** Only an answer that was lost needs it. */
export const firstByte = lazily(() => import("../download/firstByte.js"), () => undefined)

/** Whether the content is there cannot be known without what reads it: then it is as if storage were out of reach. */
const readFirstByte = ({ service: { baseUrl } }: Running, fileId: string) =>
  Effect.matchEffect(firstByte, {
    onFailure: () =>
      Effect.fail(
        new ConnectionFailed({ peer: "service", origin: new URL(baseUrl).origin, arrived: "no", attempts: 0 })
      ),
    onSuccess: ({ readFirstByte }) => readFirstByte(fileId)
  })

const ask = (upload: Running, state: S.Asking): Step<S.FileLookup> =>
  Effect.gen(function*() {
    const { service } = upload
    const { fileId } = state.session
    if (state.after === "Restart") yield* beginCompleting(upload, state)
    const file = yield* service.file(fileId)
    const isDecided = file.status === "failed" || isFinal(service.profile, file)
    return { file, content: isDecided ? undefined : yield* Effect.either(readFirstByte(upload, fileId)) }
  })

// --- The loop

const tell = (upload: Running, notice: S.Notice): Effect.Effect<void> => {
  const { run: { monitor }, source } = upload
  const name = printable(source.name)
  const newOne = (what: string, { _tag }: UploadError) =>
    Effect.logInfo(`${what} (${_tag}): a new one starts over`).pipe(
      Effect.zipRight(monitor.endSession(_tag)),
      Effect.zipRight(closed(upload))
    )
  switch (notice._tag) {
    case "Resumes":
      return Effect.logInfo(`Resuming ${name}: storage has ${notice.confirmed} of ${notice.parts} parts`)
    case "StartsOver":
      return Effect.logWarning(`${name} cannot be resumed and starts over: ${notice.why}`)
    case "PartsRefused":
      return Effect.logInfo(`Storage refused the parts of ${name}: resending those in doubt`)
    case "EarlierSessionGone":
      return newOne(`The earlier session of ${name} is gone`, notice.error)
    case "SessionEnded":
      return newOne(`Session ${notice.number} of ${name} ended`, notice.error)
  }
}

/**
 * Performs a step and carries out what is decided of its end. An interruption does not come between a failure and the
 * ledger: what cannot be used any more would otherwise be used again by the next run.
 */
const follow = <A>(
  upload: Running,
  step: Step<A>,
  decide: (terms: S.Terms, end: Either.Either<A, UploadError>) => S.State
): Effect.Effect<S.State, never, Requirements> =>
  Effect.uninterruptibleMask((restore) => {
    const carryOut = (end: Either.Either<A, UploadError>) => {
      const decided = decide(upload.terms, end)
      return Effect.zipRight(
        decided.notice === undefined ? Effect.void : tell(upload, decided.notice),
        Effect.as(record(upload, decided.record), decided)
      )
    }
    upload.failure = undefined
    return Effect.matchCauseEffect(restore(step), {
      onSuccess: (value) => carryOut(Either.right(value)),
      onFailure: (cause) =>
        Either.match(Cause.failureOrCause(cause), {
          onLeft: (error) => carryOut(Either.left(error)),
          onRight: (cause) =>
            Effect.zipRight(
              upload.failure !== undefined && Cause.isInterruptedOnly(cause)
                ? record(upload, decide(upload.terms, Either.left(upload.failure)).record)
                : Effect.void,
              Effect.failCause(cause)
            )
        })
    })
  })

/** Performs the step of a state, and returns the state that follows. */
export const next = (
  upload: Running,
  state: Exclude<S.State, S.Done | S.Failed>
): Effect.Effect<S.State, never, Requirements> => {
  switch (state._tag) {
    case "Finding":
      return Option.isNone(upload.id)
        ? Effect.succeed(Decide.found(upload.terms, state, Either.right({ left: undefined, now: 0 })))
        : follow(upload, find(upload, upload.id.value), (terms, end) => Decide.found(terms, state, end))
    case "Proving":
      return follow(upload, prove(upload, state), (terms, end) => Decide.proved(terms, state, end))
    case "Opening":
      return follow(upload, open(upload, state), (terms, end) => Decide.opened(terms, state, end))
    case "Sending":
      return follow(upload, send(upload, state), (terms, end) => Decide.sent(terms, state, end))
    case "Completing":
      return follow(upload, complete(upload, state), (terms, end) => Decide.completed(terms, state, end))
    case "Asking":
      return follow(upload, ask(upload, state), (terms, end) => Decide.asked(terms, state, end))
  }
}

/** Goes on from a state to the end. */
export const goOn = (upload: Running, state: S.State): Effect.Effect<S.Done, UploadError, Requirements> =>
  state._tag === "Done"
    ? Effect.succeed(state)
    : state._tag === "Failed"
    ? Effect.fail(state.error)
    : Effect.flatMap(next(upload, state), (state) => goOn(upload, state))

/**
 * Runs an upload: from where an earlier process left it, if the ledger has it and the source is proven to be the same;
 * otherwise from the start.
 */
export const run = (upload: Upload): Effect.Effect<Uploaded, UploadError, Requirements> =>
  Effect.scopedWith((scope) =>
    Effect.gen(function*() {
      const running = yield* make(upload, scope)
      const { file, receipts } = yield* goOn(running, Decide.initial)
      const { checksum, proof } = provenBy(running.terms.algorithm, receipts, file)
      return { file, checksum, proof }
    })
  )
