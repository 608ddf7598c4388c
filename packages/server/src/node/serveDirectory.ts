/** The directory of a service: held by one process at a time, closed to other users, with the secrets that it remembers. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { hostname } from "node:os"
import { errorCode } from "../base/errorCode.js"
import * as Sqlite from "../Sqlite.js"
import * as PrivateFiles from "../storage/disk.js"
import * as Room from "../storage/room.js"
import { ServeFailed } from "./listening.js"

export const failed = (problem: string) => new ServeFailed({ option: "directory", problem })

/** The database of a service, below its directory. @internal */
export const DATABASE = "stevedore.db"

const LOCK = "lock.db"

/** Who has the lock, for people: nothing depends on it. */
const HOLDER = "lock"

/**
 * Makes a file that is missing, empty, and takes one that is there from everybody but its owner. One that is there is not opened:
 * to close it would end the locks that this process has on it.
 */
const file = (path: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) =>
      Effect.scoped(fs.open(path, { flag: "wx", mode: PrivateFiles.FILE })).pipe(
        Effect.catchIf(
          (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
          () => Effect.void
        ),
        Effect.zipRight(PrivateFiles.closed(fs, path, PrivateFiles.FILE))
      )
  )

/**
 * An exclusive lock of SQLite's, which the kernel ends with the process that has it: it holds between containers of one host,
 * and what a dead process has left is no lock.
 */
const locked = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const holder = join(directory, HOLDER)
    yield* file(join(directory, LOCK))
    yield* Sqlite.hold(join(directory, LOCK)).pipe(
      Effect.catchTag("SqlError", (error) =>
        errorCode(error) === "SQLITE_BUSY"
          ? Effect.flatMap(
            Effect.orElseSucceed(fs.readFileString(holder), () => "another process"),
            (who) => failed(`${who} serves ${directory} already: end it, or use another directory`)
          )
          : failed(`cannot lock ${directory} (${errorCode(error)})`))
    )
    // a start needs room too
    yield* Room.giveUp(directory)
    yield* PrivateFiles.write(holder, `process ${process.pid} on ${hostname()}`)
  })

/** What a file holds; none if there is no such file. */
const textIn = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.readFileString(file).pipe(
      Effect.map(Option.some),
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "NotFound",
        () => Effect.succeed(Option.none<string>())
      )
    ))

/**
 * A secret that was kept, if it is whole; none if there was none yet. What cannot be read, or has not its exact form, is neither
 * used nor replaced.
 */
export const secret = (file: string, form: RegExp, loss: string) =>
  Effect.filterOrFail(
    textIn(file),
    (found) => Option.isNone(found) || form.test(found.value),
    () => failed(`${file} is not whole: restore it from a backup, or remove it, and ${loss}`)
  )

export const signingKey = (file: string, make: Effect.Effect<string>) =>
  Effect.flatMap(
    secret(file, /^[0-9A-Za-z]{43}$/, "URLs that were handed out are no longer valid"),
    Option.match({
      onNone: () => Effect.tap(make, (text) => PrivateFiles.write(file, text)),
      onSome: Effect.succeed
    })
  )

/** How the directory is laid out, counted from 0.1.0 on. */
const FORMAT = 1

/** Whether there is a service in the directory that this version knows. */
export const isKnown = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    // made after the other
    const isThere = yield* fs.exists(join(directory, DATABASE))
    const format = Number(Option.getOrElse(yield* textIn(join(directory, "format")), () => isThere ? 0 : FORMAT))
    if (format > FORMAT) return yield* failed(`${directory} was written by a newer version of Stevedore: use that one`)
    return format === FORMAT
      ? isThere
      : yield* failed(`${directory} was written before version 0.1.0: use another directory`)
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "ServeFailed" ? error : failed(`cannot use ${directory}: ${error.message}`)
    )
  )

const ours =
  /^(?:format|reserve|signing-key|token|profile\.json|lock|lock\.db|store|\.gitignore|lost\+found|stevedore\.db)(?:[-.]\w+)?$/

/**
 * Takes the directory until the scope closes. It is made if it is missing, for its owner alone; of one that others can enter, it
 * warns.
 */
export const take = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const isThere = yield* isKnown(directory)
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    if (yield* PrivateFiles.isOpen(directory)) {
      yield* Effect.logWarning(`Other users of this machine can enter ${directory}: chmod 700 ${directory}`)
    }
    yield* locked(directory)
    // in a directory that somebody uses for other things too, it would hide those
    const names = yield* fs.readDirectory(directory)
    if (names.every((name) => ours.test(name))) yield* PrivateFiles.ignored(directory)
    if (!isThere) yield* PrivateFiles.write(join(directory, "format"), `${FORMAT}\n`)
    yield* file(join(directory, DATABASE))
  })
