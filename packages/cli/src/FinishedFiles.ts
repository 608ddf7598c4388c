/**
 * Remembers the files that a stopped command had uploaded, so that running it again skips them.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { isThere } from "@stevedore/core/FileRecord"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import { SourceFingerprint } from "@stevedore/core/SourceFingerprint"
import { UploadLedger } from "@stevedore/core/UploadLedger"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import { Completed } from "./Reports.js"

/**
 * An uploaded file: its absolute path, its state at the time, and what was reported about it.
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
 * What is known about one command: the same paths, to the same service, with the same media type.
 *
 * @since 0.1.0
 * @category models
 */
export interface FinishedFiles {
  /** Whether anything is known about this file. */
  readonly has: (path: string) => boolean
  /** What was reported about this file, if it was uploaded and has not changed since. */
  readonly find: (path: string, fingerprint: SourceFingerprint) => Option.Option<typeof Completed.Type>
  /** Records a file. If that fails, the only consequence is that running the command again uploads it again. */
  readonly add: (finished: Finished) => Effect.Effect<void>
  /** Forgets all files. */
  readonly clear: Effect.Effect<void>
}

/**
 * Knows nothing and records nothing.
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
 * Asks the service for an uploaded file. Returns what was reported, with the file's current record; none if the service
 * no longer has it, or never had it for this token, or if it has failed or has another size.
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

// also if something else is in its place or in that of its directory
const isMissing = (error: PlatformError): boolean =>
  error._tag === "SystemError" && (error.reason === "NotFound" || error.reason === "BadResource")

const read = (fs: FileSystem.FileSystem, file: string): Effect.Effect<ReadonlyArray<Finished>> =>
  DiskLedger.untilReadable(fs.readFileString(file)).pipe(
    Effect.map((text) =>
      // a killed process may have left an incomplete line
      text.split("\n").flatMap((line) => Either.match(decodeLine(line), { onLeft: () => [], onRight: (one) => [one] }))
    ),
    Effect.catchAll((error) =>
      Effect.as(
        Effect.unless(
          Effect.logWarning(`Files that are already uploaded are not skipped: ${error.message}`),
          () => isMissing(error)
        ),
        []
      )
    )
  )

const folder = "finished"

/**
 * What identifies a command as the same one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command {
  readonly service: string
  readonly paths: ReadonlyArray<string>
  /** The media type for all files. If none, each file's is derived from its extension. */
  readonly mediaType: Option.Option<string>
}

/**
 * Another process is running the same command. Each would send the files that the other is not sending at that moment.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandRunning extends Schema.TaggedError<CommandRunning>("@stevedore/cli/CommandRunning")(
  "CommandRunning",
  { kind: ErrorKind.field("tryLater") }
) {
  override get message(): string {
    return "The same command is already running, and would send the same files. Wait for it to end, or upload independently " +
      "with --no-resume."
  }
}

/**
 * The files of a command, kept in the directory of unfinished uploads: one line of JSON per file, without tokens or
 * URLs. As for unfinished uploads, a directory that others can access is not used: whoever can write there could make
 * files be skipped. For the lifetime of the scope, only this process may run the command, guarded by a lock of the
 * ledger in force. Files of commands that have not run for 30 days are removed.
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
    const problem = yield* Effect.flip(DiskLedger.untilReadable(directory.checked)).pipe(Effect.option)
    if (Option.isSome(problem)) {
      yield* Effect.logWarning(
        `Files that are already uploaded are neither recorded nor skipped: ${problem.value.message}`
      )
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
    const warn = DiskLedger.warnOnce()
    const known = new Map((yield* read(fs, directory.pathOf(file))).map((one) => [one.path, one]))
    const now = yield* Clock.currentTimeMillis
    // Commands with a path such as today's folder are never run again. This one is, even if it adds nothing.
    yield* Effect.ignore(fs.utimes(directory.pathOf(file), new Date(now), new Date(now)))
    for (const name of yield* directory.untouchedSince(folder, now - DiskLedger.longestKept)) {
      yield* Effect.ignore(fs.remove(directory.pathOf(`${folder}/${name}`), { force: true }))
    }
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
          // with its own line break before it: an incomplete line does not spoil it
          yield* directory.append(file, `\n${line}`)
        }).pipe(
          Effect.catchAll((error) => warn(`An uploaded file cannot be recorded: ${error.message}`))
        ),
      clear: Effect.ignore(fs.remove(directory.pathOf(file), { force: true }))
    }
  })
