import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceChanged, SourceUnreadable } from "@stevedore/core/SourceError"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import { textOf } from "./thrown.js"

const reasons: Readonly<Record<string, SourceUnreadable["reason"]>> = {
  NotFoundError: "NotFound",
  NotAllowedError: "PermissionDenied",
  SecurityError: "PermissionDenied",
  TypeMismatchError: "NotAFile"
}

/**
 * The error for a failed read. A browser remembers a file's size and date from when it was chosen, and refuses to read
 * it once they differ: `NotReadableError`.
 */
export const readFailure = (name: string, cause: unknown): SourceError => {
  if (isSourceError(cause)) return cause
  const code = textOf(cause, "name")
  return code === "NotReadableError"
    ? new SourceChanged({ name, what: "modified" })
    : new SourceUnreadable({
      name,
      reason: (code === undefined ? undefined : reasons[code]) ?? "Failed",
      ...(code === undefined ? {} : { code })
    })
}

// Small enough that hashing a slice causes no noticeable delay, large enough that the cost of each read is low.
const sliceSize = 1024 * 1024

// The buffers of all parts in flight fit into the processor's cache. Chromium keeps several times as much in memory.
const bufferSize = 256 * 1024

const otherLength = (name: string, expected: string, actual: number): SourceChanged =>
  new SourceChanged({ name, what: "size", expected, actual: `${actual} bytes` })

const readChunk = async (name: string, blob: Blob, start: number, end: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(await blob.slice(start, end).arrayBuffer())
  if (bytes.byteLength === end - start) return bytes
  throw otherLength(name, `${end - start} bytes from ${start}`, bytes.byteLength)
}

const readInChunks = async (name: string, blob: Blob, observe: ChunkObserver, signal: AbortSignal): Promise<void> => {
  for (let start = 0; start < blob.size && !signal.aborted; start += sliceSize) {
    const chunk = await readChunk(name, blob, start, Math.min(blob.size, start + sliceSize))
    if (!signal.aborted) observe(chunk)
  }
}

type Reader = ReadableStreamBYOBReader

const readerOf = (blob: Blob): Reader | undefined => {
  const stream = blob.stream()
  try {
    return stream.getReader({ mode: "byob" })
  } catch {
    return undefined
  }
}

// Chromium garbage-collects a byte stream that nothing references, together with its pending read, which then never
// settles.
const beingRead = new Set<Reader>()

const readIntoOneBuffer = async (
  name: string,
  { size }: Blob,
  observe: ChunkObserver,
  reader: Reader,
  signal: AbortSignal
): Promise<void> => {
  let buffer = new ArrayBuffer(bufferSize)
  let position = 0
  beingRead.add(reader)
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) break
      if (!signal.aborted) observe(value)
      position += value.byteLength
      buffer = value.buffer
    }
  } finally {
    beingRead.delete(reader)
    await reader.cancel()
  }
  if (position !== size && !signal.aborted) throw otherLength(name, `${size} bytes`, position)
}

/** Reads one byte, if there is one. The browser refuses even that if the file has changed. */
export const touch = (name: string, blob: Blob): Effect.Effect<void, SourceError> =>
  Effect.tryPromise({
    try: () => readChunk(name, blob, 0, Math.min(1, blob.size)),
    catch: (cause) => readFailure(name, cause)
  })

// A stream reports a changed file, like any other failure, as a network failure (`TypeError`). A read without a stream
// reveals the real cause.
const explained = (name: string, blob: Blob) => (error: SourceError): Effect.Effect<never, SourceError> =>
  error._tag === "SourceUnreadable" && error.reason === "Failed"
    ? Effect.zipRight(touch(name, blob), Effect.fail(error))
    : Effect.fail(error)

/**
 * Reads a Blob from front to back in chunks of up to 1 MiB, with one chunk in memory at a time. If the browser supports
 * it, the same buffer is reused, because browsers do not free discarded buffers until there are hundreds of MiB of
 * them.
 */
export const readThrough = (name: string, blob: Blob, observe: ChunkObserver): Effect.Effect<void, SourceError> =>
  Effect.tryPromise({
    try: (signal) => {
      const reader = readerOf(blob)
      return reader === undefined
        ? readInChunks(name, blob, observe, signal)
        : readIntoOneBuffer(name, blob, observe, reader, signal)
    },
    catch: (cause) => readFailure(name, cause)
  }).pipe(Effect.catchAll(explained(name, blob)))
