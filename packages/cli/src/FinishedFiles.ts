/**
 * The files of a command that went up before it was stopped: run again, the command leaves them out.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { isThere } from "@stevedore/core/FileRecord"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import { SourceFingerprint } from "@stevedore/core/SourceFingerprint"
import { UploadLedger } from "@stevedore/core/UploadLedger"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
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
 * What is known of one command: the same paths, at the same service, as files of the same media type.
 *
 * @since 0.1.0
 * @category models
 */
export interface FinishedFiles {
  /** Whether anything is known of this file. */
  readonly has: (path: string) => boolean
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
export const none: FinishedFiles = {
  has: () => false,
  find: () => Option.none(),
  add: () => Effect.void,
  clear: Effect.void
}

/**
 * Asks the service for a file that went up: what was told of it, with its record as it is now. None where the service has
 * it no more, or never had for this token; where it failed, or is of another size.
 *
 * @since 0.1.0
 * @category combinators
 */
export const stillUp = (
  report: typeof Completed.Type
): Effect.Effect<Option.Option<typeof Completed.Type>, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service) => service.file(report.file.id)).pipe(
    Effect.map((file) => isThere(file, report.bytes) ? Option.some({ ...report, file }) : Option.none()),
    Effect.catchTag("NotFound", "Forbidden", () => Effect.succeedNone)
  )

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

const folder = "finished"

/**
 * What makes a command the same one as before.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command {
  readonly service: string
  readonly paths: ReadonlyArray<string>
  /** What the files are said to be. None: each by its extension. */
  readonly mediaType: Option.Option<string>
}

/**
 * Another process carries the same command out. Both would send every file that the other is not sending at that moment.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandRunning extends Schema.TaggedError<CommandRunning>("@stevedore/cli/CommandRunning")(
  "CommandRunning",
  {}
) {
  override get message(): string {
    return "The same command is running already, and nothing is sent twice. Wait for its end, or upload independently of it " +
      "with --no-resume."
  }
}

/**
 * The files of a command, kept in the directory of unfinished uploads: a line of JSON for each, without tokens or URLs. As
 * there, a directory that others may enter is not used: whoever can write there could have files left out. The command is
 * this process's alone for as long as the scope, by a lock of the ledger in force.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  { mediaType, paths, service }: Command
): Effect.Effect<FinishedFiles, CommandRunning, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { resolve } = yield* Path.Path
    const found = yield* DiskLedger.privateDirectory
    if (Option.isNone(found)) return none
    const directory = found.value
    const problem = yield* Effect.flip(directory.checked).pipe(Effect.option)
    if (Option.isSome(problem)) {
      yield* Effect.logWarning(`No file is left out as up already, and none is written down: ${problem.value.message}`)
      return none
    }
    const identity = JSON.stringify([
      service,
      Option.getOrNull(mediaType),
      ...paths.map((path) => resolve(path)).sort()
    ])
    const id = createHash("sha256").update(identity).digest("hex").slice(0, 32)
    const { lock } = yield* UploadLedger
    if (!(yield* lock(id))) return yield* new CommandRunning()
    const file = `${folder}/${id}.jsonl`
    const known = new Map((yield* read(fs, directory.pathOf(file))).map((one) => [one.path, one]))
    return {
      has: (path) => known.has(resolve(path)),
      find: (path, fingerprint) =>
        Option.fromNullable(known.get(resolve(path))).pipe(
          Option.filter((one) => isSame(one.fingerprint, fingerprint)),
          Option.map(({ report }) => report)
        ),
      add: (finished) =>
        Effect.gen(function*() {
          yield* directory.makeDirectory(folder)
          const line = yield* Schema.encode(Line)({ ...finished, path: resolve(finished.path) })
          yield* directory.append(file, `${line}\n`)
        }).pipe(
          Effect.catchAll((error) => Effect.logWarning(`What went up cannot be written down: ${error.message}`))
        ),
      clear: Effect.ignore(fs.remove(directory.pathOf(file), { force: true }))
    }
  })
