import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceChanged, SourceUnreadable } from "@stevedore/core/SourceError"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

const reasons: Readonly<Record<string, SourceUnreadable["reason"]>> = {
  NotFoundError: "NotFound",
  NotAllowedError: "PermissionDenied",
  SecurityError: "PermissionDenied",
  TypeMismatchError: "NotAFile"
}

/**
 * What a failed read means. A browser remembers a file's size and date from when it was chosen, and refuses to read it
 * once they differ: `NotReadableError`.
 */
export const readFailure = (name: string, cause: unknown): SourceError => {
  if (isSourceError(cause)) return cause
  const code = Predicate.hasProperty(cause, "name") && Predicate.isString(cause.name) ? cause.name : undefined
  return code === "NotReadableError"
    ? new SourceChanged({ name, what: "modified" })
    : new SourceUnreadable({
      name,
      reason: (code === undefined ? undefined : reasons[code]) ?? "Failed",
      ...(code === undefined ? {} : { code })
    })
}

// Large enough that a read costs little, small enough that hashing one is no work that a person could feel.
const chunkSize = 1024 * 1024

const readChunk = async (name: string, blob: Blob, start: number, end: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(await blob.slice(start, end).arrayBuffer())
  if (bytes.byteLength === end - start) return bytes
  throw new SourceChanged({
    name,
    what: "size",
    expected: `${end - start} bytes from ${start}`,
    actual: `${bytes.byteLength} bytes`
  })
}

/** Reads a Blob from front to back in chunks of a MiB, of which one at a time is in memory. */
export const readThrough = (name: string, blob: Blob, observe: ChunkObserver): Effect.Effect<void, SourceError> =>
  Effect.tryPromise({
    try: async (signal) => {
      for (let start = 0; start < blob.size && !signal.aborted; start += chunkSize) {
        const chunk = await readChunk(name, blob, start, Math.min(blob.size, start + chunkSize))
        if (!signal.aborted) observe(chunk)
      }
    },
    catch: (cause) => readFailure(name, cause)
  })

/** Reads one byte, if there is one: a file that is not what it was any more refuses that already. */
export const touch = (name: string, blob: Blob): Effect.Effect<void, SourceError> =>
  Effect.tryPromise({
    try: () => readChunk(name, blob, 0, Math.min(1, blob.size)),
    catch: (cause) => readFailure(name, cause)
  })
