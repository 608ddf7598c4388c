import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { dirname, sep } from "node:path"
import type { DownloadTargetError } from "../DownloadTargetError.js"
import { TargetExists, TargetUnwritable } from "../DownloadTargetError.js"
import { readBuffer } from "./readBuffers.js"

/**
 * What a download is written to before it is whole: a file beside its target.
 *
 * @internal
 */
export interface PartFile {
  readonly path: string
  readonly target: string
  readonly handle: NodeFs.FileHandle
  // the kernel lets one write into a file at a time: others would hold its threads, and spin there
  readonly writes: Effect.Semaphore
}

const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined

/** @internal */
export const attempt = <A>(target: string, run: () => Promise<A>): Effect.Effect<A, TargetUnwritable> =>
  Effect.tryPromise({ try: run, catch: (cause) => new TargetUnwritable({ path: target, code: codeOf(cause) }) })

/** @internal */
export const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() => NodeFs.lstat(path).then(() => true, () => false))

// What names a directory, there or not, is a name that no file can take.
const namesDirectory = (target: string): boolean => target === "" || target.endsWith("/") || target.endsWith(sep)

const checkName = (target: string): Effect.Effect<void, TargetUnwritable> =>
  attempt(target, () => NodeFs.lstat(target)).pipe(
    Effect.asVoid,
    Effect.catchIf(({ code }) => code === "ENOENT" && !namesDirectory(target), () => Effect.void)
  )

/**
 * Fails where a directory, a pipe or a device is in the target's place, also behind a link: none is to be replaced. And
 * where no file can be called so: the part beside it has another name, and would be told of that only at the end.
 *
 * @internal
 */
export const checkPlace = (target: string): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(
    Effect.promise(() => NodeFs.stat(target).catch(() => undefined)),
    (there) =>
      there === undefined ? checkName(target) : there.isFile() ? Effect.void : Effect.fail(
        new TargetUnwritable({ path: target, occupied: there.isDirectory() ? "Directory" : "NotAFile" })
      )
  )

/** @internal */
export const remove = (path: string): Effect.Effect<void> => Effect.promise(() => NodeFs.rm(path, { force: true }))

/**
 * Open until the scope ends, and then removed unless it is to be kept. One that is kept may be there already.
 *
 * @internal
 */
export const open = (
  path: string,
  target: string,
  options: {
    readonly keep: boolean
    /** Whether it is worth keeping, when its scope ends with a failure. */
    readonly worth: Effect.Effect<boolean>
    /** Told when it was kept. */
    readonly onKept?: (() => void) | undefined
    /** Whether it is to replace a file: then nobody may read it who might not read that one. */
    readonly overwrite: boolean
  }
): Effect.Effect<PartFile, TargetUnwritable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.zipWith(
      Effect.makeSemaphore(1),
      attempt(target, async () => {
        const handle = await (options.keep ? openKept(path) : openNew(path))
        if (options.overwrite) await takeModeOf(handle, target)
        return handle
      }),
      (writes, handle) => ({ path, target, handle, writes })
    ),
    ({ handle }, exit) =>
      Effect.gen(function*() {
        yield* Effect.promise(() => handle.close().catch(() => undefined))
        const kept = options.keep && Exit.isFailure(exit) && (yield* options.worth)
        yield* kept ? Effect.sync(() => options.onKept?.()) : remove(path)
      })
  )

const flags = constants.O_RDWR | constants.O_CREAT

const openNew = (path: string): Promise<NodeFs.FileHandle> => NodeFs.open(path, flags | constants.O_EXCL, 0o666)

// A link may lead to any file of whoever downloads, and a pipe that nobody writes to would block its reader for ever.
const notElsewhere = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Whether a file is one that a download of this user can have left. In a directory that others write to, one of somebody
 * else may have been planted, and could be changed when it has its name. And whoever was killed after the part got its name
 * left it under both: what is written to the one is in the other.
 *
 * @internal
 */
export const isOwn = (
  stats: Pick<Stats, "isFile" | "nlink" | "uid">,
  user = process.platform === "win32" ? undefined : process.geteuid?.()
): boolean => stats.isFile() && stats.nlink <= 1 && (user === undefined || stats.uid === user)

/**
 * What is kept beside a target, where this user has left it there.
 *
 * @internal
 */
export const openOwn = async (path: string, access: number): Promise<NodeFs.FileHandle | undefined> => {
  const handle = await NodeFs.open(path, access | notElsewhere, 0o666).catch((cause) => {
    // by either code systems say that it is a link
    if (["ELOOP", "EMLINK"].includes(codeOf(cause) ?? "")) return undefined
    throw cause
  })
  if (handle === undefined) return undefined
  const stats = await handle.stat()
  if (isOwn(stats) || isOwn(stats, await ownerBeside(path))) return handle
  await handle.close()
  return undefined
}

