import { Effect } from "effect"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A directory that goes with the scope. */
export const directory = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(join(tmpdir(), "stevedore-"))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)

/** A file with these bytes, in a directory of its own. */
export const file = (name: string, bytes: Uint8Array) =>
  Effect.map(
    Effect.tap(
      Effect.map(directory, (path) => join(path, name)),
      (path) => Effect.promise(() => Fs.writeFile(path, bytes))
    ),
    (path) => path
  )

/** A file of this size that takes no room on disk. */
export const sparse = (name: string, size: number) =>
  Effect.tap(file(name, new Uint8Array(0)), (path) => Effect.promise(() => Fs.truncate(path, size)))

/** Bytes in which no 4 aligned ones are equal to others nearby, so that a chunk in a wrong place shows. */
export const distinct = (size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size)
  const words = Math.floor(size / 4)
  for (let word = 0; word < words; word++) bytes.writeUInt32LE(Math.imul(word + 1, 2_654_435_761) >>> 0, word * 4)
  bytes.fill(7, words * 4)
  return bytes
}
