/** `stevedore upload`: uploads files, several concurrently; one failure does not stop the rest. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Checksum from "@stevedore/core/Checksum"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import * as NodeChecksum from "@stevedore/node/NodeChecksum"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Configuration from "../connection/configuration.js"
import * as Throttle from "../connection/throttle.js"
import * as LastingRefusals from "../files/lastingRefusals.js"
import * as Outcomes from "../files/outcomes.js"
import type { FileToUpload } from "../files/paths.js"
import * as UploadPaths from "../files/paths.js"
import * as Reporter from "../files/reporter.js"
import * as ReportFile from "../files/reportFile.js"
import { again } from "../options/commandWords.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import * as Printable from "../print/printable.js"
import type { FileError } from "../print/reports.js"
import * as CallsLeft from "./callsLeft.js"
import type * as Choosing from "./choosing.js"
import * as DryRun from "./dryRun.js"
import * as Manifest from "./manifest.js"
import type { Options } from "./options.js"
import type { Run } from "./run.js"
import * as UploadRun from "./run.js"
import * as Selection from "./selection.js"
import * as UploadWatch from "./watch.js"

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

/** Tells whether the command has to be run again. If every file was uploaded, nothing is left to do. */
const tellStopped = (files: number, { done, there }: Outcomes.Counts, resumable: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    if (done + there === files) {
      const all = files === 1 ? "the file was" : `all ${files} files were`
      return yield* output.warn(`Stopped after ${all} uploaded: nothing is left to resume.`)
    }
    const standing = files === 1 ? "Stopped." : `Stopped: ${done + there} of ${files} files uploaded.`
    yield* output.warn(
      resumable
        ? `${standing} To resume:\n  ${yield* again}`
        : `${standing} With --no-resume, the rest cannot be resumed.`
    )
  })

const hasEntry = (outcome: Outcomes.Outcome<FileToUpload>): boolean =>
  (outcome._tag === "Done" && "entryId" in outcome.report) || (outcome._tag === "Skipped" && "entryId" in outcome)

const tellEntries = (outcomes: ReadonlyArray<Outcomes.Outcome<FileToUpload>>, projectId: string) =>
  Effect.flatMap(Output, ({ note }) => {
    const count = outcomes.filter(hasEntry).length
    return note(
      `${count.toLocaleString("en")} ${count === 1 ? "file is an entry" : "files are entries"} of ${projectId}`
    )
  })

const tellLeft = (left: number) =>
  Effect.flatMap(
    Output,
    (output) =>
      Effect.when(output.note(`Left out ${left.toLocaleString("en")} that the options exclude`), () => left > 0)
  )

// Initiate and Complete, and perhaps the import: the bytes go to storage, whose requests are not limited
const callsPerFile = ({ into }: Options): number => Option.isSome(into) ? 3 : 2

// The checks of the run, before its first request
const planned = (files: ReadonlyArray<FileToUpload>, run: Run, options: Options) =>
  Effect.gen(function*() {
    if (Option.isSome(options.report)) yield* ReportFile.check(options.report.value)
    const { fresh, known } = yield* UploadRun.recognizeAll(files, run)
    yield* Effect.forEach(known, (one) => run.tell(UploadRun.skippedAs(one)), { discard: true })
    const checked = yield* Effect.forEach(fresh, (file) =>
      Effect.map(UploadRun.problemOf(file, run), (problem) => ({ file, problem })), { concurrency: 8 })
    const wrong = checked.flatMap(({ file, problem }) =>
      Option.isSome(problem) ? [{ _tag: "Failed" as const, input: file, error: problem.value }] : []
    )
    yield* Effect.forEach(wrong, run.tell, { discard: true })
    const right = checked.flatMap(({ file, problem }) =>
      Option.isNone(problem) ? [file] : []
    )
    yield* DryRun.tell({ files: right, calls: callsPerFile(options), known: known.length }, options.json)
    if (wrong.length > 0) {
      yield* Outcomes.failureOf(wrong.map(({ error }) => error), { files: files.length, notTried: 0 })
    }
  })

const uploadAll = (chosen: Choosing.Chosen, options: Options) =>
  Effect.gen(function*() {
    const { files, skipped } = chosen
    const { heard, ofAll: refusal, service } = LastingRefusals.make<FileError>(
      yield* ServiceApi,
      (directory) => new SourceUnreadable({ fileName: directory, reason: "Failed" })
    )
    const manifest = yield* Manifest.make(service.baseUrl)
    const report = yield* ReportFile.make(options.dryRun ? Option.none() : options.report, files)
    const outcomes = Outcomes.make(files, ({ path }) => ({ path }))
    const reporter = yield* Reporter.make(outcomes, { ...options, move: "upload", report })
    const run: Run = {
      service: service.baseUrl,
      given: options,
      upload: uploadOptions(options),
      limits: service.profile.limits,
      watch: yield* UploadWatch.make(files, options.json, yield* CallsLeft.make(callsPerFile(options))),
      manifest,
      slots: yield* Effect.makeSemaphore(options.files),
      turns: new Map(),
      sourceHeaders: yield* Selection.sourceHeaders(options.sourceHeaders, files, options.allowInsecureHttp),
      refusal,
      heard: (outcome) =>
        outcome._tag === "Failed"
          ? heard(Option.some(outcome.error), outcome.input.within)
          : Effect.when(heard(Option.none()), () => outcome._tag === "Done"),
      tell: reporter.tell
    }
    for (const { path, reason } of skipped) {
      yield* reporter.tell({ _tag: "Skipped", input: undefined, path, reason, fileId: Option.none() })
    }
    if (options.dryRun) return yield* planned(files, run, options)
    yield* UploadRun.uploadAll(files, run).pipe(
      Effect.provideService(ServiceApi, service),
      Effect.onInterrupt(() =>
        Effect.zipRight(
          Effect.suspend(() => tellStopped(files.length, outcomes.counts(), !options.noResume)),
          Effect.when(reporter.stopped, () => options.json || outcomes.counts().failed > 0)
        )
      )
    )
    yield* Effect.transposeMapOption(options.into, (projectId) => tellEntries(outcomes.all(), projectId))
    yield* reporter.end
  })

// What an earlier run wrote there is no file to upload
const withoutReport = (chosen: Choosing.Chosen, report: Options["report"]) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const own = yield* Effect.option(Effect.flatMap(report, fs.realPath))
    return { ...chosen, files: chosen.files.filter(({ real }) => !Option.contains(own, real)) }
  })

/**
 * Uploads the files that are chosen, and fails at the end if one was not uploaded: with whichever service and storage.
 */
export const program = (options: Options) =>
  Effect.gen(function*() {
    const chosen = yield* withoutReport(yield* Selection.select(options), options.report)
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
      Throttle.layer("upload", options.limitRate)
    ])
  )
