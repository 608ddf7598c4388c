/** A directory that only this process uses: its files, and their failures. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { errorCode } from "../base/errorCode.js"
import * as StorageRefused from "../StorageRefused.js"

const meanings: Readonly<Record<string, StorageRefused.RefusalCode>> = {
  ENOSPC: "InsufficientStorage",
  EDQUOT: "InsufficientStorage",
  SQLITE_FULL: "InsufficientStorage",
  EMFILE: "SlowDown",
  ENFILE: "SlowDown",
  SQLITE_BUSY: "SlowDown"
}

const meaning = (cause: unknown): StorageRefused.RefusalCode | undefined => meanings[errorCode(cause)]

/** Whether something was not written because there is no room for it. @internal */
export const isFull = (cause: unknown): boolean => meaning(cause) === "InsufficientStorage"

/** What was to be written, or looked up, was not. @internal */
export const failed = (cause: unknown): StorageRefused.StorageRefused =>
  StorageRefused.make(meaning(cause) ?? "InternalError", { failure: cause })

/** What is stored of one object is gone or broken, unless the failure is one of the moment. @internal */
export const unreadable = (cause: unknown): StorageRefused.StorageRefused =>
  StorageRefused.make(meaning(cause) ?? "ObjectUnreadable", { failure: cause })

const DIRECTORY = 0o700
export const FILE = 0o600

/** Takes what is there from everybody but its owner. What is another user's can be used without being changed. @internal */
export const closed = (fs: FileSystem.FileSystem, path: string, mode: number) => Effect.ignore(fs.chmod(path, mode))

/** Makes a directory that is missing, and takes one that is there from everybody but its owner. @internal */
export const directory = (path: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => Effect.zipRight(fs.makeDirectory(path, { recursive: true, mode: DIRECTORY }), closed(fs, path, DIRECTORY))
  )

/**
 * Writes a file so that it is whole or as it was before, wherever the process dies and whether there is room or not: beside
 * its place, synced, and moved there.
 */
export const write = (path: string, text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    const beside = `${path}.new`
    yield* Effect.scoped(Effect.gen(function*() {
      const written = yield* fs.open(beside, { flag: "w", mode: FILE })
      yield* closed(fs, beside, FILE)
      yield* written.writeAll(new TextEncoder().encode(text))
      yield* written.sync
    }))
    yield* fs.rename(beside, path)
    // the name of what was moved is on the disk only then; not every system lets a directory be opened
    yield* Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(dirname(path), { flag: "r" }), ({ sync }) => sync)))
  })

/** Whether others than its owner can enter a directory. @internal */
export const isOpen = (path: string) =>
  Effect.map(Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)), ({ mode }) => (mode & 0o077) !== 0)

/** Keeps a directory of ours out of a repository around it. @internal */
export const ignored = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const place = join(path, ".gitignore")
    if (!(yield* fs.exists(place))) yield* write(place, "*\n")
  })
