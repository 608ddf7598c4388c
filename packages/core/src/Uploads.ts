/** Uploads files. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid, dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Subscribable from "effect/Subscribable"
import { inOwnFiber, lazily } from "./base/fibers.js"
import { atLeastOne } from "./base/number.js"
import { contextOf } from "./base/services.js"
import * as Metrics from "./Metrics.js"
import type { ObjectStorage } from "./ObjectStorage.js"
import { ServiceApi } from "./ServiceApi.js"
import type { TransferGate } from "./TransferGate.js"
import * as UploadRun from "./upload/control.js"
import * as Counts from "./upload/counts.js"
import { mapUnordered } from "./upload/mapUnordered.js"
import * as Run from "./upload/run.js"
import * as State from "./upload/runState.js"
import type { UploadState } from "./upload/runState.js"
import * as File from "./UploadedFile.js"
import type { UploadedFile } from "./UploadedFile.js"
import type { ContentDiffers, UploadError } from "./UploadError.js"
import { ContentUnverified } from "./UploadError.js"
import type { UploadEvent } from "./UploadEvent.js"
import * as Options from "./UploadOptions.js"
import type { UploadOptions } from "./UploadOptions.js"
import type { UploadProgress } from "./UploadProgress.js"
import type { UploadSource } from "./UploadSource.js"

// A hover shows what has a name of this module as `Uploads.Requirements`, and what has none as one word
type Requirements = ServiceApi | ObjectStorage | TransferGate

type Required = Requirements

type Uploaded = UploadedFile

const Uploaded = File.UploadedFile

export type {
  /**
   * The services that the programs of this module require. A ready-made layer such as `NodeStevedore.layer` provides
   * all of them.
   *
   * @category models
   */
  Required as Requirements
}

export {
  /**
   * The result of an upload, and its Schema.
   *
   * @category models
   */
  Uploaded as UploadedFile
}

/**
 * A running upload.
 *
 * @category models
 */
export interface UploadHandle {
  /**
   * The current progress. `changes` starts with the present state, emits at most ten times per second, and ends with
   * the upload.
   */
  readonly progress: Subscribable.Subscribable<UploadProgress>
  /** The events of the upload, one at a time. Ends with the upload, and dies with it if it dies of a defect. */
  readonly events: Stream.Stream<UploadEvent>
  /** Stops every transfer at once, and keeps what storage already has. A completion that is under way continues. */
  readonly pause: Effect.Effect<void>
  /**
   * Continues a paused upload. What was in flight when it was paused is sent again, and no attempt is counted for it.
   */
  readonly resume: Effect.Effect<void>
  /**
   * Pauses the upload for as long as the scope is open. Neither `resume` nor another scope that closes ends this pause,
   * and its own end does not resume what `pause` has paused.
   */
  readonly pauseScoped: Effect.Effect<void, never, Scope.Scope>
  /** Waits for the result: the file, or the error. Whoever waits is interrupted if the upload is cancelled. */
  readonly await: Effect.Effect<UploadedFile, UploadError>
  /** Stops every request at once, and waits until nothing of the upload is running. */
  readonly cancel: Effect.Effect<void>
}

