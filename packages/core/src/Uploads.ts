/**
 * Files go up.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Subscribable from "effect/Subscribable"
import { atLeastOne } from "./internal/atLeastOne.js"
import { inOwnFiber } from "./internal/ownFiber.js"
import * as Metrics from "./Metrics.js"
import { ServiceApi } from "./ServiceApi.js"
import type { Requirements } from "./SessionTransfer.js"
import type { UploadedFile } from "./UploadedFile.js"
import type { UploadError } from "./UploadError.js"
import type { UploadEvent } from "./UploadEvent.js"
import type { UploadOptions } from "./UploadOptions.js"
import * as Options from "./UploadOptions.js"
import type { UploadProgress } from "./UploadProgress.js"
import * as UploadRun from "./UploadRun.js"
import * as UploadSessions from "./UploadSessions.js"
import type { UploadSource } from "./UploadSource.js"
import * as UploadVerification from "./UploadVerification.js"

export type {
  /**
   * What the programs of this module need: a ready layer such as `NodeStevedore.layer` gives all of it.
   *
   * @since 0.1.0
   * @category models
   */
  Requirements,
  /**
   * What an upload gives; its Schema is `UploadedFile.UploadedFile`.
   *
   * @since 0.1.0
   * @category models
   */
  UploadedFile
}

/**
 * An upload that is running.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadHandle {
  /** Where it stands; `changes` begins with the present state, gives at most ten a second, and ends with the upload. */
  readonly progress: Subscribable.Subscribable<UploadProgress>
  /** What happens to it, one event at a time; it ends with the upload. */
  readonly events: Stream.Stream<UploadEvent>
  /** Stops every transfer at once, and keeps what storage has. While the service is told, or the file read back, both go on. */
  readonly pause: Effect.Effect<void>
  /** Goes on where it was paused. What was in flight then is sent again; no attempt is counted for it. */
  readonly resume: Effect.Effect<void>
  /** Waits for the end: the file, or the error. */
  readonly await: Effect.Effect<UploadedFile, UploadError>
  /** Stops every request at once and waits until nothing of the upload is left running. */
  readonly cancel: Effect.Effect<void>
}

const ended = (
  { monitor }: UploadRun.UploadRun,
  exit: Exit.Exit<UploadedFile, UploadError>
): Effect.Effect<void> => {
  if (Exit.isSuccess(exit)) {
    return Effect.zipRight(monitor.enter("completed"), monitor.publish({ _tag: "Completed", file: exit.value }))
  }
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => Effect.zipRight(monitor.enter("cancelled"), monitor.publish({ _tag: "Cancelled" })),
    onSome: (error) => Effect.zipRight(monitor.enter("failed"), monitor.publish({ _tag: "Failed", error }))
  })
}

const stateOf = (source: UploadSource, options: UploadOptions): Effect.Effect<UploadRun.UploadRun> =>
  UploadRun.make(source.size, options.concurrency ?? Options.mostConcurrent)

const sent = (
  source: UploadSource,
  options: UploadOptions,
  state: UploadRun.UploadRun
): Effect.Effect<UploadedFile, UploadError, Requirements> =>
  Effect.gen(function*() {
    const { profile } = yield* ServiceApi
    const checked = yield* Options.check(source, options, profile.limits)
    const { checksum, file } = yield* UploadSessions.run({ source, options: checked, run: state })
    if (checked.readBack) {
      yield* state.monitor.enter("verifying")
      yield* state.monitor.publish({ _tag: "Verifying" })
      yield* UploadVerification.run({ fileId: file.id, source, checksum })
    }
    const { parts, sessions } = yield* state.monitor.progress.get
    yield* Effect.annotateCurrentSpan({ fileId: file.id, parts: parts.total, sessions })
    return {
      ...file,
      sent: { bytes: source.size, parts: parts.total, sessions, checksum: Option.getOrUndefined(checksum) }
    }
  })

const watched = <R>(
  state: UploadRun.UploadRun,
  size: number,
  upload: Effect.Effect<UploadedFile, UploadError, R>
): Effect.Effect<UploadedFile, UploadError, R> =>
  upload.pipe(
    Metrics.measureUpload,
    Effect.onExit((exit) => ended(state, exit)),
    Effect.withSpan("Uploads.upload", { captureStackTrace: false, attributes: { size } })
  )

/**
 * Uploads a source and gives the file's record, or a typed error: never a success with less than every byte.
 * Interruption stops every request at once.
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
 * @since 0.1.0
 * @category programs
 */
export const upload = (
  source: UploadSource,
  options: UploadOptions = {}
): Effect.Effect<UploadedFile, UploadError, Requirements> =>
  Effect.flatMap(
    stateOf(source, options),
    (state) => inOwnFiber(watched(state, source.size, sent(source, options, state)))
  )

