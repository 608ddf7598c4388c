import * as Flushes from "@stevedore/core/parts/flushes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { dirname } from "node:path"
import type { DownloadTargetError } from "../DownloadTargetError.js"
import { TargetExists, TargetUnwritable } from "../DownloadTargetError.js"
import { identityOf, untilFree, untilLetGo } from "../file/heldFile.js"
import { readBuffer } from "../file/readBuffers.js"
import { attempt, codeOf, exists } from "./downloadTarget.js"

/** The file beside the target to which a download is written until it is complete. */
export interface PartFile {
  readonly path: string
  readonly target: string
  readonly handle: NodeFs.FileHandle
  // the kernel allows one write to a file at a time: concurrent ones would occupy threads that only spin
  readonly writes: Effect.Semaphore
  readonly flushes: Flushes.Flushes<TargetUnwritable>
  /** Fails once another download may have taken the part over. */
  readonly held: Effect.Effect<void, TargetUnwritable>
}

/** What cannot be removed stays: by then, the download has ended one way or the other. */
export const remove = (path: string): Effect.Effect<void> =>
  Effect.ignore(untilLetGo(attempt(path, () => NodeFs.rm(path, { force: true }))))

/** Opens the part until the scope ends, and then removes it unless it is kept. A kept one may already exist. */
export const open = (
  path: string,
  target: string,
  options: {
    readonly keep: boolean
    /** Whether it is worth keeping if its scope ends with a failure. */
    readonly worth: Effect.Effect<boolean>
    /** Whether its lock is still held; absent if it has none, or one that is never lost. */
    readonly isHeld?: Effect.Effect<boolean> | undefined
    /** Called when it was kept. */
    readonly onKept?: (() => void) | undefined
    /**
     * Whether it will replace a file: then it gets that file's mode and group, so that nobody can read it who could not
     * read that one.
     */
    readonly overwrite: boolean
  }
): Effect.Effect<PartFile, TargetUnwritable, Scope.Scope> =>
  Effect.gen(function*() {
    const { isHeld = Effect.succeed(true) } = options
    const handle = yield* untilFree(Effect.acquireRelease(
      attempt(target, async () => {
        const replaced = options.overwrite ? await NodeFs.stat(target).catch(() => undefined) : undefined
        const handle = await (options.keep ? openKept(path, replaced) : openNew(path, replaced))
        if (replaced !== undefined) await takeAccessOf(handle, replaced)
        return handle
      }),
      (handle, exit) =>
        Effect.gen(function*() {
          yield* Effect.promise(() => handle.close().catch(() => undefined))
          const kept = options.keep && Exit.isFailure(exit) && ((yield* options.worth) || !(yield* isHeld))
          yield* kept ? Effect.sync(() => options.onKept?.()) : remove(path)
        })
    ))
    const flushes = yield* Flushes.make(attempt(target, () => handle.sync()))
    const held = Effect.unlessEffect(new TargetUnwritable({ path: target, code: "EBUSY" }), isHeld)
    return { path, target, handle, writes: yield* Effect.makeSemaphore(1), flushes, held: Effect.asVoid(held) }
  })

const flags = constants.O_RDWR | constants.O_CREAT

// What will replace a file is its owner's alone until it has that file's access: whoever opens it in between could read
// everything that is written later.
const openNew = (path: string, replaced?: Stats): Promise<NodeFs.FileHandle> =>
  NodeFs.open(path, flags | constants.O_EXCL, replaced === undefined ? 0o666 : 0o600)

// A link may lead to any file of this user, and opening a pipe that nobody writes to would block forever.
const notElsewhere = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Whether a file can be one that a download of this user left behind. In a directory that others can write to, somebody
 * else's file may have been planted, and could still be changed after it gets its name. And a process killed just after
 * linking the part to its target leaves it under both names: writing to one would change the other.
 */
export const isOwn = (
  stats: Pick<Stats, "isFile" | "nlink" | "uid">,
  user = process.platform === "win32" ? undefined : process.geteuid?.()
): boolean => stats.isFile() && stats.nlink <= 1 && (user === undefined || stats.uid === user)

// Such as one that root left: only its owner may open it, but whoever may write to the directory may replace it.
const isOfOther = (path: string): Promise<boolean> => NodeFs.lstat(path).then((stats) => !isOwn(stats), () => false)

/** The kept part beside a target, if this user left it there. */
export const openOwn = async (
  path: string,
  access: number,
  mode = 0o600
): Promise<NodeFs.FileHandle | undefined> => {
  const handle = await NodeFs.open(path, access | notElsewhere, mode).catch(async (cause) => {
    const code = codeOf(cause) ?? ""
    // systems report a link by either code
    if (["ELOOP", "EMLINK"].includes(code)) return undefined
    if (code === "EACCES" && await isOfOther(path)) return undefined
    throw cause
  })
  if (handle === undefined) return undefined
  let own = false
  try {
    const stats = await handle.stat()
    own = isOwn(stats) || isOwn(stats, await ownerBeside(path))
  } finally {
    if (!own) await handle.close()
  }
  return own ? handle : undefined
}

