import { FileSystem } from "@effect/platform"
import { Effect, Option, Stream } from "effect"
import { createCipheriv, createHash } from "node:crypto"

const chunkSize = 1_000_000

/** The key stream of a cipher: the same bytes for the same seed on every machine, and incompressible. */
export const content = (seed: string, size: number): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    const key = createHash("sha256").update(seed).digest()
    const cipher = createCipheriv("aes-256-ctr", key, new Uint8Array(16))
    return Stream.unfold(size, (left) => {
      const length = Math.min(chunkSize, left)
      return length === 0 ? Option.none() : Option.some([cipher.update(new Uint8Array(length)), left - length] as const)
    })
  })

/** Writes a file of this many bytes. */
export const write = (path: string, options: { readonly seed: string; readonly size: number }) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Stream.run(content(options.seed, options.size), fs.sink(path)))

const fill = (file: FileSystem.File, buffer: Uint8Array) =>
  Effect.gen(function*() {
    let filled = 0
    while (filled < buffer.byteLength) {
      const read = Number(yield* file.read(buffer.subarray(filled)))
      if (read === 0) break
      filled += read
    }
    return buffer.subarray(0, filled)
  })

/** Compares two files piece by piece. Returns the offset of the first difference, or none if they are equal. */
export const firstDifference = (one: string, other: string) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const files = yield* Effect.all([fs.open(one), fs.open(other)])
    const buffers = [new Uint8Array(chunkSize), new Uint8Array(chunkSize)] as const
    for (let offset = 0;; offset += chunkSize) {
      const left = yield* fill(files[0], buffers[0])
      const right = yield* fill(files[1], buffers[1])
      if (Buffer.compare(left, right) !== 0) {
        const same = left.findIndex((byte, index) => byte !== right[index])
        return Option.some(offset + (same === -1 ? left.byteLength : same))
      }
      if (left.byteLength < chunkSize) return Option.none<number>()
    }
  }))