/**
 * Starts an upload and gives a handle on it. The upload ends with the scope.
 *
 * @example
 * import { Uploads, type UploadSource } from "@stevedore/core"
 * import { Console, Effect, Stream } from "effect"
 *
 * const watched = (source: UploadSource) =>
 *   Effect.scoped(Effect.gen(function*() {
 *     const handle = yield* Uploads.start(source, { concurrency: 8 })
 *     yield* handle.progress.changes.pipe(
 *       Stream.runForEach((now) => Console.log(now.phase, now.confirmed, "of", now.size)),
 *       Effect.forkScoped
 *     )
 *     return yield* handle.await
 *   }))
 *
 * @since 0.1.0
 * @category programs
 */
export const start = (
  source: UploadSource,
  options: UploadOptions = {}
): Effect.Effect<UploadHandle, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* stateOf(source, options)
    // It can be cancelled wherever it was started, as by acquireRelease; and one that is cancelled before its first step says
    // so too
    const upload = watched(state, source.size, Effect.interruptible(sent(source, options, state)))
    // As an exit: of a fiber that fails, Effect's log says that its error is unhandled
    const fiber = yield* Effect.uninterruptible(Effect.forkScoped(Effect.exit(upload)))
    return {
      progress: state.monitor.progress,
      events: state.monitor.events,
      pause: UploadRun.pause(state),
      resume: UploadRun.resume(state),
      await: Effect.flatten(Fiber.join(fiber)),
      cancel: Fiber.interrupt(fiber)
    }
  })

/**
 * How one upload of many ended. `UploadOutcome.UploadOutcome` is the Schema of it, for a queue or a journal.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadOutcome =
  | { readonly _tag: "Uploaded"; readonly source: UploadSource; readonly file: UploadedFile }
  | { readonly _tag: "Failed"; readonly source: UploadSource; readonly error: UploadError }

/**
 * The options of one upload, and how many files go up at once.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadAllOptions extends UploadOptions {
  /** Files at once, 1 or more. Omitted: 3. */
  readonly files?: number | undefined
}

const outcomeOf = (
  source: UploadSource,
  options: UploadOptions
): Effect.Effect<UploadOutcome, never, Requirements> =>
  Effect.match(upload(source, options), {
    onFailure: (error): UploadOutcome => ({ _tag: "Failed", source, error }),
    onSuccess: (file): UploadOutcome => ({ _tag: "Uploaded", source, file })
  })

/**
 * Uploads every source of a stream, several at once, and gives the outcome of each as soon as it is known. One bad
 * file does not stop the others.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const failures = Stream.range(1, 100).pipe(
 *   Stream.map((number) => UploadSources.fromBytes(`${number}.txt`, new TextEncoder().encode(`${number}`))),
 *   Uploads.uploadAll,
 *   Stream.filter((outcome) => outcome._tag === "Failed"),
 *   Stream.runCount
 * )
 *
 * @since 0.1.0
 * @category programs
 */
export const uploadAll = <E, R>(
  sources: Stream.Stream<UploadSource, E, R>,
  options: UploadAllOptions = {}
): Stream.Stream<UploadOutcome, E, R | Requirements> =>
  Stream.mapEffect(sources, (source) => outcomeOf(source, options), {
    concurrency: atLeastOne(options.files, 3),
    unordered: true
  })

/**
 * {@link uploadAll} with options, for a pipe.
 *
 * @example
 * import { Uploads, type UploadSource } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const outcomes = (sources: Iterable<UploadSource>) =>
 *   Stream.fromIterable(sources).pipe(Uploads.uploadAllWith({ files: 5 }), Stream.runCollect)
 *
 * @since 0.1.0
 * @category programs
 */
export const uploadAllWith =
  (options: UploadAllOptions) =>
  <E, R>(sources: Stream.Stream<UploadSource, E, R>): Stream.Stream<UploadOutcome, E, R | Requirements> =>
    uploadAll(sources, options)

/**
 * Goes on with the unfinished upload of this id, from the same source. If the ledger has none of this id it is
 * `UnfinishedUploadNotFound`, and if the source is another, `SourceChanged`: nothing is begun anew then. When only the
 * session has ended meanwhile, a new one starts over. For a handle, give `start` the option `unfinished`.
 *
 * @example
 * import { Uploads, type UploadSource } from "@stevedore/core"
 *
 * const goOn = (id: string, source: UploadSource) => Uploads.resume(id, source, { verify: "all" })
 *
 * @since 0.1.0
 * @category unfinished
 */
export const resume = (
  id: string,
  source: UploadSource,
  options: Omit<UploadOptions, "resume" | "unfinished"> = {}
): Effect.Effect<UploadedFile, UploadError, Requirements> => upload(source, { ...options, unfinished: id })

export {
  /**
   * Deletes an unfinished upload from the ledger in force: `UnfinishedUploads.forget`.
   *
   * @since 0.1.0
   * @category unfinished
   */
  forget,
  /**
   * The uploads of the ledger in force that are not finished: `UnfinishedUploads.unfinished`.
   *
   * @since 0.1.0
   * @category unfinished
   */
  unfinished
} from "./UnfinishedUploads.js"

export type {
  /**
   * An upload that an earlier process left, or that is running.
   *
   * @since 0.1.0
   * @category models
   */
  UnfinishedUpload
} from "./UnfinishedUploads.js"