const ended = (
  { monitor }: UploadState,
  exit: Exit.Exit<UploadedFile, UploadError>
): Effect.Effect<void> => {
  if (Exit.isSuccess(exit)) {
    return Effect.zipRight(monitor.enter("completed"), monitor.publish({ _tag: "Completed", file: exit.value }))
  }
  return Either.match(Cause.failureOrCause(exit.cause), {
    onLeft: (error) => Effect.zipRight(monitor.enter("failed"), monitor.publish({ _tag: "Failed", error })),
    onRight: (cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.zipRight(monitor.enter("cancelled"), monitor.publish({ _tag: "Cancelled" }))
        // As Cancelled, it would be hidden from a program that only reads the events
        : Effect.map(monitor.enter("failed"), () => monitor.die(cause))
  })
}

const concurrencyOf = (options: UploadOptions): number => options.concurrency ?? Options.mostConcurrent

const sent = (
  source: UploadSource,
  options: UploadOptions,
  state: UploadState
): Effect.Effect<UploadedFile, UploadError, Requirements> =>
  Effect.gen(function*() {
    const { profile } = yield* ServiceApi
    const checked = yield* Options.check(source, options, profile.limits)
    const { checksum, file, proof } = yield* Run.run({ source, options: checked, run: state })
    const { parts, sessions } = yield* state.monitor.progress.get
    yield* Effect.annotateCurrentSpan({ fileId: file.id, parts: parts.total, sessions })
    return {
      ...file,
      name: file.name ?? source.name,
      type: file.type ?? source.mediaType,
      size: file.size ?? source.size,
      sent: { bytes: source.size, parts: parts.total, sessions, checksum, proof }
    }
  })

const watched = <R>(
  state: UploadState,
  size: number,
  upload: Effect.Effect<UploadedFile, UploadError, R>
): Effect.Effect<UploadedFile, UploadError, R> =>
  Metrics.measureUpload(upload, (exit) => ended(state, exit)).pipe(
    Effect.withSpan("Uploads.upload", { captureStackTrace: false, attributes: { size } })
  )

// Nobody watches it: a page that only uploads loads neither a Stream of its progress nor a log of its events
const uploadHere = (
  source: UploadSource,
  options: UploadOptions,
  counts = Counts.make(source.size, Counts.silent)
): Effect.Effect<UploadedFile, UploadError, Requirements> =>
  Effect.flatMap(counts, (counts) => State.make(counts, concurrencyOf(options))).pipe(
    Effect.flatMap((state) => watched(state, source.size, sent(source, options, state)))
  )

/**
 * Uploads a source. Succeeds with the file's record, or fails with a typed error; it never succeeds with less than
 * every byte. Interruption stops every request at once.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })
 *
 * const program = Uploads.upload(notes).pipe(
 *   Effect.tap((file) => Effect.log(`${file.name} is ${file.id}`)),
 *   Effect.catchTag("SizeExceeded", (error) => Effect.logError(`${error.size} bytes; at most ${error.limit}`))
 * )
 *
 * @category programs
 */
export const upload = (
  source: UploadSource,
  options: UploadOptions = {}
): Effect.Effect<UploadedFile, UploadError, Requirements> => inOwnFiber(uploadHere(source, options))

/**
 * Uploads a source, and tells each event at once to what `hear` returns. For whoever uploads thousands of small files: a
 * Stream of the events of one costs as much as a request.
 *
 * @internal
 */
export const uploadWithListener = (
  source: UploadSource,
  options: UploadOptions,
  hear: (progress: Pick<UploadHandle["progress"], "get">) => (event: UploadEvent) => void
): Effect.Effect<UploadedFile, UploadError, Requirements> =>
  Effect.suspend(() => {
    let add: (event: UploadEvent) => void = constVoid
    const counts = Effect.map(Counts.make(source.size, { add: (event) => add(event), die: constVoid }), (counts) => {
      add = hear(counts.progress)
      return counts
    })
    return inOwnFiber(uploadHere(source, options, counts))
  })

/** Only who reads a file back needs it, and all that a download is. */
const verification = /* #__PURE__ */ lazily(() => import("./upload/verification.js"), () => undefined)

/**
 * Loads what an upload would load only when it needs it: where time is simulated, nobody waits for a disk.
 *
 * @internal
 */
export const loaded: Effect.Effect<void> = /* #__PURE__ */ Effect.ignore(
  /* #__PURE__ */ Effect.zip(Run.firstByte, verification)
)

/**
 * Starts an upload and returns a handle to it. The upload ends with the scope.
 *
 * @example
 * import { UploadProgress, Uploads, type UploadSource } from "@stevedore/core"
 * import { Console, Effect, Stream } from "effect"
 *
 * const watched = (source: UploadSource) =>
 *   Effect.scoped(Effect.gen(function*() {
 *     const handle = yield* Uploads.start(source, { concurrency: 8 })
 *     yield* Stream.runForEach(
 *       Uploads.progressEvery(handle, "1 second"),
 *       (now) => Console.log(UploadProgress.describe(now))
 *     )
 *     return yield* handle.await
 *   }))
 *
 * @category programs
 */
export const start = (
  source: UploadSource,
  options: UploadOptions = {}
): Effect.Effect<UploadHandle, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* UploadRun.make(source.size, concurrencyOf(options))
    // Interruptible even if started in an uninterruptible region such as acquireRelease; and an upload cancelled before
    // its first step still reports it. It takes that step once the caller has the handle
    const upload = watched(
      state,
      source.size,
      Effect.interruptible(Effect.zipRight(Effect.yieldNow(), sent(source, options, state)))
    )
    // Forked as an Exit, because Effect logs the failure of a forked fiber as unhandled
    const fiber = yield* Effect.uninterruptible(Effect.forkScoped(Effect.exit(upload)))
    return {
      progress: state.monitor.progress,
      events: state.monitor.events,
      pause: UploadRun.pause(state),
      resume: UploadRun.resume(state),
      pauseScoped: UploadRun.pauseScoped(state),
      await: Effect.flatten(Fiber.join(fiber)),
      cancel: Fiber.interrupt(fiber)
    }
  })