// On a disk of a network or of another system, what this user makes may be owned by another number.
const ownerBeside = async (path: string): Promise<number> => {
  const made = `${path}.${randomUUID()}`
  const handle = await openNew(made).catch(() => undefined)
  const stats = await handle?.stat().finally(() => Promise.all([handle.close(), NodeFs.rm(made, { force: true })]))
  return stats?.uid ?? Number.NaN
}

const openKept = async (path: string): Promise<NodeFs.FileHandle> => {
  const kept = await openOwn(path, flags)
  if (kept !== undefined) return kept
  await NodeFs.rm(path)
  return openNew(path)
}

// Its owner may write it: a part that is kept is opened again. Not every system has modes, and the file is worth more.
const takeModeOf = async (handle: NodeFs.FileHandle, target: string): Promise<void> => {
  const there = await NodeFs.stat(target).catch(() => undefined)
  if (there !== undefined) await handle.chmod(there.mode & 0o777 | 0o600).catch(() => undefined)
}

/**
 * To its end also when it is interrupted: what came later would be in the file that is begun anew by then, from memory that
 * others use.
 *
 * @internal
 */
export const write = (
  { handle, target, writes }: PartFile,
  bytes: Uint8Array,
  position: number
): Effect.Effect<void, TargetUnwritable> =>
  writes.withPermits(1)(Effect.uninterruptible(attempt(target, async () => {
    for (let written = 0; written < bytes.byteLength;) {
      const left = bytes.byteLength - written
      written += (await handle.write(bytes, written, left, position + written)).bytesWritten
    }
  })))

const readSize = 1_048_576

/**
 * Reads what has been written, in memory that is used again.
 *
 * @internal
 */
export const read = (
  { handle, target }: PartFile,
  { length, offset }: { readonly offset: number; readonly length: number },
  onChunk: (chunk: Uint8Array) => void
): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(Effect.sync(() => readBuffer(Math.min(length, readSize))), (buffer) => {
    const from = (position: number): Effect.Effect<void, TargetUnwritable> => {
      const left = offset + length - position
      return left <= 0 ? Effect.void : Effect.flatMap(
        attempt(target, async () => {
          const { bytesRead } = await handle.read(buffer, 0, Math.min(left, buffer.byteLength), position)
          if (bytesRead === 0) throw new Error("The file is shorter than what was written")
          return bytesRead
        }),
        (count) => {
          onChunk(buffer.subarray(0, count))
          return from(position + count)
        }
      )
    }
    return from(offset)
  })

/**
 * Gives the file its name, as a whole and on disk.
 *
 * @internal
 */
export const commit = (
  file: PartFile,
  options: { readonly overwrite: boolean }
): Effect.Effect<void, DownloadTargetError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    yield* attempt(file.target, () => file.handle.sync())
    yield* checkOwn(file)
    yield* options.overwrite ? rename(file) : renameWithoutOverwriting(file)
    yield* syncDirectory(dirname(file.target))
  }))

// Where no lock can be made, two processes may have kept the same part: the one that comes second must not give its name
// to what is not its own.
const checkOwn = ({ handle, path, target }: PartFile): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(
    attempt(target, () => Promise.all([handle.stat({ bigint: true }), NodeFs.lstat(path, { bigint: true })])),
    ([own, there]) =>
      own.ino === there.ino && own.dev === there.dev ? Effect.void : Effect.fail(new TargetUnwritable({ path: target }))
  )

const rename = ({ path, target }: PartFile): Effect.Effect<void, TargetUnwritable> =>
  attempt(target, () => NodeFs.rename(path, target))

// A rename would take the place of a file that appeared meanwhile; a link does not.
const renameWithoutOverwriting = (file: PartFile): Effect.Effect<void, DownloadTargetError> =>
  Effect.catchAll(
    attempt(file.target, () => NodeFs.link(file.path, file.target)),
    (error): Effect.Effect<void, DownloadTargetError> => {
      if (error.code === "EEXIST") return Effect.fail(new TargetExists({ path: file.target }))
      if (!linkless.has(error.code ?? "")) return Effect.fail(error)
      return Effect.if(exists(file.target), {
        onTrue: () => Effect.fail(new TargetExists({ path: file.target })),
        onFalse: () => rename(file)
      })
    }
  )

// What file systems without links answer.
const linkless = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES"])

// Not every system lets a directory be synced; the file has its name all the same.
const syncDirectory = (path: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const handle = await NodeFs.open(path, "r").catch(() => undefined)
    await handle?.sync().catch(() => undefined)
    await handle?.close().catch(() => undefined)
  })
