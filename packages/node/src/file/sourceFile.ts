import type { SourceError } from "@stevedore/core/SourceError"
import { SourceChanged, SourceUnreadable, withCause } from "@stevedore/core/SourceError"
import type { SourceFingerprint } from "@stevedore/core/UploadSource"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { BigIntStats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { identityOf, released, untilFree } from "./heldFile.js"
import * as Within from "./paths.js"

export interface SourcePlace {
  readonly path: string
  readonly name: string
  /** The real path of the folder that it was found in: no link leads out of that, whenever it appears. */
  readonly within?: string | undefined
  /** What identifies it on whichever machine it is, instead of its device and inode. */
  readonly identity?: string | undefined
}

export interface SourceFile extends SourcePlace {
  readonly fingerprint: SourceFingerprint
}

const reasons: Readonly<Record<string, SourceUnreadable["reason"]>> = {
  ENOENT: "NotFound",
  ENOTDIR: "NotFound",
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  EISDIR: "Directory",
  // a link in the place of a file in a folder
  ELOOP: "NotAFile",
  EMLINK: "NotAFile"
}

export const unreadable = (name: string, cause: unknown): SourceUnreadable => {
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
  const error = new SourceUnreadable({
    fileName: name,
    reason: (code === undefined ? undefined : reasons[code]) ?? "Failed",
    ...(code === undefined ? {} : { code })
  })
  return withCause(error, cause)
}

export const attempt = <A>(name: string, run: () => Promise<A>): Effect.Effect<A, SourceUnreadable> =>
  Effect.tryPromise({ try: run, catch: (cause) => cause instanceof SourceUnreadable ? cause : unreadable(name, cause) })

const fingerprint = ({ identity, name }: SourcePlace, stats: BigIntStats): SourceFingerprint => {
  if (!stats.isFile()) {
    throw new SourceUnreadable({ fileName: name, reason: stats.isDirectory() ? "Directory" : "NotAFile" })
  }
  return {
    kind: "file",
    size: Number(stats.size),
    modified: Number(stats.mtimeNs) / 1_000_000,
    identity: identity ?? identityOf(stats)
  }
}

const fingerprintOf = async (handle: NodeFs.FileHandle, place: SourcePlace): Promise<SourceFingerprint> =>
  fingerprint(place, await handle.stat({ bigint: true }))

const fingerprintAt = async (place: SourcePlace): Promise<SourceFingerprint> => {
  const look = place.within === undefined ? NodeFs.stat : NodeFs.lstat
  return fingerprint(place, await look(place.path, { bigint: true }))
}

// Opening a pipe that has replaced the file since it was inspected would block forever.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const opened = ({ name, path, within }: SourcePlace): Promise<NodeFs.FileHandle> =>
  within === undefined ?
    NodeFs.open(path, flags) :
    Within.open({ path, within }, flags, () => new SourceUnreadable({ fileName: name, reason: "NotAFile" }))

/** What it is, if this user may read it. It is not opened, because opening a device can have side effects. */
export const inspect = (place: SourcePlace): Effect.Effect<SourceFingerprint, SourceUnreadable> =>
  attempt(place.name, async () => {
    const found = await fingerprintAt(place)
    await NodeFs.access(place.path, constants.R_OK)
    return found
  })

/** What the file system knows of a file besides its size. */
export interface FileState {
  /** Its date, in nanoseconds. */
  readonly modified: string
  /** What no program sets: when it was last changed in any way, and its number on its disk. */
  readonly changed: string
}

/** Of what cannot be inspected, nothing is known. */
export const stateAt = (path: string): Effect.Effect<FileState | undefined> =>
  Effect.promise(() =>
    NodeFs.stat(path, { bigint: true }).then(
      ({ ctimeNs, ino, mtimeNs }) => ({ modified: `${mtimeNs}`, changed: `${ctimeNs}:${ino}` }),
      () => undefined
    )
  )

const aspects = ["identity", "size", "modified"] as const

// A file system may have dates that a Date cannot represent
const dateOf = (millis: number): string =>
  Option.match(DateTime.make(millis), {
    onNone: () => `${millis} ms from 1970`,
    onSome: DateTime.formatIso
  })

const show: Record<typeof aspects[number], (fingerprint: SourceFingerprint) => string> = {
  identity: ({ identity }) => `the file ${identity ?? "without identity"}`,
  size: ({ size }) => `${size} bytes`,
  modified: ({ modified }) => modified === undefined ? "without date" : dateOf(modified)
}

const difference = ({ fingerprint, name }: SourceFile, now: SourceFingerprint): SourceChanged | undefined => {
  const what = aspects.find((aspect) => fingerprint[aspect] !== now[aspect])
  return what === undefined
    ? undefined
    : new SourceChanged({ fileName: name, what, expected: show[what](fingerprint), actual: show[what](now) })
}

export const checkUnchanged = (file: SourceFile, now: SourceFingerprint): Either.Either<void, SourceChanged> => {
  const changed = difference(file, now)
  return changed === undefined ? Either.void : Either.left(changed)
}

/** One step, here and below: with several for each file, they would cost more than what they do. */
export const open = (file: SourceFile): Effect.Effect<NodeFs.FileHandle, SourceError, Scope.Scope> =>
  untilFree(released(
    attempt(file.name, () => opened(file)),
    (handle) => Effect.promise(() => handle.close().catch(() => undefined))
  )).pipe(
    Effect.tap((handle) =>
      Effect.flatMap(attempt(file.name, () => fingerprintOf(handle, file)), (now) => checkUnchanged(file, now))
    )
  )

/** The handle reveals writes to the file; the path reveals another file in its place. */
export const unchanged = (file: SourceFile, handle: NodeFs.FileHandle): Effect.Effect<void, SourceError> =>
  Effect.flatMap(
    attempt(file.name, async () => ({
      byHandle: await fingerprintOf(handle, file),
      byPath: await fingerprintAt(file)
    })),
    ({ byHandle, byPath }) => Either.flatMap(checkUnchanged(file, byHandle), () => checkUnchanged(file, byPath))
  )

/**
 * For the byte path, which does not use Effect: throws what {@link checkUnchanged} fails with, and does not look at the path.
 */
export const assertUnchanged = async (file: SourceFile, handle: NodeFs.FileHandle): Promise<void> => {
  const changed = difference(file, await fingerprintOf(handle, file))
  if (changed !== undefined) throw changed
}
