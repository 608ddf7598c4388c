/** Files and Blobs of a page as upload sources. */
import * as Checksum from "@stevedore/core/Checksum"
import type { SourceError } from "@stevedore/core/SourceError"
import { SourceChanged } from "@stevedore/core/SourceError"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { ChunkObserver, OpenSource, RepeatableSource, SourceFingerprint } from "@stevedore/core/UploadSource"
import { checkDescription } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import { readThrough } from "./base/blobReader.js"
import { typeOf } from "./base/mediaType.js"
import { readFailure, resized } from "./base/thrown.js"

/**
 * What the service is told about the file, instead of what the file itself says.
 *
 * @category models
 */
export interface Options {
  /** 1 to 1024 characters. Defaults to the file's own name. */
  readonly name?: string | undefined
  /**
   * Such as `video/mp4`, up to 255 characters. Defaults to the file's own type, or else to that of a well-known extension,
   * such as `image/heic`, for which browsers have none, or else to `application/octet-stream`.
   */
  readonly mediaType?: string | undefined
}

/**
 * Options for a Blob, which has no name of its own.
 *
 * @category models
 */
export interface BlobOptions extends Options {
  readonly name: string
}

const sampleLength = 65_536

// The sampled ranges. They are one piece if they would overlap or touch.
const sampled = (blob: Blob): ReadonlyArray<Blob> => {
  const { size } = blob
  if (size <= 3 * sampleLength) return [blob]
  return [0, Math.floor((size - sampleLength) / 2), size - sampleLength].map((start) =>
    blob.slice(start, start + sampleLength)
  )
}

// WebKit says of a file with a new date that there is none
const read = ({ isStill, name }: Content, slice: Blob, observe: ChunkObserver): Effect.Effect<void, SourceError> =>
  Effect.tapError(readThrough(name, slice, observe), () => isStill)

const sampleOf = (content: Content): Effect.Effect<string, SourceError> =>
  Effect.suspend(() => {
    const running = Checksum.crc32.begin()
    return Effect.map(
      Effect.forEach(sampled(content.blob), (piece) => read(content, piece, running.update), { discard: true }),
      running.value
    )
  })

const fingerprintOf = ({ blob: { size }, modified }: Content, sample: string): SourceFingerprint => ({
  kind: "blob",
  size,
  ...(modified === undefined ? {} : { modified }),
  // A page cannot tell which file on disk it has been given, so the content identifies it.
  identity: [size, modified, sample].join("/"),
  sample
})

const opened = (content: Content, unchanged: Effect.Effect<void, SourceError>): OpenSource => {
  let onTheirWay = 0
  const onItsWay = Effect.acquireRelease(
    Effect.sync(() => onTheirWay += 1),
    () => Effect.sync(() => onTheirWay -= 1)
  )
  // without a type, so that the browser adds no header that is not signed
  const sliceOf = (range: ByteRange) => content.blob.slice(range.offset, range.offset + range.length)
  return {
    section: (range) => {
      const blob = sliceOf(range)
      return Effect.succeed({
        range,
        body: (observe) => Effect.as(onItsWay, { _tag: "BlobBody", blob, observed: read(content, blob, observe) })
      })
    },
    readThrough: (range, observe) => read(content, sliceOf(range), observe),
    // While a section is in flight, its bytes are being read anyway: reading more would only delay the next part.
    unchanged: Effect.suspend(() => onTheirWay > 0 ? content.isStill : unchanged)
  }
}

interface Content {
  readonly blob: Blob
  readonly name: string
  readonly mediaType: string
  readonly modified: number | undefined
  /** What the browser can tell without reading. */
  readonly isStill: Effect.Effect<void, SourceError>
}

const make = (content: Content): Effect.Effect<RepeatableSource, SourceError> =>
  Effect.gen(function*() {
    const { blob, isStill, mediaType, name } = content
    yield* checkDescription(name, mediaType)
    const fingerprint = fingerprintOf(content, yield* sampleOf(content))
    // Firefox reads a file that has changed as if nothing had happened
    const unchanged = Effect.zipRight(
      isStill,
      Effect.filterOrFail(
        sampleOf(content),
        (sample) => sample === fingerprint.sample,
        () => new SourceChanged({ fileName: name, what: "content" })
      )
    )
    return {
      _tag: "RepeatableSource",
      held: false,
      name,
      mediaType,
      size: blob.size,
      fingerprint,
      open: Effect.map(unchanged, () => opened(content, Effect.asVoid(unchanged)))
    }
  })

