/**
 * `stevedore download` of several files: into one directory, several concurrently; one failure does not stop the rest.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import { safeName } from "@stevedore/node/SafeName"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as FilesFrom from "../files/filesFrom.js"
import * as LastingRefusals from "../files/lastingRefusals.js"
import * as Outcomes from "../files/outcomes.js"
import * as Reporter from "../files/reporter.js"
import { invalid } from "../options/invalidInput.js"
import { OutputFailed } from "../print/output.js"
import * as PlatformWords from "../print/platformWords.js"
import type { KnownError } from "../print/reports.js"
import * as Reports from "../print/reports.js"
import * as DownloadIndex from "./downloaded.js"
import { expectedBy, type Options } from "./options.js"
import * as DownloadWatch from "./watch.js"

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
  readonly expected: ReturnType<typeof expectedBy>
}

/**
 * Downloads the files. One that an earlier command has saved there, and that is as it was, is skipped, unless it is to be
 * replaced.
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const directory = Option.getOrElse(options.directory, () => ".")
    const all = yield* wanted(options)
    const fs = yield* FileSystem.FileSystem
    yield* Effect.mapError(fs.makeDirectory(directory, { recursive: true }), (error) =>
      invalid("--directory", PlatformWords.describe("create", directory)(error)))
    const { heard, ofAll: refusal, service } = LastingRefusals.make<KnownError>(yield* ServiceApi)
    const index = yield* DownloadIndex.open(service.baseUrl, directory)
    const nameOf = DownloadIndex.makeNames({
      known: index.known,
      isThere: (name) =>
        existsSync(join(directory, name)),
      overwrite: options.overwrite
    })
    const outcomes = Outcomes.make(all, ({ fileId }) => ({ fileId }))
    const { end, stopped, tell } = yield* Reporter.make(outcomes, { ...options, move: "download" })
    const fetched = (during: DownloadWatch.During, file: Wanted, place: Place) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        const { fileId, path, size } = yield* during(place.path, (onProgress) =>
          NodeDownloads.toFile(place.fileId, place.path, {
            ...place.expected,
            overwrite: options.overwrite,
            keep: options.keep,
            onProgress
          }))
        yield* Effect.uninterruptible(index.add(place))
        yield* heard(Option.none())
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        yield* tell({
          _tag: "Done",
          input: file,
          path,
          fileId,
          report: Reports.downloaded({ fileId, path, bytes: size, took }),
          took,
          moved: size,
          resumed: 0
        })
      })

    // in the order of the list, so that the same command gives the same names
    const turn = yield* Effect.makeSemaphore(1)
    const placed = ({ fileId, given }: Wanted) =>
      Effect.map(service.file(fileId), (record): Place => {
        const expected = expectedBy(options.anySize, record)
        const wanted = safeName(Option.getOrElse(given, () => record.name ?? fileId))
        const name = nameOf(wanted, fileId)
        return { fileId, given, name, wanted, path: join(directory, name), expected }
      })
    const tried = (during: DownloadWatch.During, file: Wanted) =>
      Effect.gen(function*() {
        const place = yield* turn.withPermits(1)(placed(file))
        const isThere = !options.overwrite &&
          (yield* index.has(place.name, place.fileId, place.expected.size))
        yield* isThere
          ? tell({ _tag: "Skipped", input: file, path: place.path, reason: "there", fileId: Option.some(file.fileId) })
          : fetched(during, file, place)
      })
    const one = (during: DownloadWatch.During) => (file: Wanted) =>
      Effect.flatMap(
        refusal,
        Option.match({ onNone: () => tried(during, file), onSome: (error) => Effect.fail(error) })
      ).pipe(
        Effect.catchAll((error) =>
          error instanceof OutputFailed
            ? Effect.fail(error)
            : Effect.zipRight(heard(Option.some(error)), tell({ _tag: "Failed", input: file, error }))
        )
      )
    yield* DownloadWatch.make(all.length, outcomes.counts).pipe(
      Effect.flatMap((during) => Effect.forEach(all, one(during), { concurrency: options.files, discard: true })),
      Effect.scoped,
      Effect.onInterrupt(() => stopped)
    )
    yield* end
  })
