/** The database with the jobs: a file of SQLite, or a PostgreSQL. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { MigrationError } from "@effect/sql/Migrator"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { JobDiffers, JobNotFinished, JobNotFound } from "@stevedore/bulk/BulkError"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import type { Place } from "./model.js"
import { DatabaseFailed } from "./model.js"

/** What jobs fail with. */
export type Failure = SqlError | MigrationError | JobNotFound | JobNotFinished | JobDiffers | ParseResult.ParseError

/** What a database said. */
export const causeOf = (error: SqlError | MigrationError): string => {
  const said = Predicate.hasProperty(error.cause, "message") ? String(error.cause.message) : ""
  return said === "" ? error.message : said
}

const failureOf = (error: Failure): InvalidInput | DatabaseFailed => {
  switch (error._tag) {
    case "JobNotFound":
    case "JobNotFinished":
    case "JobDiffers":
      return invalid(error.job, error.message)
    case "ParseError":
      return new DatabaseFailed({ problem: "it has an error that a later version of @stevedore/bulk has written" })
    case "SqlError":
    case "MigrationError":
      return error._tag === "MigrationError" && error.reason === "bad-state"
        ? invalid("bulk", error.message)
        : new DatabaseFailed({ problem: causeOf(error) })
  }
}

const failures: ReadonlySet<unknown> = new Set<Failure["_tag"]>([
  "JobNotFound",
  "JobNotFinished",
  "JobDiffers",
  "ParseError",
  "SqlError",
  "MigrationError"
])

const isFailure = <E>(error: E): error is E & Failure =>
  Predicate.hasProperty(error, "_tag") && failures.has(error._tag)

/** The same in words of the command. */
export const inWords = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(effect, isFailure, (error) => Effect.fail(failureOf(error)))

/** The file of SQLite, which nobody else may read: it has pre-signed URLs while files are uploaded. */
const fileOf = (given: Option.Option<string>, creates: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname, join, resolve } = yield* Path.Path
    const directory = yield* DiskLedger.defaultDirectory
    const file = Option.map(
      Option.orElse(given, () => Option.map(directory, (state) => join(state, "bulk", "jobs.db"))),
      (path) => resolve(path)
    )
    if (Option.isNone(file)) {
      return yield* invalid("--store", "needed: this user has no home directory")
    }
    const path = file.value
    const isThere = yield* Effect.orElseSucceed(fs.exists(path), () => true)
    if (!isThere && !creates) {
      const problem = `${path} is not there: stevedore bulk start creates it`
      return yield* invalid("--store", problem)
    }
    if (!isThere) {
      const isOwn = !(yield* Effect.orElseSucceed(fs.exists(dirname(path)), () => true))
      yield* fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 }).pipe(
        Effect.zipRight(isOwn ? fs.writeFileString(join(dirname(path), ".gitignore"), "*\n") : Effect.void),
        Effect.zipRight(fs.writeFileString(path, "", { flag: "a", mode: 0o600 })),
        Effect.mapError(() => invalid("--store", `cannot write ${path}`))
      )
    }
    return path
  })

const sqlite = (path: string) =>
  Effect.map(
    Effect.promise(() => import("@stevedore/server/Sqlite")),
    (Sqlite) => Sqlite.layer({ file: path })
  )

/** Held as long as this process lives, however it ends: two that run the jobs of one file would do everything twice. */
const onlyRunner = (path: string) =>
  Layer.scopedDiscard(Effect.mapError(
    Effect.flatMap(Effect.promise(() => import("@stevedore/server/Sqlite")), ({ hold }) => hold(`${path}.lock`)),
    () =>
      invalid(
        "--store",
        `another command runs the jobs of ${path}: stevedore bulk status --watch shows them. Several at once ` +
          "need PostgreSQL: see --database-env"
      )
  ))

/** Who opens the database: whoever runs jobs, whoever makes its tables, and whoever only looks or steers. */
export type Kind = "runner" | "maker" | "client"

type Database = Layer.Layer<SqlClient.SqlClient, InvalidInput | SqlError>

/** The database with the jobs. */
export const layer = (
  place: Place,
  kind: Kind
): Effect.Effect<Database, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  place._tag === "Postgres"
    ? Effect.map(
      Effect.promise(() => import("@effect/sql-pg/PgClient")),
      (PgClient) => PgClient.layer({ url: place.url, applicationName: "stevedore" })
    )
    : Effect.flatMap(fileOf(place.file, kind !== "client"), (path) =>
      Effect.map(sqlite(path), (sql) => kind === "runner" ? Layer.provideMerge(sql, onlyRunner(path)) : sql))
