/**
 * Sources from bytes in memory and from Streams. For files, see `FileSource` in the Node package; for Blobs,
 * `BlobSource` in the browser package.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { systemCode } from "./ConnectionError.js"
import { exactly } from "./source/exactLength.js"
import * as SequentialReader from "./source/sequentialReader.js"
import { SourceUnreadable, withCause } from "./SourceError.js"
import type { ByteRange } from "./UploadPlan.js"
import type { OneShotSource, OpenSource, RepeatableSource } from "./UploadSource.js"

/**
 * Optional properties of a source.
 *
 * @category models
 */
export interface Options {
  /** Defaults to `application/octet-stream`. */
  readonly mediaType?: string | undefined
}

/**
 * The properties that a Stream does not have itself.
 *
 * @category models
 */
export interface StreamOptions extends Options {
  /** The exact number of bytes that the Stream produces: more or fewer fail with `SourceChanged`. */
  readonly size: number
}

const defaultMediaType = "application/octet-stream"

/**
 * A source from bytes in memory. Do not change them while the upload runs.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })
 * const program = Uploads.upload(notes)
 *
 * @category constructors
 */
export const fromBytes = (name: string, bytes: Uint8Array, options: Options = {}): RepeatableSource => ({
  _tag: "RepeatableSource",
  name,
  mediaType: options.mediaType ?? defaultMediaType,
  size: bytes.byteLength,
  held: false,
  fingerprint: { kind: "bytes", size: bytes.byteLength },
  open: Effect.succeed<OpenSource>({
    section: (range) => Effect.succeed(bytesSection(bytes.subarray(range.offset, range.offset + range.length), range)),
    readThrough: (range, observe) =>
      Effect.sync(() => observe(bytes.subarray(range.offset, range.offset + range.length))),
    unchanged: Effect.void
  })
})

const bytesSection = (bytes: Uint8Array, range: ByteRange) => ({
  range,
  body: (observe: (chunk: Uint8Array) => void) =>
    Effect.sync(() => {
      observe(bytes)
      return { _tag: "BytesBody" as const, bytes }
    })
})

/**
 * A source from a Stream that produces the same bytes each time it runs, such as one over a file or a query. It is read
 * from front to back, once per session; each part is held in memory until storage has it.
 *
 * @example
 * import { Stream } from "effect"
 * import { UploadSources } from "@stevedore/core"
 *
 * const lines = Stream.make("one\n", "two\n").pipe(Stream.encodeText)
 * const source = UploadSources.fromStream("lines.txt", lines, { size: 8, mediaType: "text/plain" })
 *
 * @category constructors
 */
export const fromStream = <E>(
  name: string,
  stream: Stream.Stream<Uint8Array, E>,
  options: StreamOptions
): RepeatableSource => ({
  _tag: "RepeatableSource",
  ...streamed(name, options),
  open: SequentialReader.open({ name, size: options.size, stream: readable(name, stream), repeatable: true })
})

/**
 * A source from a Stream that can run only once, such as one over a socket. If its session dies the upload fails,
 * because what was read is gone.
 *
 * @example
 * import { UploadSources } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const recording = (socket: AsyncIterable<Uint8Array>) =>
 *   UploadSources.fromStreamOnce(
 *     "recording.wav",
 *     Stream.fromAsyncIterable(socket, (cause) => cause),
 *     { size: 96_044, mediaType: "audio/wav" }
 *   )
 *
 * @category constructors
 */
export const fromStreamOnce = <E>(
  name: string,
  stream: Stream.Stream<Uint8Array, E>,
  options: StreamOptions
): OneShotSource => {
  let opened = false
  return {
    _tag: "OneShotSource",
    ...streamed(name, options),
    open: Effect.suspend(() => {
      if (opened) return Effect.fail(new SourceUnreadable({ fileName: name, reason: "ReadOnce" }))
      opened = true
      return SequentialReader.open({ name, size: options.size, stream: readable(name, stream), repeatable: false })
    })
  }
}

const streamed = (name: string, options: StreamOptions) => ({
  name,
  mediaType: options.mediaType ?? defaultMediaType,
  size: options.size,
  held: true,
  fingerprint: { kind: "stream", size: options.size }
})

/**
 * The stream of an application, as it is read for an upload. What it fails with may be a secret.
 *
 * @internal
 */
export const readable = <E>(
  name: string,
  stream: Stream.Stream<Uint8Array, E>
): Stream.Stream<Uint8Array, SourceUnreadable> =>
  Stream.mapError(stream, (cause) => {
    if (cause instanceof SourceUnreadable) return cause
    const code = systemCode(cause)
    const error = new SourceUnreadable({
      fileName: name,
      reason: "StreamFailed",
      ...(code === undefined ? {} : { code })
    })
    return withCause(error, cause)
  })

export {
  /**
   * A Stream that fails with `SourceChanged` as soon as it has produced more than `size` bytes, or when it ends with
   * fewer.
   *
   * @category combinators
   */
  exactly
}