/**
 * The progress as it is now, again after each interval, and once more when the upload has ended. The Stream ends with the
 * upload, and never fails: `await` says how it ended.
 *
 * @category programs
 */
export const progressEvery = (
  upload: Pick<UploadHandle, "await" | "progress">,
  interval: Duration.DurationInput
): Stream.Stream<UploadProgress> => {
  const hasEnded = Effect.raceFirst(
    Effect.as(Effect.sleep(interval), false),
    Effect.as(Effect.exit(upload.await), true)
  )
  return Stream.suspend(() => {
    let next: Effect.Effect<boolean, Option.Option<never>> = Effect.succeed(false)
    return Stream.repeatEffectOption(
      Effect.flatMap(Effect.suspend(() => next), (ended) =>
        Effect.map(upload.progress.get, (now) => {
          next = ended ? Effect.fail(Option.none()) : hasEnded
          return now
        }))
    )
  })
}

/**
 * How one upload of many ended. Its Schema is {@link OutcomeRecord}, for a queue or a journal.
 *
 * @category models
 */
export type UploadOutcome =
  | { readonly _tag: "Uploaded"; readonly source: UploadSource; readonly file: UploadedFile }
  | { readonly _tag: "Failed"; readonly source: UploadSource; readonly error: UploadError }

/**
 * The options of each upload, and how many files to upload concurrently.
 *
 * @category models
 */
export interface UploadAllOptions extends UploadOptions {
  /** The number of concurrent files, at least 1. Defaults to 3. */
  readonly files?: number | undefined
}

const outcomeOf = (
  source: UploadSource,
  options: UploadOptions
): Effect.Effect<UploadOutcome, never, Requirements> =>
  // each of many has a fiber already
  Effect.match(uploadHere(source, options), {
    onFailure: (error): UploadOutcome => ({ _tag: "Failed", source, error }),
    onSuccess: (file): UploadOutcome => ({ _tag: "Uploaded", source, file })
  })

/**
 * Uploads every source of a stream, several concurrently, and emits the outcome of each as soon as it is known. One bad
 * file does not stop the others.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const failures = Stream.range(1, 100).pipe(
 *   Stream.map((number) => UploadSources.fromBytes(`${number}.txt`, new TextEncoder().encode(`${number}`))),
 *   Uploads.uploadAll(),
 *   Stream.filter((outcome) => outcome._tag === "Failed"),
 *   Stream.runCount
 * )
 *
 * @category programs
 */
export const uploadAll: {
  (
    options?: UploadAllOptions
  ): <E, R>(sources: Stream.Stream<UploadSource, E, R>) => Stream.Stream<UploadOutcome, E, R | Requirements>
  <E, R>(
    sources: Stream.Stream<UploadSource, E, R>,
    options?: UploadAllOptions
  ): Stream.Stream<UploadOutcome, E, R | Requirements>
} = /* #__PURE__ */ dual(
  ([sources]) => Predicate.hasProperty(sources, "pipe"),
  <E, R>(
    sources: Stream.Stream<UploadSource, E, R>,
    options: UploadAllOptions = {}
  ): Stream.Stream<UploadOutcome, E, R | Requirements> =>
    mapUnordered(sources, atLeastOne(options.files, 3), (source) => outcomeOf(source, options))
)

/**
 * Continues the unfinished upload with this id, from the same source. Fails with `UnfinishedUploadNotFound` if the
 * ledger has no upload with this id, and with `SourceChanged` if the source is another one: it does not start over in
 * these cases. Fails with `SourceUnreadable`, and keeps the upload, if the source can be read only once and so cannot be
 * compared, or not from where it is to go on. If only the session has expired meanwhile, a new one starts over. To get a handle, use `start` with the
 * option `unfinished`.
 *
 * @example
 * import { Uploads, type UploadSource } from "@stevedore/core"
 *
 * const goOn = (id: string, source: UploadSource) => Uploads.resume(id, source, { verify: "all" })
 *
 * @category unfinished
 */
