/** Downloads to disk: a file appears complete under its name, or not at all. */
import type { Checksum } from "@stevedore/core/Checksum"
import type { DownloadError } from "@stevedore/core/DownloadError"
import * as Downloads from "@stevedore/core/Downloads"
import { atLeastOne } from "@stevedore/core/UploadOptions"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import type { DownloadTargetError } from "./DownloadTargetError.js"
import { TargetExists } from "./DownloadTargetError.js"
import * as Comparison from "./parts/comparison.js"
import * as Target from "./parts/downloadTarget.js"
import * as FileTransfer from "./parts/fileTransfer.js"
import * as PartFile from "./parts/partFile.js"
import * as PartJournal from "./parts/partJournal.js"
import * as PartLeftovers from "./parts/partLeftovers.js"
import * as PartLock from "./parts/partLock.js"

/**
 * How a file is downloaded.
 *
 * @category models
 */
export interface Options {
  /**
   * Whether to replace an existing file. The new one gets the same permissions. Anything other than a file is never
   * replaced. What cannot be replaced as a whole (a mount point, an immutable file, another user's file in a directory
   * like `/tmp`) fails with `TargetUnwritable` before any request. By default, an existing file is not replaced and the
   * download fails with `TargetExists`.
   */
  readonly overwrite?: boolean | undefined
  /**
   * Whether to keep the downloaded bytes, beside the target, if the download fails or is interrupted. The next download
   * continues from there if storage still has the same file. Bytes are kept in whole ranges of `partSize`, if the
   * storage supports ranges and strong etags. While another download of the same file to the same path is running, this
   * one proceeds independently and keeps nothing. By default, nothing is left behind.
   */
  readonly keep?: boolean | undefined
  /** Called at the end of a download that failed or was interrupted and has left something to continue from. */
  readonly onKept?: (() => void) | undefined
  /** Called once the file has its name. An interruption as late as that comes too late to stop the download. */
  readonly onSaved?: (() => void) | undefined
  /**
   * The expected size in bytes, such as the record's: a different size fails with `DownloadIncomplete`. Without it, a
   * file from a server that declares no length ends where its connection does: one that was cut looks complete. Node
   * cannot distinguish the two over TLS either.
   */
  readonly size?: number | undefined
  /**
   * The checksum to compare the bytes with while they are written, such as the `sent.checksum` of the upload. A
   * mismatch fails with `DownloadCorrupted`. Ranges are hashed separately and their values combined. If the algorithm
   * cannot combine, as with SHA-256, a file that arrived in several ranges is read once more from disk. Defaults to the
   * checksum that storage sends with the whole file, if it does.
   */
  readonly checksum?: Checksum | undefined
  /**
   * As `checksum`, such as that of the record: one that cannot be computed here is not compared.
   */
  readonly reported?: Checksum | undefined
  /** How many ranges to download at once, if the storage supports ranges. Defaults to 4. */
  readonly concurrency?: number | undefined
  /** The size of such a range, in bytes. Defaults to 16 MiB. */
  readonly partSize?: number | undefined
  /** Called with each chunk: the number of bytes that have arrived, and the file's size if it is known. */
  readonly onProgress?: ((received: number, size: Option.Option<number>) => void) | undefined
}

/**
 * A file that has been saved to disk.
 *
 * @category models
 */
export interface DownloadedFile {
  readonly fileId: string
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** If storage sent one. */
  readonly etag: Option.Option<string>
  /** What the bytes were compared with, if anything. */
  readonly checksum: Option.Option<Checksum>
}

/**
 * Whether a file can be downloaded to a path, before anything is requested: {@link toFile} checks the same first.
 *
 * @category validation
 */
export const checkTarget = (
  path: string,
  options: Pick<Options, "overwrite"> = {}
): Effect.Effect<void, DownloadTargetError> =>
  Effect.gen(function*() {
    yield* Target.checkPlace(path)
    if (options.overwrite !== true && (yield* Target.exists(path))) yield* new TargetExists({ path })
    yield* Target.checkDirectory(path)
    if (options.overwrite === true) yield* Target.checkReplaceable(path)
  })

/**
 * Downloads a file to a path. It is written beside the target and gets its name once it is complete and synced to disk.
 * Until then nothing appears there, and an existing file stays untouched. Interruption and failure leave nothing
 * behind, unless `keep` is set. What a killed process left behind is removed a day later, by the next download to the
 * same directory.
 *
 * @example
 * import { NodeDownloads } from "@stevedore/node"
 *
 * const saved = NodeDownloads.toFile("1kf00nQk9yfWKfsTDni8aO", "interview.mp4")
 * const stubborn = NodeDownloads.toFile("1kf00nQk9yfWKfsTDni8aO", "interview.mp4", { overwrite: true, keep: true })
 *
 * @category downloads
 */