const mediaTypeOf = (name: string, { type }: Blob, options: Options): string =>
  options.mediaType ?? typeOf({ name, type })

/**
 * A Blob as a source that can be read repeatedly.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { BlobSource } from "@stevedore/browser"
 * import { Effect } from "effect"
 *
 * const note = new Blob(["hello"], { type: "text/plain" })
 * const program = Effect.flatMap(BlobSource.fromBlob(note, { name: "note.txt" }), (source) => Uploads.upload(source))
 *
 * @category constructors
 */
export const fromBlob = (blob: Blob, options: BlobOptions): Effect.Effect<RepeatableSource, SourceError> =>
  make({
    blob,
    name: options.name,
    mediaType: mediaTypeOf(options.name, blob, options),
    modified: undefined,
    isStill: Effect.void
  })

// In WebKit, the date of a file that was chosen is that of the file on disk at any time
const isOfDate = (name: string, file: File, date: number): Effect.Effect<void, SourceChanged> =>
  Effect.suspend(() =>
    file.lastModified === date ? Effect.void : new SourceChanged({ fileName: name, what: "modified" })
  )

/**
 * A file that was chosen, dropped or pasted, as a source that can be read repeatedly. Slices of it are sent, so its
 * bytes are never all in the page's memory, whatever its size.
 *
 * Its fingerprint is its size, its modification date and a sample of its content (the first, middle and last 64 KiB).
 * That is how it is recognized after a reload. Each part is also read while it is sent, and the sample is compared before
 * the first part and again before the upload completes. If the file has changed in the meantime, the upload fails with
 * `SourceChanged` and nothing is completed. Different bytes under the same size and date can be detected only by the
 * sample. Firefox does not tell a page that a file has a new date or has grown: there, only the sample and a file that
 * has become shorter are noticed, and of a file that has grown, the bytes that were chosen are uploaded.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { BlobSource } from "@stevedore/browser"
 * import { Effect } from "effect"
 *
 * const upload = (file: File) => Effect.flatMap(BlobSource.fromFile(file), (source) => Uploads.upload(source))
 *
 * // the file of an unfinished upload, chosen again; its options carry the original name, in case it was renamed
 * const goOn = (unfinished: Uploads.UnfinishedUpload, file: File) =>
 *   Effect.flatMap(BlobSource.fromFile(file, unfinished), (source) => Uploads.resume(unfinished.id, source))
 *
 * @category constructors
 */
export const fromFile = (file: File, options: Options = {}): Effect.Effect<RepeatableSource, SourceError> => {
  const name = options.name ?? file.name
  return make({
    blob: file,
    name,
    mediaType: mediaTypeOf(name, file, options),
    modified: file.lastModified,
    isStill: isOfDate(name, file, file.lastModified)
  })
}

const fileOf = (name: string, handle: FileSystemFileHandle): Effect.Effect<File, SourceError> =>
  Effect.tryPromise({ try: () => handle.getFile(), catch: (cause) => readFailure(name, cause) })

const checkSame = (name: string, expected: File, actual: File): Effect.Effect<void, SourceChanged> =>
  actual.size === expected.size
    ? isOfDate(name, actual, expected.lastModified)
    : resized(name, expected.size, actual.size)

/**
 * A file by its handle, from `showOpenFilePicker` or from a drop. In addition to the checks of {@link fromFile}, the
 * file's size and date are read again. If the user has not yet allowed the handle, this fails with `SourceUnreadable`
 * and `PermissionDenied`: see `FileHandles`.
 *
 * @category constructors
 */
export const fromHandle = (
  handle: FileSystemFileHandle,
  options: Options = {}
): Effect.Effect<RepeatableSource, SourceError> =>
  Effect.suspend(() => {
    const name = options.name ?? handle.name
    return Effect.flatMap(fileOf(name, handle), (file) =>
      make({
        blob: file,
        name,
        mediaType: mediaTypeOf(name, file, options),
        modified: file.lastModified,
        isStill: Effect.flatMap(fileOf(name, handle), (now) => checkSame(name, file, now))
      }))
  })
