/**
 * `stevedore download` of several files: into one directory, several concurrently; one failure does not stop the rest.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Measure from "@stevedore/core/parts/measure"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import { safeName } from "@stevedore/node/SafeName"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as FilesFrom from "../files/filesFrom.js"
import * as LastingRefusals from "../files/lastingRefusals.js"
import * as Standings from "../files/standings.js"
import { readWithin } from "../files/stopped.js"
import * as UploadSummary from "../files/summary.js"
import { resultColumns } from "../files/telling.js"
import { invalid } from "../options/invalidInput.js"
import * as ExitCode from "../print/exitCode.js"
import { messageOf } from "../print/message.js"
import { Output, OutputFailed, unlessClosed } from "../print/output.js"
import * as PlatformWords from "../print/platformWords.js"
import * as Printable from "../print/printable.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import * as UploadReports from "../print/uploadReports.js"
import * as DownloadIndex from "./downloaded.js"
import type { Options } from "./options.js"
import * as DownloadWatch from "./watch.js"

/** Some files were not downloaded. Each failure was already printed. */
export class DownloadsFailed extends Schema.TaggedError<DownloadsFailed>("@stevedore/cli/DownloadsFailed")(
  "DownloadsFailed",
  { kind: ErrorKind.field("refused"), failed: Schema.Int, files: Schema.Int, unauthorized: Schema.Boolean }
) {
  get exitCode(): number {
    return this.unauthorized ? ExitCode.unauthorized : ExitCode.failed
  }
  override get message(): string {
    return `${this.failed} of ${this.files} ${this.files === 1 ? "file" : "files"} failed. ` +
      "Fix the errors above and run the command again: it skips what is already there."
  }
}

interface Wanted {
  readonly fileId: string
  /** The name that the list gives it. */
  readonly given: Option.Option<string>
}

const wanted = ({ fileIds, filesFrom, nul }: Options) =>
  Effect.gen(function*() {
    const rows = yield* Option.match(filesFrom, {
      onNone: () => Effect.succeed([]),
      onSome: (file) => FilesFrom.read(file, { input: "--files-from", nul, first: ["fileid", "id", "file"] })
    })
    const all = [
      ...fileIds.map((fileId): Wanted => ({ fileId, given: Option.none() })),
      ...rows.map(({ name, what }): Wanted => ({ fileId: what, given: name }))
    ]
    // under two names it is wanted twice
    return [...new Map(all.map((one) => [JSON.stringify([one.fileId, Option.getOrNull(one.given)]), one])).values()]
  })

interface Place extends Wanted {
  readonly name: string
  readonly wanted: string
  readonly path: string
  readonly size: number | undefined
}

type FileError = Reports.KnownError

const summaryOf = (
  files: number,
  counts: { readonly downloaded: number; readonly bytes: number },
  { failed, notTried, there }: Standings.Counts,
  took: Duration.Duration
) => ({
  type: "summary",
  files,
  downloaded: counts.downloaded,
  skipped: there,
  failed,
  notTried,
  bytes: counts.bytes,
  seconds: Math.round(Duration.toMillis(took)) / 1000
})

