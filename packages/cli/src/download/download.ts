/** `stevedore download`: downloads a file, whole or not at all. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Measure from "@stevedore/core/parts/measure"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import { safeName } from "@stevedore/node/SafeName"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Configuration from "../connection/configuration.js"
import * as Throttle from "../connection/throttle.js"
import * as Reporter from "../files/reporter.js"
import { again } from "../options/commandWords.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import { expectedBy, type Options } from "./options.js"
import * as DownloadWatch from "./watch.js"

type One = Options & { readonly fileId: string }

const connected = (options: Options) =>
  Layer.provide(Configuration.layer(options), Throttle.layer("download", options.limitRate))

const isDirectory = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)).pipe(
    Effect.match({ onFailure: () => false, onSuccess: ({ type }) => type === "Directory" })
  )

const checkOutput = (output: string): Effect.Effect<void, InvalidInput> => {
  const refused = (problem: string) => invalid("--output", problem)
  if (output === "") return refused("it is empty: is a variable not set?")
  return output === "-"
    ? refused(
      "cannot be standard output, because only a complete file is ever written: give a path, or ./- for a file named -"
    )
    : Effect.void
}

const recordOf = (fileId: string) => Effect.flatMap(ServiceApi, (service) => service.file(fileId))

// The download may succeed all the same, and a user who cannot fix the record needs a way to try it
const tellWayOut = ({ _tag }: ServiceError) =>
  Effect.when(
    Effect.flatMap(Output, (output) =>
      output.warn("Cannot read the record of the file, which has its size: --any-size downloads without it")),
    () =>
      _tag === "Forbidden" || _tag === "InvalidResponse"
  )

// Whoever uploaded the file chose its name: it is made safe, so that it cannot lead anywhere else.
const targetOf = ({ anySize, fileId, output, overwrite }: One) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    if (Option.isSome(output)) yield* checkOutput(output.value)
    if (Option.isSome(output) && !(yield* isDirectory(output.value))) {
      yield* NodeDownloads.checkTarget(output.value, { overwrite })
      const record = anySize ? undefined : yield* Effect.tapError(recordOf(fileId), tellWayOut)
      return { path: output.value, ...expectedBy(anySize, record) }
    }
    const record = yield* recordOf(fileId)
    return {
      path: path.join(Option.getOrElse(output, () => "."), safeName(record.name ?? fileId)),
      ...expectedBy(anySize, record)
    }
  })

const tellHowToGoOn = Effect.gen(function*() {
  const output = yield* Output
  yield* output.warn(`The partial download is kept. To resume:\n  ${yield* again}`)
})

const tellSaved = (path: string) =>
  Effect.flatMap(Output, (output) => output.warn(`${Printable.line(path)} is complete, and in its place.`))

type Target = Omit<NodeDownloads.DownloadTarget, "fileId">

const withProgress = ({ path, ...known }: Target, { fileId, keep, overwrite }: One, onSaved: () => void) =>
  Effect.gen(function*() {
    const during = yield* DownloadWatch.make(1, () => ({ done: 0, there: 0, failed: 0, notTried: 1 }))
    let kept = false
    const onKept = () => {
      kept = true
    }
    return yield* during(
      path,
      (onProgress) => NodeDownloads.toFile(fileId, path, { ...known, overwrite, keep, onKept, onSaved, onProgress })
    ).pipe(
      Effect.onError(() => Effect.when(tellHowToGoOn, () => kept))
    )
  }).pipe(Effect.scoped)

/** Downloads one file to a path, or several into a directory. */
export const runAny = (options: Options) =>
  Effect.gen(function*() {
    const { directory, fileIds: [fileId, ...others], filesFrom, output } = options
    const isOne = others.length === 0 && Option.isNone(filesFrom) && Option.isNone(directory)
    if (isOne && fileId === undefined) {
      return yield* invalid("FILE_ID", "give the id of a file, or a list with --files-from")
    }
    if (isOne && fileId !== undefined) {
      return yield* run({ ...options, fileId })
    }
    if (Option.isSome(output)) return yield* invalid("--output", "it names a single file: give --directory for several")
    const many = yield* Effect.promise(() => import("./many.js"))
    yield* Effect.provide(many.run(options), connected(options))
  })

/** Downloads a file. The file is there at the end, so a reader of the report that went away is not a failure. */
export const run = (options: One) =>
  Effect.gen(function*() {
    const output = yield* Output
    const startedAt = yield* Clock.currentTimeMillis
    const target = yield* targetOf(options)
    let saved = false
    const onSaved = () => {
      saved = true
    }
    const report = Effect.gen(function*() {
      const { fileId, path, size } = yield* withProgress(target, options, onSaved)
      const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
      yield* options.json
        ? output.json([Reports.downloaded({ fileId, path, bytes: size, took })])
        : Table.print(Reporter.resultColumns, [[fileId, path]], { header: false })
      yield* output.note(
        `Downloaded ${Printable.line(path)}: ${Measure.bytes(size)} in ${Measure.duration(took)}${
          Measure.pace(size, took)
        }`
      )
    })
    yield* Effect.onError(report, () => Effect.when(tellSaved(target.path), () => saved))
  }).pipe(Effect.provide(connected(options)))
