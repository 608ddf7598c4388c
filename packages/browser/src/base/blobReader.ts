import type { SourceError } from "@stevedore/core/SourceError"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import { readFailure, resized } from "./thrown.js"

// Small enough that hashing a slice causes no noticeable delay, large enough that the cost of each read is low.
const sliceSize = 1024 * 1024

// The buffers of all parts in flight fit into the processor's cache. Chromium keeps several times as much in memory.
const bufferSize = 256 * 1024

const checkLength = (name: string, expected: number, actual: number): void => {
  if (actual !== expected) throw resized(name, expected, actual)
}

interface Chunks {
  readonly reader: ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array>
  readonly next: () => Promise<ReadableStreamReadResult<Uint8Array>>
  /** Frees a chunk that has been observed. */
  readonly free: (chunk: Uint8Array) => void
}

const intoOneBuffer = (reader: ReadableStreamBYOBReader): Chunks => {
  let buffer = new ArrayBuffer(bufferSize)
  return {
    reader,
    next: async () => {
      const chunk = await reader.read(new Uint8Array(buffer))
      if (chunk.value !== undefined) buffer = chunk.value.buffer
      return chunk
    },
    free: () => {}
  }
}

const asTheyCome = (reader: ReadableStreamDefaultReader<Uint8Array>): Chunks => ({
  reader,
  next: () => reader.read(),
  // WebKit's garbage collector does not count them: hundreds of MiB stay otherwise
  free: ({ buffer }: { readonly buffer: ArrayBufferLike & { readonly transfer?: (length: number) => unknown } }) =>
    buffer.transfer?.(0)
})

// Chromium garbage-collects a byte stream that nothing references, together with its pending read, which then never
// settles.
const beingRead = new Set<Chunks["reader"]>()

/** Returns how many bytes there were. */
const readChunks = async (
  { free, next, reader }: Chunks,
  observe: ChunkObserver,
  signal: AbortSignal
): Promise<number> => {
  let position = 0
  beingRead.add(reader)
  try {
    while (!signal.aborted) {
      const { done, value } = await next()
      if (done) break
      if (!signal.aborted) observe(value)
      position += value.byteLength
      free(value)
    }
  } finally {
    beingRead.delete(reader)
    await reader.cancel()
  }
  return position
}

// Nothing limits what a stream holds that is read without a buffer of ours. But other reads than a stream's hide in
// WebKit that a file has become shorter: they fill up what it lacks.
const readSlices = async (blob: Blob, observe: ChunkObserver, signal: AbortSignal): Promise<number> => {
  let position = 0
  while (position < blob.size) {
    const slice = blob.slice(position, position + sliceSize)
    const read = await readChunks(asTheyCome(slice.stream().getReader()), observe, signal)
    position += read
    if (read < slice.size) break
  }
  return position
}

const byteReaderOf = (blob: Blob): ReadableStreamBYOBReader | undefined => {
  const stream = blob.stream()
  try {
    return stream.getReader({ mode: "byob" })
  } catch {
    // WebKit reads all of it before anybody asks for it
    stream.cancel().catch(() => {})
    return undefined
  }
}

const readAll = async (name: string, blob: Blob, observe: ChunkObserver, signal: AbortSignal): Promise<void> => {
  const reader = byteReaderOf(blob)
  const read = await (reader === undefined
    ? readSlices(blob, observe, signal)
    : readChunks(intoOneBuffer(reader), observe, signal))
  // of a read that was interrupted, nobody hears
  checkLength(name, blob.size, read)
}

// WebKit fails every read of a page that is being left in the words for a file that has changed. A second later that
// page is gone, so whoever is still there can believe them.
const believed = (read: Effect.Effect<void, SourceError>): Effect.Effect<void, SourceError> =>
  Effect.catchAll(read, (error) => isSaidToBeModified(error) ? Effect.delay(read, "1 second") : Effect.fail(error))

const isSaidToBeModified = (error: SourceError): boolean => error._tag === "SourceChanged" && error.what === "modified"

/**
 * Reads the last byte, if there is one. Chromium and WebKit refuse even that if the file has changed, and in Firefox, a
 * file that has become shorter lacks it.
 */
export const touch = (name: string, blob: Blob): Effect.Effect<void, SourceError> =>
  believed(Effect.tryPromise({
    try: async () => {
      const last = blob.slice(-1)
      checkLength(name, last.size, (await last.arrayBuffer()).byteLength)
    },
    catch: (cause) => readFailure(name, cause)
  }))

/**
 * Reads a Blob from front to back in chunks of up to 1 MiB, with one chunk in memory at a time. If the browser supports
 * it, the same buffer is reused, because browsers do not free discarded buffers until there are hundreds of MiB of
 * them.
 */
export const readThrough = (name: string, blob: Blob, observe: ChunkObserver): Effect.Effect<void, SourceError> =>
  Effect.tryPromise({
    try: (signal) => readAll(name, blob, observe, signal),
    catch: (cause) => readFailure(name, cause)
  }).pipe(
    // A stream reports a changed file, like any other failure, as a network failure (`TypeError`). A read without a
    // stream reveals the real cause.
    Effect.mapError((error) =>
      isSaidToBeModified(error)
        ? new SourceUnreadable({ fileName: name, reason: "Failed", code: "NotReadableError" })
        : error
    ),
    Effect.tapError((error) =>
      error._tag === "SourceUnreadable" && error.reason === "Failed" ? touch(name, blob) : Effect.void
    )
  )
