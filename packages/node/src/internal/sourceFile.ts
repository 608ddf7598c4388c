import type { SourceError } from "@stevedore/core/SourceError"
import { SourceChanged, SourceUnreadable } from "@stevedore/core/SourceError"
import type { SourceFingerprint } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { BigIntStats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"

/** @internal */
export interface SourceFile {
  readonly path: string
  readonly name: string
  readonly fingerprint: SourceFingerprint
}

const reasons: Readonly<Record<string, SourceUnreadable["reason"]>> = {
  ENOENT: "NotFound",
  ENOTDIR: "NotFound",
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  EISDIR: "Directory"
}

/** @internal */
export const unreadable = (name: string, cause: unknown): SourceUnreadable => {
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
  return new SourceUnreadable({
    name,
    reason: (code === undefined ? undefined : reasons[code]) ?? "Failed",
    ...(code === undefined ? {} : { code })
  })
}

const attempt = <A>(name: string, run: () => Promise<A>): Effect.Effect<A, SourceUnreadable> =>
  Effect.tryPromise({ try: run, catch: (cause) => unreadable(name, cause) })

const fingerprint = (stats: BigIntStats): SourceFingerprint => ({
  kind: "file",
  size: Number(stats.size),
  modified: Number(stats.mtimeNs) / 1_000_000,
  identity: `${stats.dev}:${stats.ino}`
})

const regular = (stats: BigIntStats, name: string): Effect.Effect<BigIntStats, SourceUnreadable> =>
  stats.isFile()
    ? Effect.succeed(stats)
    : Effect.fail(new SourceUnreadable({ name, reason: stats.isDirectory() ? "Directory" : "NotAFile" }))

const statsAt = (path: string, name: string): Effect.Effect<BigIntStats, SourceUnreadable> =>
  Effect.flatMap(attempt(name, () => NodeFs.stat(path, { bigint: true })), (stats) => regular(stats, name))

/**
 * Before the file is opened: to open a device can have an effect of its own.
 *
 * @internal
 */
export const checkKind = (path: string, name: string): Effect.Effect<void, SourceUnreadable> =>
  Effect.asVoid(statsAt(path, name))

/** @internal */
export const fingerprintOf = (
  handle: NodeFs.FileHandle,
  name: string
): Effect.Effect<SourceFingerprint, SourceUnreadable> =>
  attempt(name, () => handle.stat({ bigint: true })).pipe(
    Effect.flatMap((stats) => regular(stats, name)),
    Effect.map(fingerprint)
  )

/** @internal */
export const fingerprintAt = (path: string, name: string): Effect.Effect<SourceFingerprint, SourceUnreadable> =>
  Effect.map(statsAt(path, name), fingerprint)

// A pipe that took the file's place since it was looked at would block its opener for ever.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** @internal */
export const open = (path: string, name: string): Effect.Effect<NodeFs.FileHandle, SourceUnreadable, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(name, () => NodeFs.open(path, flags)),
    (handle) => Effect.promise(() => handle.close().catch(() => undefined))
  )

const aspects = ["identity", "size", "modified"] as const

const show = (aspect: typeof aspects[number], value: string | number | undefined): string | undefined =>
  value === undefined
    ? undefined
    : aspect === "size"
    ? `${value} bytes`
    : aspect === "modified"
    ? new Date(Number(value)).toISOString()
    : String(value)

/** @internal */
export const checkUnchanged = (
  { fingerprint, name }: SourceFile,
  now: SourceFingerprint
): Either.Either<void, SourceError> => {
  const what = aspects.find((aspect) => fingerprint[aspect] !== now[aspect])
  return what === undefined
    ? Either.void
    : Either.left(
      new SourceChanged({ name, what, expected: show(what, fingerprint[what]), actual: show(what, now[what]) })
    )
}
