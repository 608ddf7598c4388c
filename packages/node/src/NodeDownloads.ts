/**
 * Downloads to disk: a file is there whole and under its name, or not at all.
 *
 * @since 0.1.0
 */
import type { DownloadError } from "@stevedore/core/DownloadError"
import { DownloadIncomplete } from "@stevedore/core/DownloadError"
import * as Downloads from "@stevedore/core/Downloads"
import * as RangedContent from "@stevedore/core/RangedContent"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import type { DownloadTargetError, TargetUnwritable } from "./DownloadTargetError.js"
import { TargetExists } from "./DownloadTargetError.js"
import * as PartFile from "./internal/partFile.js"
import * as PartJournal from "./internal/partJournal.js"

/**
 * How a file is downloaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Whether a file of that name is replaced. Omitted: it is not, `TargetExists`. */
  readonly overwrite?: boolean | undefined
  /**
   * Whether what has come is kept, beside the target, when the download fails or is interrupted: the next one goes on
   * from there if storage still has the same file. Omitted: nothing is left behind.
   */
  readonly keep?: boolean | undefined
  /** What the size should be, in bytes, such as the record's: another is `DownloadIncomplete`. */
  readonly size?: number | undefined
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
    if (!overwrite && (yield* PartFile.exists(path))) return yield* new TargetExists({ path })
    const keep = options.keep ?? false
    const part = yield* partPath(fileId, path, keep)
    const journal = PartJournal.pathOf(part)
    const file = yield* PartFile.open(part, path, { keep, worth: PartFile.exists(journal) })
    const transfer = { fileId, file, options, keep, download: yield* Downloads.open(fileId) }
    const kept = keep ? yield* PartJournal.read(file, fileId) : Option.none()
    const { etag, size } = yield* Option.match(kept, {
      onNone: () => fromStart(transfer),
      onSome: (journal) => Effect.catchTag(goOn(transfer, journal), "SourceChanged", () => fromStart(transfer))
    })
    yield* PartFile.commit(file, { overwrite })
    if (keep) yield* PartFile.remove(journal)
    return { fileId, path, size, etag }
  }).pipe(
    Effect.scoped,
    Effect.withSpan("NodeDownloads.toFile", { captureStackTrace: false, attributes: { fileId } })
  )

// Beside the target, since a rename does not lead to another disk. One that is kept must be found again by its name.
const partPath = (fileId: string, path: string, keep: boolean): Effect.Effect<string> =>
  Effect.map(
    keep
      ? Effect.succeed(createHash("sha256").update(`${basename(path)}\0${fileId}`).digest("hex").slice(0, 24))
      : Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (number) => number.toString(36)),
    (own) => join(dirname(path), `.stevedore-${own}.part`)
  )

interface Transfer {
  readonly fileId: string
  readonly file: PartFile.PartFile
  readonly options: Options
  readonly keep: boolean
  readonly download: Downloads.OpenDownload
}

interface Whole {
  readonly size: number
  readonly etag: Option.Option<string>
}

type Failure = DownloadError | TargetUnwritable

const partSizeOf = ({ partSize }: Options): number => Math.max(1, Math.floor(partSize ?? 16_777_216))

const fromStart = (transfer: Transfer): Effect.Effect<Whole, Failure> =>
  Effect.gen(function*() {
    const partSize = partSizeOf(transfer.options)
    if (transfer.keep) yield* PartJournal.forget(transfer.file)
    const first = yield* transfer.download.section({ range: { offset: 0, length: partSize }, orWhole: true })
    const etag = Option.filter(first.etag, RangedContent.isStrong)
    const size = first.totalLength
    yield* checkSize(transfer.fileId, Option.fromNullable(transfer.options.size), size)
    if (first.ranged && Option.isSome(size) && Option.isSome(etag)) {
      const journal = journalOf(transfer, { etag: etag.value, size: size.value, partSize })
      return yield* inParts(transfer, journal, Option.some(first))
    }
    return yield* whole(transfer, first)
  }).pipe(Effect.scoped)

const goOn = (transfer: Transfer, journal: PartJournal.PartJournal): Effect.Effect<Whole, Failure> =>
  // The last one that came is asked for again: what is there already is proven by the answer.
  inParts(transfer, { ...journal, parts: journal.parts.slice(0, -1) }, Option.none())

