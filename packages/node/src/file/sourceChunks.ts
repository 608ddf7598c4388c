import { isSourceError, SourceChanged } from "@stevedore/core/SourceError"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import type { FileHandle } from "node:fs/promises"
import { getDefaultHighWaterMark } from "node:stream"
import type { ReadBuffers } from "./readBuffers.js"
import { readBuffer } from "./readBuffers.js"
import type { SourceFile } from "./sourceFile.js"
import { assertUnchanged, unreadable } from "./sourceFile.js"
import { WritePace } from "./writePace.js"

/** The size of one read. Larger reads are not faster; smaller ones cost more system calls. */
export const readSize = 1_048_576

/**
 * One range of an open file for one attempt, designed for undici: a chunk is valid until the next one is requested.
 *
 * It is not a Readable or a Stream. undici requests the next chunk of an async iterable once the socket has taken the
 * previous one (each is larger than the socket's buffer, so each waits for its drain), so two buffers can serve a range
 * of any length. With a new buffer for every read, garbage collection costs as much as the transfer.
 */
async function* chunksOf(
  file: SourceFile,
  handle: FileHandle,
  range: ByteRange,
  observe: ChunkObserver,
  pair: ReadBuffers
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = range.offset + range.length
  const nextBuffer = inTurns(pair)
  const pace = new WritePace()
  let read = readAhead(file, handle, nextBuffer(), range.offset, end)
  for (let position = range.offset; position < end;) {
    const bytes = await read
    position += bytes.byteLength
    if (position < end) read = readAhead(file, handle, nextBuffer(), position, end)
    // Checked before the last bytes are sent, so that storage never has all of a changed file.
    else await checked(file, () => assertUnchanged(file, handle))
    for (const chunk of pace.pieces(bytes)) {
      observe(chunk)
      yield chunk
    }
  }
}

/**
 * One range of an open file for one attempt: in chunks, of which each is valid until the next one is requested, or as a
 * whole.
 */
export class FileRange implements AsyncIterable<Uint8Array> {
  readonly #file: SourceFile
  readonly #handle: FileHandle
  readonly #range: ByteRange
  readonly #observe: ChunkObserver
  readonly #pair: ReadBuffers

  constructor(file: SourceFile, handle: FileHandle, range: ByteRange, observe: ChunkObserver, pair: ReadBuffers) {
    this.#file = file
    this.#handle = handle
    this.#range = range
    this.#observe = observe
    this.#pair = pair
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return chunksOf(this.#file, this.#handle, this.#range, this.#observe, this.#pair)
  }

  /** All of it, if it is no longer than a buffer: without the generator, and in its first buffer. */
  async whole(): Promise<Uint8Array> {
    const file = this.#file
    const { length, offset } = this.#range
    const bytes = await checked(file, () => fill(file, this.#handle, this.#pair[0].subarray(0, length), offset))
    await checked(file, () => assertUnchanged(file, this.#handle))
    this.#observe(bytes)
    return bytes
  }
}

// If the client does not wait for a chunk to drain, the next one must not reuse its buffer
const inTurns = ([next, other]: ReadBuffers): () => Uint8Array => {
  if (getDefaultHighWaterMark(false) >= WritePace.least) return () => readBuffer(next.byteLength)
  return () => {
    const buffer = next
    next = other
    other = buffer
    return buffer
  }
}

const checked = <A>(file: SourceFile, run: () => Promise<A>): Promise<A> =>
  run().catch((cause) => {
    throw isSourceError(cause) ? cause : unreadable(file.name, cause)
  })

const readAhead = (
  file: SourceFile,
  handle: FileHandle,
  buffer: Uint8Array,
  position: number,
  end: number
): Promise<Uint8Array> => {
  const bytes = checked(file, () => fill(file, handle, buffer.subarray(0, end - position), position))
  // If the attempt is abandoned, nobody awaits this, and an unhandled rejection would end the process.
  bytes.catch(() => undefined)
  return bytes
}

// Full except at the end of the range: a short chunk would not wait for its drain, and its buffer would be reused too
// soon.
const fill = async (file: SourceFile, handle: FileHandle, buffer: Uint8Array, position: number) => {
  let filled = 0
  while (filled < buffer.byteLength) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.byteLength - filled, position + filled)
    if (bytesRead === 0) {
      throw new SourceChanged({
        fileName: file.name,
        what: "size",
        expected: `${file.fingerprint.size} bytes`,
        actual: `${position + filled} bytes`
      })
    }
    filled += bytesRead
  }
  return buffer
}
