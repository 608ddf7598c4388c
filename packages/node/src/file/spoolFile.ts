import { systemCode } from "@stevedore/core/ConnectionError"
import type { SourceUnreadable } from "@stevedore/core/SourceError"
import { SizeExceeded } from "@stevedore/core/UploadError"
import { readable } from "@stevedore/core/UploadSources"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import * as NodeFs from "node:fs/promises"
import { join } from "node:path"
import { SpoolUnwritable } from "../SpoolError.js"
import { untilFree } from "./heldFile.js"
import * as Leftovers from "./leftovers.js"

interface Spool {
  readonly name: string
  readonly directory: string
  readonly atMost: number
}

interface SpoolFile {
  readonly path: string
  readonly handle: NodeFs.FileHandle
}

const attempt = <A>({ directory, name }: Spool, run: () => Promise<A>): Effect.Effect<A, SpoolUnwritable> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new SpoolUnwritable({ fileName: name, directory, code: systemCode(cause) })
  })

const named = /^stevedore-(\d+)-[0-9a-f-]{36}\.spool$/

// It is not written to while it is uploaded.
const longest = "7 days"

const sweep = (directory: string): Effect.Effect<void> =>
  Effect.flatMap(
    Leftovers.find(directory, named, longest),
    Effect.forEach((path) => Effect.promise(() => NodeFs.rm(path, { force: true }).catch(() => undefined)), {
      discard: true
    })
  )

const create = (spool: Spool): Effect.Effect<SpoolFile, SpoolUnwritable, Scope.Scope> =>
  untilFree(Effect.acquireRelease(
    Effect.suspend(() => {
      const path = join(spool.directory, `stevedore-${process.pid}-${randomUUID()}.spool`)
      return Effect.map(attempt(spool, () => NodeFs.open(path, "wx", 0o600)), (handle) => ({ path, handle }))
    }),
    ({ handle, path }) =>
      Effect.promise(async () => {
        await handle.close().catch(() => undefined)
        await NodeFs.rm(path, { force: true }).catch(() => undefined)
      })
  ))

const fill = <E>(spool: Spool, file: SpoolFile, stream: Stream.Stream<Uint8Array, E>) =>
  Effect.suspend(() => {
    const { atMost, name } = spool
    let size = 0
    const write = (chunk: Uint8Array): Effect.Effect<void, SpoolUnwritable | SizeExceeded> => {
      size += chunk.byteLength
      return size > atMost
        ? Effect.fail(new SizeExceeded({ fileName: name, size, limit: atMost, path: "multipart" }))
        : attempt(spool, () => file.handle.writeFile(chunk))
    }
    return Effect.zipRight(
      Stream.runForEach(readable(name, stream), write),
      attempt(spool, () => file.handle.close())
    )
  })

/**
 * Writes everything that a stream emits to a file of its own, which only its owner can read and which is removed with
 * the scope. If that fails or is interrupted, nothing is left behind. Returns the path of the file.
 */
export const write = <E>(
  spool: Spool,
  stream: Stream.Stream<Uint8Array, E>
): Effect.Effect<string, SourceUnreadable | SpoolUnwritable | SizeExceeded, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const parent = yield* Effect.scope
      yield* restore(sweep(spool.directory))
      const own = yield* Scope.fork(parent, parent.strategy)
      const file = yield* Scope.extend(create(spool), own)
      return yield* Effect.as(restore(fill(spool, file, stream)), file.path).pipe(
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit))
      )
    })
  )