const journalOf = (
  { fileId }: Transfer,
  told: Pick<PartJournal.PartJournal, "etag" | "size" | "partSize">
): PartJournal.PartJournal => ({ version: 1, fileId, parts: [], ...told })

const checkSize = (
  fileId: string,
  expected: Option.Option<number>,
  actual: Option.Option<number>
): Effect.Effect<void, DownloadIncomplete> =>
  Option.match(Option.all([expected, actual]), {
    onNone: () => Effect.void,
    onSome: ([expected, received]) =>
      expected === received ? Effect.void : Effect.fail(new DownloadIncomplete({ fileId, expected, received }))
  })

// Without ranges, or without a proof that two ranges are of the same file: one section has it all.
const whole = (transfer: Transfer, first: Downloads.Section): Effect.Effect<Whole, Failure, Scope.Scope> =>
  Effect.gen(function*() {
    const { download, fileId, options } = transfer
    const section = first.ranged ? yield* download.section() : first
    let received = 0
    const size = yield* written(transfer, section, (bytes) => {
      received += bytes
      options.onProgress?.(received, section.totalLength)
    })
    yield* checkSize(
      fileId,
      Option.orElse(section.totalLength, () => Option.fromNullable(options.size)),
      Option.some(size)
    )
    return { size, etag: section.etag }
  })

const inParts = (
  transfer: Transfer,
  journal: PartJournal.PartJournal,
  first: Option.Option<Downloads.Section>
): Effect.Effect<Whole, Failure> =>
  Effect.gen(function*() {
    const { download, options } = transfer
    const { etag, partSize, size } = journal
    const done = new Set(journal.parts)
    let received = journal.parts.reduce((sum, part) => sum + lengthOf(journal, part), 0)
    const onBytes = (bytes: number) => {
      received += bytes
      options.onProgress?.(received, Option.some(size))
    }
    const noted = yield* Effect.makeSemaphore(1)
    const note = (part: number) =>
      noted.withPermits(1)(Effect.suspend(() => {
        done.add(part)
        return transfer.keep ? PartJournal.write(transfer.file, { ...journal, parts: [...done] }) : Effect.void
      }))
    const get = (part: number) =>
      Option.match(part === 0 ? first : Option.none(), {
        onNone: () => download.section({ range: { offset: part * partSize, length: lengthOf(journal, part) }, etag }),
        onSome: Effect.succeed
      }).pipe(
        Effect.flatMap((section) => written(transfer, section, onBytes)),
        Effect.scoped,
        Effect.zipRight(note(part))
      )
    const missing = Arr.filter(Arr.range(0, Math.ceil(size / partSize) - 1), (part) => !done.has(part))
    yield* Effect.forEach(missing, get, { concurrency: Math.max(1, options.concurrency ?? 4), discard: true })
    return { size, etag: Option.some(etag) }
  })

const lengthOf = ({ partSize, size }: PartJournal.PartJournal, part: number): number =>
  Math.min(partSize, size - part * partSize)

const written = (
  { file }: Transfer,
  section: Downloads.Section,
  onBytes: (bytes: number) => void
): Effect.Effect<number, Failure> =>
  Effect.suspend(() => {
    let position = section.offset
    const writing = section.drain((chunk) => {
      const at = position
      const length = chunk.byteLength
      position += length
      return Effect.map(PartFile.write(file, chunk, at), () => onBytes(length))
    })
    return Effect.map(writing, () => position - section.offset)
  })

/**
 * A file and where it goes.
 *
 * @since 0.1.0
 * @category models
 */
export interface DownloadTarget {
  readonly fileId: string
  readonly path: string
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
export interface AllOptions extends Omit<Options, "size" | "onProgress"> {
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
      Effect.match(toFile(target.fileId, target.path, options), {
        onFailure: (error): DownloadOutcome => ({ _tag: "Failed", target, error }),
        onSuccess: (file): DownloadOutcome => ({ _tag: "Downloaded", target, file })
      }),
    { concurrency: Math.max(1, Math.floor(options.files ?? 3)), unordered: true }
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