export const resume = (
  id: string,
  source: UploadSource,
  options: Omit<UploadOptions, "resume" | "unfinished"> = {}
): Effect.Effect<UploadedFile, UploadError, Requirements> => upload(source, { ...options, unfinished: id })

/**
 * Reads the file back after an upload, and compares it with what was sent: with the checksum of the upload, or with the
 * source if that has none. Fails with `ContentDiffers` if storage returns other bytes, and with `ContentUnverified` if
 * they could not be read. Where `sent.proof` was `unproven`, it is `readBack` then. The page's own server,
 * `StevedoreHttpApp`, serves no downloads, so this needs the service.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * const compared = Uploads.upload(notes).pipe(Uploads.readBack(notes))
 *
 * @category combinators
 */
export const readBack = (source: UploadSource) =>
<E, R>(
  upload: Effect.Effect<UploadedFile, E, R>
): Effect.Effect<UploadedFile, E | ContentDiffers | ContentUnverified, R | ServiceApi | ObjectStorage> =>
  Effect.flatMap(
    upload,
    (file) =>
      Effect.mapError(
        verification,
        () => new ContentUnverified({ fileId: file.id, because: "ConnectionFailed", attempts: 0 })
      ).pipe(
        Effect.flatMap(({ run }) =>
          run({ fileId: file.id, source, checksum: Option.fromNullable(file.sent.checksum) })
        ),
        Effect.withSpan("Uploads.readBack", {
          captureStackTrace: false,
          attributes: { fileId: file.id, size: source.size }
        }),
        Effect.as(
          file.sent.proof === "unproven" ? { ...file, sent: { ...file.sent, proof: "readBack" as const } } : file
        )
      )
  )

/**
 * Uploads that require nothing of their callers, for a service of your own. Each method does what the function of the
 * same name does.
 *
 * @category models
 */
export interface Service {
  readonly upload: (source: UploadSource, options?: UploadOptions) => Effect.Effect<UploadedFile, UploadError>
  readonly start: (source: UploadSource, options?: UploadOptions) => Effect.Effect<UploadHandle, never, Scope.Scope>
  readonly uploadAll: <E, R>(
    sources: Stream.Stream<UploadSource, E, R>,
    options?: UploadAllOptions
  ) => Stream.Stream<UploadOutcome, E, R>
  readonly resume: (
    id: string,
    source: UploadSource,
    options?: Omit<UploadOptions, "resume" | "unfinished">
  ) => Effect.Effect<UploadedFile, UploadError>
}

/**
 * Uploads with the services of where this runs, such as the constructor of a service of your own. What a caller provides
 * wins: its span, its retry policy, its timeouts.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const minutes = Effect.map(Uploads.make, (uploads) => ({
 *   archive: (title: string, text: string) =>
 *     uploads.upload(UploadSources.fromBytes(title, new TextEncoder().encode(text), { mediaType: "text/plain" }))
 * }))
 *
 * @category constructors
 */
export const make: Effect.Effect<Service, never, Requirements> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.context<Requirements>(),
  (services): Service => {
    const ours = contextOf(services)
    return {
      upload: (source, options) => Effect.mapInputContext(upload(source, options), ours<never>),
      start: (source, options) => Effect.mapInputContext(start(source, options), ours<Scope.Scope>),
      uploadAll: <E, R>(sources: Stream.Stream<UploadSource, E, R>, options?: UploadAllOptions) =>
        Stream.mapInputContext(uploadAll(sources, options), ours<R>),
      resume: (id, source, options) => Effect.mapInputContext(resume(id, source, options), ours<never>)
    }
  }
)

export {
  /**
   * Deletes an unfinished upload from the ledger in force.
   *
   * @category unfinished
   */
  forget,
  /**
   * The unfinished uploads of the ledger in force.
   *
   * @category unfinished
   */
  unfinished,
  /**
   * An upload that an earlier process left behind, or that is running.
   *
   * @category models
   */
  type UnfinishedUpload
} from "./upload/unfinished.js"

export {
  /**
   * How one upload of many ended, in a form for other processes: the Schema that a queue or a journal keeps.
   *
   * @category models
   */
  UploadOutcome as OutcomeRecord
} from "./upload/outcome.js"

export {
  /**
   * The record with which a ledger continues this session of this source.
   *
   * @category unfinished
   */
  recordOf
} from "./upload/resume.js"

export {
  /** @internal */
  leftAfterComplete,
  /** @internal */
  mayBeComplete,
  /** @internal */
  wasAnswered
} from "./upload/meaning.js"
