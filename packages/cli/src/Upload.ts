/**
 * `stevedore upload`: uploads files, several concurrently; one failure does not stop the rest.
 *
 * @since 0.1.0
 */
import * as Checksum from "@stevedore/core/Checksum"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { UploadError } from "@stevedore/core/UploadError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import * as Uploads from "@stevedore/core/Uploads"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeChecksum from "@stevedore/node/NodeChecksum"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Checksums from "./Checksums.js"
import * as Configuration from "./Configuration.js"
import * as ExitCode from "./ExitCode.js"
import * as FinishedFiles from "./FinishedFiles.js"
import * as Description from "./internal/description.js"
import * as FailedFiles from "./internal/failedFiles.js"
import * as HeldLedger from "./internal/heldLedger.js"
import * as LastingRefusals from "./internal/lastingRefusals.js"
import * as Stopped from "./internal/stopped.js"
import { InvalidInput } from "./InvalidInput.js"
import * as Measure from "./Measure.js"
import { Output, type OutputFailed } from "./Output.js"
import * as Printable from "./Printable.js"
import * as Reports from "./Reports.js"
import type { FileToUpload } from "./UploadPaths.js"
import * as UploadPaths from "./UploadPaths.js"
import * as UploadWatch from "./UploadWatch.js"

/**
 * The options of the command. Defaults are as in `Uploads`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Configuration.Given {
  /** Files, and directories of files, to upload. */
  readonly paths: ReadonlyArray<string>
  readonly strategy: "auto" | "single" | "multipart"
  readonly parts: Option.Option<number>
  /** The maximum number of parts of one file in flight. */
  readonly concurrency: Option.Option<number>
  /** The number of concurrent files. */
  readonly files: number
  readonly verify: "sample" | "all" | "download"
  /** What to do if the connection is too slow for a file. */
  readonly onImpossible: "fail" | "continue"
  readonly checksum: Checksums.Name
  readonly mediaType: Option.Option<string>
  readonly name: Option.Option<string>
  /** Whether to start interrupted uploads over. */
  readonly noResume: boolean
  readonly json: boolean
}

/**
 * Some files were not uploaded. Each failure was already printed.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadsFailed extends Schema.TaggedError<UploadsFailed>("@stevedore/cli/UploadsFailed")("UploadsFailed", {
  kind: ErrorKind.field("refused"),
  failed: Schema.Int,
  files: Schema.Int,
  unauthorized: Schema.Boolean
}) {
  /**
   * @since 0.1.0
   */
  get exitCode(): number {
    return this.unauthorized ? ExitCode.unauthorized : ExitCode.failed
  }
  override get message(): string {
    return `${this.failed} of ${this.files} ${this.files === 1 ? "file" : "files"} failed. ` +
      "Fix the errors above and run the command again: it skips what is already uploaded, unless --no-resume is given."
  }
}

const algorithms: Readonly<Record<Checksums.Name, Checksum.ChecksumAlgorithm>> = {
  crc32: NodeChecksum.crc32,
  sha256: NodeChecksum.sha256,
  crc64nvme: Checksum.crc64nvme
}

interface Run {
  readonly options: Options
  readonly watch: UploadWatch.UploadWatch
  readonly finished: FinishedFiles.FinishedFiles
  /** As many as files may be uploaded concurrently. */
  readonly slots: Effect.Semaphore
  /** By the identity of a file: under two names it is uploaded twice, one after the other. */
  readonly turns: Map<string, Effect.Semaphore>
  /** What the service refuses for every file. */
  readonly refusal: Effect.Effect<Option.Option<UploadError>>
  readonly failed: FailedFiles.FailedFiles
  /** The files that were reported as uploaded. */
  readonly reported: Set<FileToUpload>
}

type Sent =
  | { readonly _tag: "Sent"; readonly report: typeof Reports.Completed.Type; readonly took: Duration.Duration }
  | { readonly _tag: "UpAlready"; readonly report: typeof Reports.Completed.Type }

const wishes = (options: Options): UploadOptions => ({
  strategy: options.strategy,
  parts: Option.getOrUndefined(options.parts),
  concurrency: Option.getOrUndefined(options.concurrency),
  resume: !options.noResume,
  verify: options.verify,
  onImpossible: options.onImpossible
})