// On a network disk or another system's disk, this user's files may be owned by another user id.
const ownerBeside = async (path: string): Promise<number> => {
  const made = `${path}.${randomUUID()}`
  const handle = await NodeFs.open(made, flags | constants.O_EXCL, 0o600).catch(() => undefined)
  const stats = await handle?.stat().finally(() => Promise.all([handle.close(), NodeFs.rm(made, { force: true })]))
  return stats?.uid ?? Number.NaN
}

const others = 0o077

// Whoever may read the part, and not the file that it will replace, may have opened it already.
const isTooOpen = async (kept: NodeFs.FileHandle, replaced: Stats): Promise<boolean> => {
  const { gid, mode } = await kept.stat()
  return (mode & ~accessOf(replaced, gid) & others) !== 0
}

const openKept = async (path: string, replaced: Stats | undefined): Promise<NodeFs.FileHandle> => {
  const kept = await openOwn(path, flags, replaced === undefined ? 0o666 : 0o600)
  if (kept !== undefined) {
    if (replaced === undefined || process.platform === "win32" || !(await isTooOpen(kept, replaced))) return kept
    await kept.close()
  }
  await NodeFs.rm(path)
  return openNew(path, replaced)
}

// Another group gets no more than everybody. The owner may always write, because a kept part is opened again.
const accessOf = ({ gid, mode }: Stats, group: number): number =>
  (gid === group ? mode : mode & ~0o070 | (mode & mode << 3 & 0o070)) & 0o777 | 0o600

// Not every system has modes and groups, and the download matters more.
const takeAccessOf = async (handle: NodeFs.FileHandle, replaced: Stats): Promise<void> => {
  await handle.chown(-1, replaced.gid).catch(() => undefined)
  const { gid } = await handle.stat()
  await handle.chmod(accessOf(replaced, gid)).catch(() => undefined)
}

/**
 * Finishes even if interrupted: a later write would land in a file that has been started over by then, from memory that
 * others reuse.
 */
export const write = (
  { flushes, handle, held, target, writes }: PartFile,
  bytes: Uint8Array,
  position: number
): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(
    writes.withPermits(1)(Effect.zipRight(
      held,
      Effect.uninterruptible(attempt(target, async () => {
        for (let written = 0; written < bytes.byteLength;) {
          const left = bytes.byteLength - written
          written += (await handle.write(bytes, written, left, position + written)).bytesWritten
        }
        return bytes.byteLength
      }))
    )),
    flushes.wrote
  )

const readSize = 1_048_576

/** Reads what has been written, into a reused buffer. */
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

/** Syncs the file to disk, and then gives it its name. */
export const commit = (
  file: PartFile,
  options: { readonly overwrite: boolean }
): Effect.Effect<void, DownloadTargetError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    yield* file.flushes.now
    yield* file.held
    yield* checkOwn(file)
    yield* Effect.catchAll(
      untilLetGo(options.overwrite ? rename(file) : renameWithoutOverwriting(file)),
      (error) => Effect.unlessEffect(Effect.fail(error), hasItsName(file))
    )
    yield* syncDirectory(dirname(file.target))
  }))

const isAt = ({ handle, target }: PartFile, path: string): Effect.Effect<boolean, TargetUnwritable> =>
  Effect.map(
    attempt(target, () => Promise.all([handle.stat({ bigint: true }), NodeFs.lstat(path, { bigint: true })])),
    ([own, there]) => identityOf(own) === identityOf(there)
  )

// If no lock could be created, two processes may have kept the same part: the second must not rename a file that is not
// its own.
const checkOwn = (file: PartFile): Effect.Effect<void, TargetUnwritable> =>
  Effect.unlessEffect(Effect.fail(new TargetUnwritable({ path: file.target })), isAt(file, file.path))

// If the response of a network drive is lost, it is asked again, and refuses: the target exists, or the part no longer
// does.
const hasItsName = (file: PartFile): Effect.Effect<boolean> =>
  Effect.orElseSucceed(isAt(file, file.target), () => false)

const rename = ({ path, target }: PartFile): Effect.Effect<void, TargetUnwritable> =>
  attempt(target, () => NodeFs.rename(path, target))

// A rename would replace a file that has appeared in the meantime; a link does not. Without hard links, only a look just
// before tells: file systems report that they have none by many codes, and Windows by EISDIR.
const renameWithoutOverwriting = (file: PartFile): Effect.Effect<void, DownloadTargetError> =>
  Effect.catchAll(
    attempt(file.target, () => NodeFs.link(file.path, file.target)),
    ({ code }) =>
      Effect.flatMap(
        code === "EEXIST" ? Effect.succeed(true) : exists(file.target),
        (isThere): Effect.Effect<void, DownloadTargetError> =>
          isThere ? Effect.fail(new TargetExists({ path: file.target })) : rename(file)
      )
  )

// Not every system can sync a directory; the file has its name regardless.
const syncDirectory = (path: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const handle = await NodeFs.open(path, "r").catch(() => undefined)
    await handle?.sync().catch(() => undefined)
    await handle?.close().catch(() => undefined)
  })
