/**
 * The files of a command that went up before it was stopped: run again, the command leaves them out.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { SourceFingerprint } from "@stevedore/core/SourceFingerprint"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { Completed } from "./Reports.js"

/**
 * A file that went up: its absolute path, what it was then, and what was told of it.
 *
 * @since 0.1.0
 * @category models
 */
export const Finished = Schema.Struct({
  path: Schema.String,
  fingerprint: SourceFingerprint,
  report: Completed
}).annotations({ identifier: "Finished" })

/**
 * @since 0.1.0
 * @category models
 */
export type Finished = typeof Finished.Type

/**
 * What is known of one command: the same paths, at the same service.
 *
 * @since 0.1.0
 * @category models
 */
export interface FinishedFiles {
  /** What was told of this file, if it went up and is the same still. */
  readonly find: (path: string, fingerprint: SourceFingerprint) => Option.Option<typeof Completed.Type>
  /** Writes a file down. Where that fails, it only goes up again when the command is run again. */
  readonly add: (finished: Finished) => Effect.Effect<void>
  /** Forgets all of them. */
  readonly clear: Effect.Effect<void>
}

/**
 * Nothing is known, and nothing is kept.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: FinishedFiles = { find: () => Option.none(), add: () => Effect.void, clear: Effect.void }

const Line = Schema.parseJson(Finished)
const decodeLine = Schema.decodeUnknownEither(Line, { onExcessProperty: "preserve" })
const isSame = Schema.equivalence(SourceFingerprint)

const read = (fs: FileSystem.FileSystem, file: string) =>
  fs.readFileString(file).pipe(
    Effect.map((text) =>
      // a process that was killed may have left half a line
      text.split("\n").flatMap((line) => Either.match(decodeLine(line), { onLeft: () => [], onRight: (one) => [one] }))
    ),
    Effect.orElseSucceed((): ReadonlyArray<Finished> => [])
  )

/**
 * The files of a command, kept in the directory of unfinished uploads: a line of JSON for each, without tokens or URLs.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  command: { readonly service: string; readonly paths: ReadonlyArray<string> }
): Effect.Effect<FinishedFiles, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join, resolve } = yield* Path.Path
    const directory = yield* DiskLedger.defaultDirectory
    if (Option.isNone(directory)) return none
    const folder = join(directory.value, "finished")
    const identity = JSON.stringify([command.service, ...command.paths.map((path) => resolve(path)).sort()])
    const file = join(folder, `${createHash("sha256").update(identity).digest("hex").slice(0, 32)}.jsonl`)
    const known = new Map((yield* read(fs, file)).map((one) => [one.path, one]))
    return {
      find: (path, fingerprint) =>
        Option.fromNullable(known.get(resolve(path))).pipe(
          Option.filter((one) => isSame(one.fingerprint, fingerprint)),
          Option.map(({ report }) => report)
        ),
      add: (finished) =>
        Effect.gen(function*() {
          yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
          const line = yield* Schema.encode(Line)({ ...finished, path: resolve(finished.path) })
          yield* fs.writeFileString(file, `${line}\n`, { flag: "a", mode: 0o600 })
        }).pipe(
          Effect.catchAll((error) => Effect.logWarning(`What went up cannot be written down: ${error.message}`))
        ),
      clear: Effect.ignore(fs.remove(file, { force: true }))
    }
  })