const hasBegun = (progress: Uploads.UploadHandle["progress"]) =>
  Stream.runHead(Stream.filter(progress.changes, ({ phase }) => phase !== "preparing"))

const transfer = (
  file: FileToUpload,
  source: RepeatableSource,
  { finished, options, watch }: Run,
  begun: Effect.Effect<void>
): Effect.Effect<Sent, UploadError, Uploads.Requirements> =>
  Effect.scoped(Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const upload = yield* Uploads.start(source, wishes(options))
    yield* Effect.forkScoped(Effect.zipRight(hasBegun(upload.progress), begun))
    const uploaded = yield* watch.during(file, upload.progress)(upload.await)
    const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
    const report = Reports.completed(file.path, uploaded, took)
    yield* finished.add({ path: file.path, fingerprint: source.fingerprint, report })
    return { _tag: "Sent", report, took }
  }))

// Held by the scope, like the lock of the file's upload, but released after it: the next upload of the same file finds
// nothing of this one.
const takeTurn = ({ turns }: Run, identity: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const turn = turns.get(identity) ?? Effect.unsafeMakeSemaphore(1)
    turns.set(identity, turn)
    return Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(restore(turn.take(1)), Effect.addFinalizer(() => turn.release(1)))
    )
  })

const send = (
  file: FileToUpload,
  run: Run,
  begun: Effect.Effect<void>
): Effect.Effect<Sent, UploadError, Uploads.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    if (Option.isSome(file.refused)) return yield* file.refused.value
    const described = {
      name: Option.getOrUndefined(run.options.name),
      mediaType: Option.getOrUndefined(run.options.mediaType)
    }
    const source = yield* Option.match(file.name, {
      onNone: () => FileSource.fromPath(file.path, described),
      onSome: (name) => FileSource.fromEntry({ name, path: file.path }, described)
    })
    const before = run.finished.find(file.path, source.fingerprint)
    const still = Option.flatten(yield* Effect.transposeMapOption(before, FinishedFiles.stillUp))
    if (Option.isSome(still)) {
      yield* HeldLedger.forgetDone(source, still.value.file.id)
      return { _tag: "UpAlready", report: { ...still.value, path: file.path } }
    }
    yield* takeTurn(run, source.fingerprint.identity ?? file.path)
    return yield* run.slots.withPermits(1)(transfer(file, source, run, begun))
  })

// If the reader of the results goes away, the uploads continue: the files are what counts.
const ignoreClosed = <R>(telling: Effect.Effect<void, OutputFailed, R>): Effect.Effect<void, OutputFailed, R> =>
  Effect.catchAll(telling, (failure) => failure.closed ? Effect.void : Effect.fail(failure))

const tellUp = (sent: Sent, json: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { bytes, file, path } = sent.report
    yield* json ? output.json([sent.report]) : output.lines([Printable.columns([file.id, path])])
    if (json) return
    const shown = Printable.line(path)
    yield* sent._tag === "UpAlready"
      ? output.note(`Skipped ${shown}: already uploaded before the command was stopped`)
      : output.note(
        `Uploaded ${shown}: ${Measure.bytes(bytes)} in ${Measure.duration(sent.took)}${Measure.pace(bytes, sent.took)}`
      )
  })

const uploadOne = (file: FileToUpload, run: Run, begun: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const { keep, ledger, settle } = yield* HeldLedger.make
    // an upload that continues an earlier session makes no call to the service before its end
    const sending = Effect.flatMap(
      run.refusal,
      Option.match({ onNone: () => send(file, run, begun), onSome: (refusal) => Effect.fail(refusal) })
    )
    yield* Effect.matchEffect(Effect.provideService(sending, UploadLedger.UploadLedger, ledger), {
      onSuccess: (sent) =>
        run.watch.settle(file, "done").pipe(
          Effect.zipRight(ignoreClosed(tellUp(sent, run.options.json))),
          Effect.tap(() => run.reported.add(file))
        ),
      onFailure: (error) =>
        Effect.gen(function*() {
          yield* run.watch.settle(file, "failed")
          yield* ignoreClosed(run.failed.add(file.path, error))
          // the file is up: when the command runs again, it is found and read back, and not sent again
          if (error._tag === "ContentUnverified") yield* keep
        })
    })
    // if interrupted before it was reported, the file is found again when the command runs again
    yield* settle
  }).pipe(Effect.scoped)