export const toFile = (
  fileId: string,
  path: string,
  options: Options = {}
): Effect.Effect<DownloadedFile, DownloadError | DownloadTargetError, Downloads.Requirements> =>
  Effect.gen(function*() {
    const overwrite = options.overwrite ?? false
    const { checksum, reported } = options
    const wanted = checksum === undefined && reported !== undefined
      ? yield* Comparison.reportedChecksum({ [reported.algorithm]: reported.value })
      : yield* Comparison.wanted(fileId, checksum)
    yield* checkTarget(path, { overwrite })
    yield* PartLeftovers.sweep(dirname(path))
    const kept = keptPath(fileId, path)
    const lock = options.keep === true ? yield* PartLock.take(kept, path) : Option.none<PartLock.IsHeld>()
    const keep = Option.isSome(lock)
    const part = keep ? kept : yield* freshPath(path)
    const journal = PartJournal.pathOf(part)
    const { concurrency, onKept, onProgress, onSaved, partSize, size } = options
    const file = yield* PartFile.open(part, path, {
      keep,
      onKept,
      overwrite,
      worth: Target.exists(journal),
      isHeld: Option.getOrUndefined(lock)
    })
    const whole = yield* FileTransfer.run({
      fileId,
      file,
      keep,
      wanted,
      download: yield* Downloads.open(fileId, { size }),
      size: Option.fromNullable(size),
      concurrency: atLeastOne(concurrency, 4),
      partSize: atLeastOne(partSize, 16_777_216),
      onProgress
    })
    // even if interrupted: a file that is in place has no kept bytes
    yield* PartFile.commit(file, { overwrite }).pipe(
      Effect.zipRight(keep ? PartFile.remove(journal) : Effect.void),
      Effect.zipRight(Effect.sync(() => onSaved?.())),
      Effect.uninterruptible
    )
    return { fileId, path, ...whole }
  }).pipe(
    Effect.scoped,
    Effect.withSpan("NodeDownloads.toFile", { captureStackTrace: false, attributes: { fileId } })
  )

// Beside the target, because a rename cannot move a file to another disk.
const partPath = (path: string, own: string): string => join(dirname(path), `.stevedore-${own}.part`)

const freshPath = (path: string): Effect.Effect<string> =>
  Effect.map(
    Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER),
    (number) => partPath(path, PartLeftovers.ownName(number.toString(36)))
  )

// A stable name, so that the next download finds it.
const keptPath = (fileId: string, path: string): string =>
  partPath(path, createHash("sha256").update(`${basename(path)}\0${fileId}`).digest("hex").slice(0, 24))

/**
 * Removes what {@link toFile} has kept of a file, unless a download still writes to it.
 *
 * @internal
 */
export const discard = (fileId: string, path: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    const part = keptPath(fileId, path)
    if (Option.isNone(yield* PartLock.take(part, path))) return
    yield* PartFile.remove(part)
    yield* PartFile.remove(PartJournal.pathOf(part))
  }).pipe(Effect.scoped, Effect.ignore)

/**
 * A file and its target path.
 *
 * @category models
 */
export interface DownloadTarget {
  readonly fileId: string
  readonly path: string
  /** As in {@link Options}. */
  readonly size?: number | undefined
  /** As in {@link Options}. */
  readonly checksum?: Checksum | undefined
  /** As in {@link Options}. */
  readonly reported?: Checksum | undefined
}

/**
 * The outcome of one of several downloads.
 *
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
 * @category models
 */
export interface AllOptions
  extends Omit<Options, "size" | "checksum" | "reported" | "onKept" | "onSaved" | "onProgress">
{
  /** How many files to download at once. Defaults to 3. */
  readonly files?: number | undefined
}

/**
 * Downloads several files. One failure does not stop the others. The outcomes arrive in the order in which the
 * downloads end.
 *
 * @example
 * import { NodeDownloads } from "@stevedore/node"
 * import { Effect, Stream } from "effect"
 *
 * const all = Stream.make({ fileId: "1kf00nQk9yfWKfsTDni8aO", path: "interview.mp4" }).pipe(
 *   NodeDownloads.downloadAll(),
 *   Stream.runForEach((outcome) => Effect.log(outcome.target.path, outcome._tag))
 * )
 *
 * @category downloads
 */
export const downloadAll: {
  (
    options?: AllOptions
  ): <E, R>(targets: Stream.Stream<DownloadTarget, E, R>) => Stream.Stream<
    DownloadOutcome,
    E,
    R | Downloads.Requirements
  >
  <E, R>(
    targets: Stream.Stream<DownloadTarget, E, R>,
    options?: AllOptions
  ): Stream.Stream<DownloadOutcome, E, R | Downloads.Requirements>
} = /* #__PURE__ */ dual(
  ([targets]) => Predicate.hasProperty(targets, "pipe"),
  <E, R>(
    targets: Stream.Stream<DownloadTarget, E, R>,
    options: AllOptions = {}
  ): Stream.Stream<DownloadOutcome, E, R | Downloads.Requirements> =>
    Stream.mapEffect(
      targets,
      (target) =>
        Effect.match(toFile(target.fileId, target.path, { ...options, ...target }), {
          onFailure: (error): DownloadOutcome => ({ _tag: "Failed", target, error }),
          onSuccess: (file): DownloadOutcome => ({ _tag: "Downloaded", target, file })
        }),
      { concurrency: atLeastOne(options.files, 3), unordered: true }
    )
)
