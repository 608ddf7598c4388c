/** `stevedore upload`: uploads files, several concurrently; one failure does not stop the rest. */
import * as Checksum from "@stevedore/core/Checksum"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import * as NodeChecksum from "@stevedore/node/NodeChecksum"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Configuration from "../connection/configuration.js"
import * as Politeness from "../connection/politeness.js"
import * as LastingRefusals from "../files/lastingRefusals.js"
import type { Outcome } from "../files/outcome.js"
import type { FileToUpload } from "../files/paths.js"
import * as UploadPaths from "../files/paths.js"
import * as ReportFile from "../files/reportFile.js"
import * as Standings from "../files/standings.js"
import * as Stopped from "../files/stopped.js"
import * as Telling from "../files/telling.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import * as ExitCode from "../print/exitCode.js"
import { Output, unlessClosed } from "../print/output.js"
import * as Printable from "../print/printable.js"
import type { FileError } from "../print/reports.js"
import * as CallsLeft from "./callsLeft.js"
import type * as Choosing from "./choosing.js"
import * as Description from "./description.js"
import * as DryRun from "./dryRun.js"
import * as Manifest from "./manifest.js"
import type { Options } from "./options.js"
import type { Run } from "./run.js"
import * as UploadRun from "./run.js"
import * as Selection from "./selection.js"
import * as UploadWatch from "./watch.js"

/** Some files were not uploaded. Each failure was already printed. */
export class UploadsFailed extends Schema.TaggedError<UploadsFailed>("@stevedore/cli/UploadsFailed")("UploadsFailed", {
  kind: ErrorKind.field("refused"),
  failed: Schema.Int,
  files: Schema.Int,
  unauthorized: Schema.Boolean,
  /** Whether each of them was wrong before anything was asked. */
  invalid: Schema.optionalWith(Schema.Boolean, { default: () => false }).pipe(
    Schema.withConstructorDefault(() => false)
  )
}) {
  get exitCode(): number {
    return this.unauthorized ? ExitCode.unauthorized : this.invalid ? ExitCode.usage : ExitCode.failed
  }
  override get message(): string {
    return `${this.failed} of ${this.files} ${this.files === 1 ? "file" : "files"} failed. ` +
      "Fix the errors above and run the command again: it skips what is already uploaded."
  }
}

const algorithms: Readonly<Record<Options["checksum"], Checksum.ChecksumAlgorithm>> = {
  crc32: NodeChecksum.crc32,
  sha256: NodeChecksum.sha256,
  crc64nvme: Checksum.crc64nvme
}

const uploadOptions = (options: Options): UploadOptions => ({
  strategy: options.strategy,
  parts: Option.getOrUndefined(options.parts),
  concurrency: Option.getOrUndefined(options.concurrency),
  resume: !options.noResume,
  verify: options.verify === "download" ? "sample" : options.verify,
  onImpossible: options.onImpossible
})

const checkName = (options: Options, files: ReadonlyArray<FileToUpload>): Effect.Effect<void, InvalidInput> => {
  const isFromInput = files.some(({ path }) => path === UploadPaths.standardInput)
  if (isFromInput && Option.contains(options.filesFrom, UploadPaths.standardInput)) {
    return invalid("--files-from", "standard input cannot be both the list and a file")
  }
  if (Option.isSome(options.name)) {
    return files.length > 1
      ? invalid("--name", `it names a single file, but there are ${files.length}: leave it out`)
      : Effect.void
  }
  const isNamed = files.every(({ path, row }) =>
    path !== UploadPaths.standardInput || Option.exists(row, ({ name }) => Option.isSome(name))
  )
  return isNamed ? Effect.void : invalid("--name", "standard input has no name: give one with --name")
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
    (uploaded) => Stopped.tell({ files, uploaded, reported: reported.size, resumable: options.resume !== false })
  )

const tellLeft = (left: number) =>
  Effect.flatMap(
    Output,
    (output) =>
      Effect.when(output.note(`Left out ${left.toLocaleString("en")} that the options exclude`), () => left > 0)
  )

const tellUntried = (untried: number) =>
  Effect.flatMap(Output, (output) =>
    Effect.when(
      output.warn(
        `Stopped by failures: ${untried.toLocaleString("en")} ${untried === 1 ? "file was" : "files were"} not tried`
      ),
      () => untried > 0
    ))

// Initiate and Complete, and perhaps the import: the bytes go to storage, whose requests are not limited
const callsPerFile = ({ into }: Options): number => Option.isSome(into) ? 3 : 2

const stopAfter = ({ failFast, maxErrors }: Options): number =>
  failFast ? 1 : Option.getOrElse(maxErrors, () => Number.POSITIVE_INFINITY)

