import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { dirname } from "node:path"

/**
 * A file of lines in a private directory, to which several processes add. A line is written in one step, with a line
 * break before it, so that an incomplete one does not spoil it.
 */
export interface JsonLines {
  /** The lines since the last call, or all of them anew if the file was replaced. */
  readonly more: Effect.Effect<{ readonly anew: boolean; readonly lines: ReadonlyArray<string> }, PlatformError>
  readonly add: (line: string) => Effect.Effect<void, PlatformError>
  /** Replaces the file by this text in one step. Lines that other processes add meanwhile are carried over. */
  readonly replace: (text: Effect.Effect<string>) => Effect.Effect<void, PlatformError>
}

type Directory = Option.Option.Value<Effect.Effect.Success<typeof DiskLedger.privateDirectory>>

/** Whether there is no such file, also if something else is in the place of its directory. */
export const isMissing = (error: PlatformError): boolean =>
  error._tag === "SystemError" && (error.reason === "NotFound" || error.reason === "BadResource")

interface FileState {
  readonly inode: number
  readonly size: number
}

const nothing: FileState = { inode: 0, size: 0 }

export const make = (fs: FileSystem.FileSystem, directory: Directory, file: string): JsonLines => {
  const path = directory.pathOf(file)
  let read = nothing

  const standing: Effect.Effect<FileState, PlatformError> = fs.stat(path).pipe(
    Effect.map(({ ino, size }) => ({ inode: Option.getOrElse(ino, () => 0), size: Number(size) })),
    Effect.catchIf(isMissing, () => Effect.succeed(nothing))
  )

  const textFrom = (offset: number) =>
    Effect.scoped(Effect.gen(function*() {
      const opened = yield* fs.open(path, { flag: "r" })
      const { ino, size } = yield* opened.stat
      const length = Math.max(0, Number(size) - offset)
      yield* opened.seek(offset, "start")
      const bytes = Option.getOrElse(yield* opened.readAlloc(length), () => new Uint8Array())
      return { bytes, inode: Option.getOrElse(ino, () => 0) }
    }))

  const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

  const more: JsonLines["more"] = DiskLedger.untilReadable(Effect.gen(function*() {
    const now = yield* standing
    const anew = now.inode !== read.inode || now.size < read.size
    if (!anew && now.size === read.size) return { anew, lines: [] }
    if (now.inode === 0 && now.size === 0) {
      read = now
      return { anew, lines: [] }
    }
    const from = anew ? 0 : read.size
    const { bytes, inode } = yield* textFrom(from)
    // replaced between the two looks: the next call sees it
    if (!anew && inode !== now.inode) return { anew: false, lines: [] }
    // what follows the last line break may still be incomplete
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1)
    read = { inode, size: from + whole.byteLength }
    return { anew, lines: textOf(whole).split("\n").filter((line) => line !== "") }
  }))

  const append = (text: string) => directory.append(file, text)

  const add: JsonLines["add"] = (line) =>
    Effect.gen(function*() {
      const before = yield* standing
      yield* append(`\n${line}\n`)
      const after = yield* standing
      // it was replaced meanwhile: the line may have gone into the file that is no more, and twice does no harm
      if (before.inode !== 0 && before.inode !== after.inode) yield* append(`\n${line}\n`)
    })

  const replace: JsonLines["replace"] = (text) =>
    Effect.scoped(Effect.gen(function*() {
      const old = yield* fs.open(path, { flag: "r" })
      const known = read.size
      const written = yield* directory.writeSynced(yield* text)
      yield* Effect.tapError(
        DiskLedger.untilLetGo(fs.rename(written, path)),
        () => Effect.ignore(fs.remove(written, { force: true }))
      )
      yield* directory.syncNames(dirname(file))
      const { size } = yield* old.stat
      const late = Number(size) - known
      if (late <= 0) return
      yield* old.seek(known, "start")
      const bytes = Option.getOrElse(yield* old.readAlloc(late), () => new Uint8Array())
      yield* append(`\n${textOf(bytes)}\n`)
    }))

  return { more, add, replace }
}