/**
 * Downloads the files. One that an earlier command has saved there, and that is as it was, is skipped, unless it is to be
 * replaced.
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const startedAt = yield* Clock.currentTimeMillis
    const directory = Option.getOrElse(options.directory, () => ".")
    const all = yield* wanted(options)
    if (all.length === 0) return yield* output.note("Nothing to download")
    const fs = yield* FileSystem.FileSystem
    yield* Effect.mapError(fs.makeDirectory(directory, { recursive: true }), (error) =>
      invalid("--directory", PlatformWords.describe("create", directory)(error)))
    const { heard, ofAll: refusal, service } = LastingRefusals.make<FileError>(yield* ServiceApi)
    const told = new Set<unknown>()
    const index = yield* DownloadIndex.open(service.baseUrl, directory)
    const nameOf = DownloadIndex.makeNames({
      known: index.known,
      isThere: (name) =>
        existsSync(join(directory, name)),
      overwrite: options.overwrite
    })
    const standings = Standings.make(all)
    const counts = { downloaded: 0, bytes: 0 }
    const failures: UploadSummary.Tally["failures"] = new Map()
    const watch = yield* DownloadWatch.make(all.length, () => standings.counts())

    // a line of a command that is stopped meanwhile is written and counted, or neither
    const settled = (
      file: Wanted,
      standing: Standings.Standing,
      line: object,
      inWords: Effect.Effect<void, OutputFailed, Output>,
      also?: () => void
    ) => {
      const count = () => {
        standings.settle(file, standing)
        also?.()
      }
      return unlessClosed(
        options.json ? output.json([line], count) : Effect.zipRight(Effect.sync(count), inWords)
      )
    }

    const failed = (file: Wanted, error: FileError) =>
      Effect.gen(function*() {
        UploadSummary.addFailure(failures, file.fileId, error)
        // what applies to every file is told once, and whoever reads a terminal has the reason at the end
        if (!told.has(error)) {
          const isShort = all.length > 1 && Option.isSome(yield* output.terminal)
          yield* output.warn(`${Printable.line(file.fileId)}: ${isShort ? error._tag : messageOf(error)}`)
        }
        told.add(error)
        yield* settled(file, { _tag: "Failed", error }, Reports.notDownloaded(file.fileId, error), Effect.void)
      })

    const result = ({ fileId, path }: Place) => Table.print(resultColumns, [[fileId, path]], { header: false })

    const skipped = (file: Wanted, place: Place) =>
      settled(
        file,
        { _tag: "There" },
        UploadReports.skipped(place.path, "there", Option.some(place.fileId)),
        Effect.asVoid(Effect.when(result(place), () => options.verbose))
      )

    const fetched = (file: Wanted, place: Place) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        const { fileId, path, size } = yield* watch.during(place.path, (onProgress) =>
          NodeDownloads.toFile(place.fileId, place.path, {
            size: options.anySize ? undefined : place.size,
            overwrite: options.overwrite,
            keep: options.keep,
            onProgress
          }))
        yield* Effect.uninterruptible(index.add(place))
        yield* heard(Option.none())
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        yield* settled(
          file,
          { _tag: "Done" },
          Reports.downloaded({ fileId, path, bytes: size, took }),
          result(place),
          () => {
            counts.downloaded += 1
            counts.bytes += size
          }
        )
      })

    // in the order of the list, so that the same command gives the same names
    const turn = yield* Effect.makeSemaphore(1)
    const placed = ({ fileId, given }: Wanted) =>
      Effect.map(service.file(fileId), (record): Place => {
        const wanted = safeName(Option.getOrElse(given, () => record.name ?? fileId))
        const name = nameOf(wanted, fileId)
        return { fileId, given, name, wanted, path: join(directory, name), size: record.size ?? undefined }
      })
    const tried = (file: Wanted) =>
      Effect.gen(function*() {
        const place = yield* turn.withPermits(1)(placed(file))
        const isThere = !options.overwrite &&
          (yield* index.has(place.name, place.fileId, options.anySize ? undefined : place.size))
        yield* isThere ? skipped(file, place) : fetched(file, place)
      })
    const one = (file: Wanted) =>
      Effect.flatMap(refusal, Option.match({ onNone: () => tried(file), onSome: (error) => Effect.fail(error) })).pipe(
        Effect.catchAll((error) =>
          error instanceof OutputFailed
            ? Effect.fail(error)
            : Effect.zipRight(heard(Option.some(error)), failed(file, error))
        )
      )
    const tellEnd = Effect.gen(function*() {
      const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
      const standing = standings.counts()
      if (options.json) {
        yield* output.json(standings.notTried().map(({ fileId }) => UploadReports.notTried({ fileId })))
        return yield* output.json([summaryOf(all.length, counts, standing, took)])
      }
      yield* output.note(
        `Downloaded ${counts.downloaded} of ${all.length} files: ${Measure.bytes(counts.bytes)} in ${
          Measure.duration(took)
        }${Measure.pace(counts.bytes, took)}${standing.there === 0 ? "" : `; ${standing.there} were already there`}${
          standing.notTried === 0 ? "" : `; ${standing.notTried} were not tried`
        }`
      )
    })
    yield* Effect.forEach(all, one, { concurrency: options.files, discard: true }).pipe(
      Effect.onInterrupt(() => Effect.zipRight(watch.end, readWithin(tellEnd)))
    )
    yield* watch.end
    if (all.length > 1) yield* Effect.forEach(UploadSummary.failureLines({ failures }), output.warn, { discard: true })
    yield* unlessClosed(tellEnd)
    const exitCode = standings.exitCode()
    if (exitCode !== ExitCode.ok) {
      yield* new DownloadsFailed({
        failed: standings.counts().failed,
        files: all.length,
        unauthorized: exitCode === ExitCode.unauthorized
      })
    }
  }).pipe(Effect.scoped)