// Files that are already up cost one request each: few enough at a time that new uploads do not wait behind them.
const questionsAtOnce = 4

// The first file goes ahead alone until its session is open, so that what is refused for all files is requested only
// once.
const uploadAll = (files: ReadonlyArray<FileToUpload>, run: Run) =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const open = Effect.asVoid(Deferred.succeed(gate, undefined))
    const [fresh, known] = Arr.partition(files, ({ path }) => run.finished.has(path))
    const [first] = [...fresh, ...known]
    const one = (file: FileToUpload) =>
      file === first
        ? Effect.ensuring(uploadOne(file, run, open), open)
        : Effect.zipRight(Deferred.await(gate), uploadOne(file, run, Effect.void))
    yield* Effect.all([
      Effect.forEach(fresh, one, { concurrency: run.options.files, discard: true }),
      Effect.forEach(known, one, { concurrency: questionsAtOnce, discard: true })
    ], { concurrency: "unbounded", discard: true })
    const failed = yield* run.failed.count
    if (failed === 0) return yield* run.finished.clear
    yield* run.failed.tellRest
    return yield* new UploadsFailed({
      failed,
      files: files.length,
      unauthorized: Option.exists(yield* run.refusal, ({ _tag }) => _tag === "Unauthorized")
    })
  })

const checkFiles = (options: Options, files: ReadonlyArray<FileToUpload>): Effect.Effect<void, InvalidInput> => {
  if (files.length === 0) {
    return Effect.fail(new InvalidInput({ input: options.paths.join(", "), problem: "contains no files" }))
  }
  return Option.isSome(options.name) && files.length > 1
    ? Effect.fail(
      new InvalidInput({
        input: "--name",
        problem: `it names a single file, but there are ${files.length}: leave it out`
      })
    )
    : Effect.void
}

const tellRepeated = ([first, ...more]: ReadonlyArray<FileToUpload>) =>
  Effect.flatMap(Output, (output) =>
    first === undefined
      ? Effect.void
      : output.note(
        more.length === 0
          ? `${Printable.line(first.path)} is given more than once: uploading it once`
          : `${Printable.line(first.path)} and ${more.length} more are given more than once: uploading each once`
      ))

const tellStopped = (files: number, { options, reported, watch }: Run) =>
  Effect.flatMap(
    watch.done,
    (uploaded) => Stopped.tell({ files, uploaded, reported: reported.size, resumable: !options.noResume })
  )

const finishedFiles = (options: Options, files: ReadonlyArray<FileToUpload>) =>
  Effect.gen(function*() {
    if (files.length === 1) return FinishedFiles.none
    const { mediaType, paths } = options
    const { baseUrl: service } = yield* ServiceApi
    const making = FinishedFiles.make({ service, paths, mediaType })
    if (!options.noResume) return yield* making
    // what another process is recording belongs to that process
    yield* Effect.flatMap(making, ({ clear }) => clear).pipe(
      Effect.catchTag("CommandRunning", () => Effect.void),
      Effect.scoped
    )
    return FinishedFiles.none
  })

/**
 * Uploads the given paths, and fails at the end if a file was not uploaded.
 *
 * @since 0.1.0
 * @category programs
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    yield* Description.check(options)
    const { files, repeated } = yield* UploadPaths.expand(options.paths)
    yield* checkFiles(options, files)
    yield* tellRepeated(repeated)
    const watch = yield* UploadWatch.make(files, options.json)
    const finished = yield* finishedFiles(options, files)
    const slots = yield* Effect.makeSemaphore(options.files)
    const turns = new Map<string, Effect.Semaphore>()
    const { ofAll: refusal, service } = LastingRefusals.make(yield* ServiceApi)
    const failed = FailedFiles.make(options.json)
    const run: Run = { options, watch, finished, slots, turns, refusal, failed, reported: new Set() }
    yield* uploadAll(files, run).pipe(
      Effect.provideService(ServiceApi, service),
      Effect.onInterrupt(() => tellStopped(files.length, run))
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.provide(Configuration.layer(options), Checksum.layer(algorithms[options.checksum]))
    )
  )
