import { SourceChanged } from "@stevedore/core/SourceError"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { FileHandle } from "node:fs/promises"
import { Readable } from "node:stream"
import type { SourceFile } from "./sourceFile.js"
import { checkUnchanged, fingerprintOf, unreadable } from "./sourceFile.js"

// Larger reads are not faster, smaller ones cost more system calls.
const chunkSize = 1_048_576

/**
 * One range of an open file for one attempt. No Stream of Effect: between disk and socket it costs several times the
 * work of the transfer itself.
 *
 * @internal
 */
export const readableOf = (
  file: SourceFile,
  handle: FileHandle,
  range: ByteRange,
  observe: ChunkObserver
): Readable => {
  const end = range.offset + range.length
  let position = range.offset

  const next = async (): Promise<Buffer> => {
    // A new buffer each time: the HTTP client refers to it until the socket has taken it.
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, end - position))
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position).catch((cause) => {
      throw unreadable(file.name, cause)
    })
    if (bytesRead === 0) {
      throw new SourceChanged({
        name: file.name,
        what: "size",
        expected: `${file.fingerprint.size} bytes`,
        actual: `${position} bytes`
      })
    }
    position += bytesRead
    // Before the last bytes leave, so that storage never has the whole of something else.
    if (position === end) await Effect.runPromise(checked(file, handle)).then(Either.getOrThrowWith((error) => error))
    return buffer.subarray(0, bytesRead)
  }

  const readable = new Readable({
    highWaterMark: chunkSize,
    read() {
      if (position === end) {
        this.push(null)
        return
      }
      next().then(
        (chunk) => {
          if (this.destroyed) return
          observe(chunk)
          this.push(chunk)
        },
        (error) => this.destroy(error)
      )
    }
  })
  // An attempt that is given up has nobody left to listen, and an error without a listener ends the process.
  readable.on("error", () => undefined)
  return readable
}

const checked = (file: SourceFile, handle: FileHandle) =>
  Effect.either(Effect.flatMap(fingerprintOf(handle, file.name), (now) => checkUnchanged(file, now)))
