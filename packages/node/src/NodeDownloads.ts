/**
 * Downloads to disk: a file is there whole and under its name, or not at all.
 *
 * @since 0.1.0
 */
import type { Checksum } from "@stevedore/core/Checksum"
import type { DownloadError } from "@stevedore/core/DownloadError"
import * as Downloads from "@stevedore/core/Downloads"
import { atLeastOne } from "@stevedore/core/UploadOptions"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import type { DownloadTargetError } from "./DownloadTargetError.js"
import { TargetExists } from "./DownloadTargetError.js"
import * as Comparison from "./internal/comparison.js"
import * as FileTransfer from "./internal/fileTransfer.js"
import * as PartFile from "./internal/partFile.js"
import * as PartJournal from "./internal/partJournal.js"
import * as PartLock from "./internal/partLock.js"

/**
 * How a file is downloaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Whether a file of that name is replaced, by one with the same permissions; what is no file never is. Omitted: it is
   * not, `TargetExists`.
   */
  readonly overwrite?: boolean | undefined
  /**
   * Whether what has come is kept, beside the target, when the download fails or is interrupted: the next one goes on
   * from there if storage still has the same file. It is kept in whole ranges of `partSize`, where the storage gives
   * ranges and a strong etag. While another one of the same file to the same path is under way, this one goes by itself
   * and keeps nothing. Omitted: nothing is left behind.
   */
  readonly keep?: boolean | undefined
  /** Told at the end of a download that failed or was interrupted and has left something to go on from. */
  readonly onKept?: (() => void) | undefined
  /** What the size should be, in bytes, such as the record's: another is `DownloadIncomplete`. */
  readonly size?: number | undefined
  /**
   * What the bytes are compared with while they are written, such as the `sent.checksum` of the upload: others are
   * `DownloadCorrupted`. Ranges are hashed one by one and their values combined; where the algorithm cannot combine, as
   * SHA-256, a file that came in several is read once more from disk. Omitted: what the storage tells with the whole
   * file, if it does.
   */
  readonly checksum?: Checksum | undefined
  /** How many ranges at the same time, where the storage gives ranges. Omitted: 4. */
  readonly concurrency?: number | undefined
  /** The size of such a range, in bytes. Omitted: 16 MiB. */
  readonly partSize?: number | undefined
  /** Told with each chunk how many bytes of the file are there, of how many where it is known. */
  readonly onProgress?: ((received: number, size: Option.Option<number>) => void) | undefined
}

/**
 * A file that is on disk.
 *
 * @since 0.1.0
 * @category models
 */
export interface DownloadedFile {
  readonly fileId: string
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** Where the storage told it. */
  readonly etag: Option.Option<string>
  /** What the bytes were compared with, where there was something. */
  readonly checksum: Option.Option<Checksum>
}

/**
 * Downloads a file to a path. It is written beside it and takes its name when it is whole and on disk; until then
 * nothing is there, and whatever was there before is untouched. Interruption and failure leave nothing behind, unless
 * it is to be kept.
 *
 * @example
 * import { NodeDownloads } from "@stevedore/node"
 *
 * const saved = NodeDownloads.toFile("1kf00nQk9yfWKfsTDni8aO", "interview.mp4")
 * const stubborn = NodeDownloads.toFile("1kf00nQk9yfWKfsTDni8aO", "interview.mp4", { overwrite: true, keep: true })
 *
 * @since 0.1.0
 * @category downloads
 */
