/**
 * `stevedore download` of several files: into one directory, several concurrently; one failure does not stop the rest.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import { safeName } from "@stevedore/node/SafeName"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { extname, join } from "node:path"
import * as ExitCode from "./ExitCode.js"
import * as FilesFrom from "./FilesFrom.js"
import * as DownloadWatch from "./internal/downloadWatch.js"
import * as LastingRefusals from "./internal/lastingRefusals.js"
import { messageOf } from "./internal/message.js"
import * as PlatformWords from "./internal/platformWords.js"
import { resultColumns } from "./internal/telling.js"
import { InvalidInput } from "./InvalidInput.js"
import * as Measure from "./Measure.js"
import { Output } from "./Output.js"
import * as Printable from "./Printable.js"
import * as Reports from "./Reports.js"
import * as Table from "./Table.js"
import * as UploadReports from "./UploadReports.js"
import * as UploadSummary from "./UploadSummary.js"

/**
 * The options of the command.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly fileIds: ReadonlyArray<string>
  /** A list of ids, with names if it has any. */
  readonly filesFrom: Option.Option<string>
  readonly nul: boolean
  /** Where the files are put. If none: here. */
  readonly directory: Option.Option<string>
  /** The number of concurrent files. */
  readonly files: number
  readonly overwrite: boolean
  readonly anySize: boolean
  readonly keep: boolean
  readonly json: boolean
}

/**
 * Some files were not downloaded. Each failure was already printed.
 *
 * @since 0.1.0
 * @category errors
 */
export class DownloadsFailed extends Schema.TaggedError<DownloadsFailed>("@stevedore/cli/DownloadsFailed")(
  "DownloadsFailed",
  { kind: ErrorKind.field("refused"), failed: Schema.Int, files: Schema.Int, unauthorized: Schema.Boolean }
) {
  /**
   * @since 0.1.0
   */
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
  readonly name: Option.Option<string>
}

const wanted = ({ fileIds, filesFrom, nul }: Options) =>
  Effect.gen(function*() {
    const rows = yield* Option.match(filesFrom, {
      onNone: () => Effect.succeed([]),
      onSome: (file) => FilesFrom.read(file, { input: "--files-from", nul, first: ["fileid", "id", "file"] })
    })
    const all = [
      ...fileIds.map((fileId): Wanted => ({ fileId, name: Option.none() })),
      ...rows.map(({ name, what }): Wanted => ({ fileId: what, name }))
    ]
    return [...new Map(all.map((one) => [one.fileId, one])).values()]
  })

/**
 * The names of files in one directory, in the order in which they are asked for: the first of several with one name gets
 * it, and the others have their id in it. Some file systems ignore case.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeNames = (): (name: string, fileId: string) => string => {
  const taken = new Set<string>()
  const take = (name: string): string => {
    taken.add(name.toLowerCase())
    return name
  }
  return (name, fileId) => {
    const safe = safeName(name)
    if (!taken.has(safe.toLowerCase())) return take(safe)
    const extension = extname(safe)
    return take(safeName(`${safe.slice(0, safe.length - extension.length)}-${fileId}${extension}`))
  }
}

const isThere = (path: string, size: number | undefined) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)).pipe(
    Effect.match({
      onFailure: () => false,
      onSuccess: (info) => info.type === "File" && size !== undefined && Number(info.size) === size
    })
  )

interface Place extends Wanted {
  readonly path: string
  readonly size: number | undefined
}

/**
 * Downloads the files. One that is there with the size of its record is skipped.
 *
 * @since 0.1.0
 * @category programs
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
      new InvalidInput({ input: "--directory", problem: PlatformWords.describe("create", directory)(error) }))
    const { ofAll: refusal, service } = LastingRefusals.make(yield* ServiceApi)
    const told = new Set<unknown>()
    const nameOf = makeNames()
    const counts = { downloaded: 0, skipped: 0, failed: 0, bytes: 0 }
    const failures: UploadSummary.Tally["failures"] = new Map()
    const watch = yield* DownloadWatch.make(all.length, counts)

    const failed = (fileId: string, error: Reports.KnownError) =>
      Effect.gen(function*() {
        counts.failed += 1
        UploadSummary.addFailure(failures, fileId, error)
        // what applies to every file is told once, and whoever reads a terminal has the reason at the end
        if (!told.has(error)) {
          const isShort = all.length > 1 && Option.isSome(yield* output.terminal)
          yield* output.warn(`${Printable.line(fileId)}: ${isShort ? error._tag : messageOf(error)}`)
        }
        told.add(error)
        if (options.json) {
          yield* output.json([Reports.notDownloaded(fileId, error)])
        }
      })

    const skipped = ({ fileId, path }: Place) =>
      Effect.suspend(() => {
        counts.skipped += 1
        return options.json
          ? output.json([UploadReports.skipped(path, "there", Option.some(fileId))])
          : Table.print(resultColumns, [[fileId, path]], { header: false })
      })

    const fetched = (place: Place) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        const { fileId, path, size } = yield* watch.during(place.path, (onProgress) =>
          NodeDownloads.toFile(place.fileId, place.path, {
            size: options.anySize ? undefined : place.size,
            overwrite: options.overwrite,
            keep: options.keep,
            onProgress
          }))
        counts.downloaded += 1
        counts.bytes += size
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        yield* options.json
          ? output.json([Reports.downloaded({ fileId, path, bytes: size, took })])
          : Table.print(resultColumns, [[fileId, path]], { header: false })
      })

    // in the order of the list, so that the same command gives the same names
    const turn = yield* Effect.makeSemaphore(1)
    const placed = ({ fileId, name }: Wanted) =>
      Effect.map(service.file(fileId), (record): Place => ({
        fileId,
        name,
        path: join(
          directory,
          nameOf(
            Option.getOrElse(name, () =>
              record.name ?? fileId),
            fileId
          )
        ),
        size: record.size ?? undefined
      }))
    const one = (file: Wanted) =>
      Effect.gen(function*() {
        const place = yield* turn.withPermits(1)(placed(file))
        yield* (yield* isThere(place.path, place.size)) ? skipped(place) : fetched(place)
      }).pipe(
        Effect.catchIf(
          (error) => error._tag !== "OutputFailed" || !error.closed,
          (error) => error._tag === "OutputFailed" ? Effect.fail(error) : failed(file.fileId, error)
        )
      )
    yield* Effect.forEach(all, one, { concurrency: options.files, discard: true })
    yield* watch.end
    if (all.length > 1) yield* Effect.forEach(UploadSummary.failureLines({ failures }), output.warn, { discard: true })

    const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
    if (options.json) {
      const seconds = Math.round(Duration.toMillis(took)) / 1000
      yield* output.json([{ type: "summary", files: all.length, ...counts, seconds }])
    } else {
      yield* output.note(
        `Downloaded ${counts.downloaded} of ${all.length} files: ${Measure.bytes(counts.bytes)} in ${
          Measure.duration(took)
        }${Measure.pace(counts.bytes, took)}${counts.skipped === 0 ? "" : `; ${counts.skipped} were already there`}`
      )
    }
    if (counts.failed > 0) {
      yield* new DownloadsFailed({
        failed: counts.failed,
        files: all.length,
        unauthorized: Option.exists(yield* refusal, ({ _tag }) => _tag === "Unauthorized")
      })
    }
  }).pipe(Effect.scoped)
