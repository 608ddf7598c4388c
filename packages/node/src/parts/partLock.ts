import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { basename, dirname } from "node:path"
import type { TargetUnwritable } from "../DownloadTargetError.js"
import { beat } from "../file/processIdentity.js"
import * as FileLock from "../ledger/fileLock.js"
import { writeNew } from "../ledger/privateDirectory.js"
import { attempt } from "./downloadTarget.js"

// Beside the part, whose directory exists: every process that shares the directory sees the lock.
const beside = (fs: FileSystem.FileSystem, part: string): FileLock.Place => ({
  makeDirectory: () => Effect.void,
  pathOf: (path) => `${part}.${basename(path)}`,
  writeAside: (content) =>
    Effect.tap(
      Effect.sync(() => `${part}.${randomUUID()}`),
      (path) => writeNew(fs, path, content)
    )
})

/** Whether the lock of a part is still held; `undefined` if one that was taken is never lost. */
export type IsHeld = Effect.Effect<boolean> | undefined

/**
 * Locks a kept part for a scope. None if another download is writing to it, in this process or another one. If no lock
 * can be created, such as without hard links, it counts as acquired. It is lost only after many minutes without a sign of
 * life: who holds it is looked up once a minute.
 */
export const take = (
  part: string,
  target: string
): Effect.Effect<Option.Option<IsHeld>, TargetUnwritable, Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* attempt(target, () => NodeFs.access(dirname(part), constants.W_OK))
    const { isHeld, lock } = yield* FileLock.make(fs, beside(fs, part), { what: "Partial downloads" })
    const asked = isHeld && (yield* Effect.cachedWithTTL(isHeld("lock"), beat))
    return Option.liftPredicate(yield* lock("lock"), Boolean).pipe(Option.as(asked))
  }).pipe(Effect.provide(NodeFileSystem.layer))