export const toFile = (
  fileId: string,
  path: string,
  options: Options = {}
): Effect.Effect<DownloadedFile, DownloadError | DownloadTargetError, Downloads.Requirements> =>
  Effect.gen(function*() {
    const overwrite = options.overwrite ?? false
    const wanted = yield* Comparison.wanted(fileId, options.checksum)
    yield* PartFile.checkPlace(path)
    if (!overwrite && (yield* PartFile.exists(path))) return yield* new TargetExists({ path })
    const kept = keptPath(fileId, path)
    const keep = options.keep === true && (yield* PartLock.take(kept, path))
    const part = keep ? kept : yield* freshPath(path)
    const journal = PartJournal.pathOf(part)
    const { concurrency, onKept, onProgress, partSize, size } = options
    const file = yield* PartFile.open(part, path, { keep, onKept, overwrite, worth: PartFile.exists(journal) })
    const whole = yield* FileTransfer.run({
      fileId,
      file,
      keep,
      wanted,
      download: yield* Downloads.open(fileId),
      size: Option.fromNullable(size),
      concurrency: atLeastOne(concurrency, 4),
      partSize: atLeastOne(partSize, 16_777_216),
      onProgress
    })
    // to the end also when it is interrupted: a file that is there has nothing that is kept
    yield* Effect.uninterruptible(
      Effect.zipRight(PartFile.commit(file, { overwrite }), keep ? PartFile.remove(journal) : Effect.void)
    )
    return { fileId, path, ...whole }
  }).pipe(
    Effect.scoped,
    Effect.withSpan("NodeDownloads.toFile", { captureStackTrace: false, attributes: { fileId } })
  )

// Beside the target, since a rename does not lead to another disk.
const partPath = (path: string, own: string): string => join(dirname(path), `.stevedore-${own}.part`)

const freshPath = (path: string): Effect.Effect<string> =>
  Effect.map(
    Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER),
    (number) => partPath(path, number.toString(36))
  )

// Found again by its name.
const keptPath = (fileId: string, path: string): string =>
  partPath(path, createHash("sha256").update(`${basename(path)}\0${fileId}`).digest("hex").slice(0, 24))

/**
 * A file and where it goes.
 *
 * @since 0.1.0
 * @category models
 */
export interface DownloadTarget {
  readonly fileId: string
  readonly path: string
  /** As of {@link Options}. */
  readonly size?: number | undefined
  /** As of {@link Options}. */
  readonly checksum?: Checksum | undefined
}

/**
 * How one of several downloads ended.
 *
 * @since 0.1.0
 * @category models
 */
export type DownloadOutcome =
  | { readonly _tag: "Downloaded"; readonly target: DownloadTarget; readonly file: DownloadedFile }
  | {
    readonly _tag: "Failed"
    readonly target: DownloadTarget
    readonly error: DownloadError | DownloadTargetError
  }

/**
 * How several files are downloaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface AllOptions extends Omit<Options, "size" | "checksum" | "onKept" | "onProgress"> {
  /** How many files at the same time. Omitted: 3. */
  readonly files?: number | undefined
}

/**
 * Downloads several files. One that fails does not stop the others; the outcomes come in the order of their end.
 *
 * @example
 * import { NodeDownloads } from "@stevedore/node"
 * import { Effect, Stream } from "effect"
 *
 * const all = Stream.make({ fileId: "1kf00nQk9yfWKfsTDni8aO", path: "interview.mp4" }).pipe(
 *   NodeDownloads.downloadAll,
 *   Stream.runForEach((outcome) => Effect.log(outcome.target.path, outcome._tag))
 * )
 *
 * @since 0.1.0
 * @category downloads
 */
export const downloadAll = <E, R>(
  targets: Stream.Stream<DownloadTarget, E, R>,
  options: AllOptions = {}
): Stream.Stream<DownloadOutcome, E, R | Downloads.Requirements> =>
  Stream.mapEffect(
    targets,
    (target) =>
      Effect.match(toFile(target.fileId, target.path, { ...options, size: target.size, checksum: target.checksum }), {
        onFailure: (error): DownloadOutcome => ({ _tag: "Failed", target, error }),
        onSuccess: (file): DownloadOutcome => ({ _tag: "Downloaded", target, file })
      }),
    { concurrency: atLeastOne(options.files, 3), unordered: true }
  )

/**
 * {@link downloadAll} with options, for a pipe.
 *
 * @example
 * import { NodeDownloads } from "@stevedore/node"
 * import { Stream } from "effect"
 *
 * const outcomes = (targets: Iterable<NodeDownloads.DownloadTarget>) =>
 *   Stream.fromIterable(targets).pipe(NodeDownloads.downloadAllWith({ overwrite: true }), Stream.runCollect)
 *
 * @since 0.1.0
 * @category downloads
 */
export const downloadAllWith =
  (options: AllOptions) =>
  <E, R>(targets: Stream.Stream<DownloadTarget, E, R>): Stream.Stream<DownloadOutcome, E, R | Downloads.Requirements> =>
    downloadAll(targets, options)