// The checks of the run, before its first request
const planned = (files: ReadonlyArray<FileToUpload>, run: Run, options: Options) =>
  Effect.gen(function*() {
    if (Option.isSome(options.report)) yield* ReportFile.check(options.report.value)
    const { fresh, known } = yield* UploadRun.recognizeAll(files, run)
    yield* Effect.forEach(known, (one) => run.tell(UploadRun.skippedAs(one)), { discard: true })
    const { profile: { limits } } = yield* ServiceApi
    const checked = yield* Effect.forEach(fresh, (file) =>
      Effect.map(UploadRun.problemOf(file, run, limits), (problem) => ({ file, problem })), { concurrency: 8 })
    for (const { file, problem } of checked) {
      if (Option.isSome(problem)) {
        yield* run.tell({ _tag: "Failed", file, error: problem.value })
      }
    }
    const right = checked.flatMap(({ file, problem }) =>
      Option.isNone(problem) ? [file] : []
    )
    yield* DryRun.tell({ files: right, calls: callsPerFile(options) }, options.json)
    const errors = checked.flatMap(({ problem }) => Option.toArray(problem))
    if (errors.length > 0) yield* failure(errors.length, files.length, Standings.exitCode(errors, 0))
  })

const failure = (failed: number, files: number, exitCode: number) =>
  new UploadsFailed({
    failed,
    files,
    unauthorized: exitCode === ExitCode.unauthorized,
    invalid: exitCode === ExitCode.usage
  })

const uploadAll = (chosen: Choosing.Chosen, options: Options) =>
  Effect.gen(function*() {
    const { files, skipped } = chosen
    const startedAt = yield* Clock.currentTimeMillis
    const { heard, ofAll: refusal, service } = LastingRefusals.make<FileError>(
      yield* ServiceApi,
      (directory) => new SourceUnreadable({ fileName: directory, reason: "Failed" })
    )
    const manifest = yield* Manifest.make(service.baseUrl)
    const { mediaType, name } = options
    const report = yield* ReportFile.make(options.dryRun ? Option.none() : options.report, files)
    const standings = Standings.make(files)
    const telling = Telling.make({ ...options, several: files.length > 1, report })
    const run: Run = {
      service: service.baseUrl,
      options: uploadOptions(options),
      readBack: options.verify === "download",
      files: options.files,
      stopAfter: stopAfter(options),
      described: { name: Option.getOrUndefined(name), mediaType: Option.getOrUndefined(mediaType) },
      again: options.again,
      check: options.check,
      watch: yield* UploadWatch.make(files, options.json, yield* CallsLeft.make(callsPerFile(options))),
      manifest,
      slots: yield* Effect.makeSemaphore(options.files),
      turns: new Map(),
      into: options.into,
      sourceHeaders: yield* Selection.sourceHeaders(options.sourceHeaders, files, options.allowInsecureHttp),
      refusal,
      heard: (outcome) =>
        outcome._tag === "Failed"
          ? heard(Option.some(outcome.error), outcome.file.within)
          : Effect.when(heard(Option.none()), () => outcome._tag === "Uploaded"),
      standings,
      tell: (outcome) => telling.tell(outcome, () => settle(standings, outcome)),
      reported: new Set()
    }
    for (const { path, reason } of skipped) {
      yield* telling.tell({ _tag: "Skipped", path, reason, fileId: Option.none() })
    }
    if (options.dryRun) return yield* planned(files, run, options)
    const end = Effect.gen(function*() {
      yield* Effect.forEach(standings.notTried(), (file) => telling.tell({ _tag: "NotTried", file }), { discard: true })
      yield* telling.end(files.length, Duration.millis((yield* Clock.currentTimeMillis) - startedAt))
    })
    yield* UploadRun.uploadAll(files, run).pipe(
      Effect.provideService(ServiceApi, service),
      Effect.onInterrupt(() =>
        Effect.zipRight(tellStopped(files.length, run), options.json ? Stopped.readWithin(end) : Effect.void)
      )
    )
    const { failed, notTried } = standings.counts()
    yield* tellUntried(notTried)
    yield* unlessClosed(end)
    const exitCode = standings.exitCode()
    if (exitCode !== ExitCode.ok) yield* failure(failed, files.length, exitCode)
  })

const settle = (standings: Standings.Standings<FileToUpload>, outcome: Outcome): void => {
  if (outcome._tag === "Uploaded") standings.settle(outcome.file, { _tag: "Done" })
  if (outcome._tag === "Failed") standings.settle(outcome.file, { _tag: "Failed", error: outcome.error })
  if (outcome._tag === "Skipped" && outcome.file !== undefined) standings.settle(outcome.file, { _tag: "There" })
}

/**
 * Uploads the files that are chosen, and fails at the end if one was not uploaded: with whichever service and storage.
 */
export const program = (options: Options) =>
  Effect.gen(function*() {
    yield* Description.check(options)
    const chosen = yield* Selection.select(options)
    yield* checkName(options, chosen.files)
    yield* tellRepeated(chosen.repeated)
    yield* tellLeft(chosen.left)
    yield* uploadAll(chosen, options)
  }).pipe(Effect.scoped)

/** The same with the service that the options and the environment name. */
export const run = (options: Options) =>
  Effect.provide(
    program(options),
    Layer.provide(Configuration.layer(options, options.noResume ? { ledger: false } : {}), [
      Checksum.layer(algorithms[options.checksum]),
      Politeness.layer("upload", options.limitRate)
    ])
  )
