/** `stevedore bulk`: jobs of many files, in a database. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { SourceError } from "@stevedore/core/SourceError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createRequire } from "node:module"
import * as Telemetry from "../connection/telemetry.js"
import * as Installed from "../options/installed.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import type { Output, OutputFailed } from "../print/output.js"
import * as BulkInstalled from "./installed.js"
import type { DatabaseFailed, JobFailed, JobStopped, Place } from "./model.js"
import type { Options } from "./options.js"

const usualVariable = "STEVEDORE_DATABASE_URL"

const postgres = (variable: string, url: Redacted.Redacted): Effect.Effect<Place, InvalidInput> =>
  /^postgres(?:ql)?:\/\/./.test(Redacted.value(url))
    ? Effect.succeed({ _tag: "Postgres", url })
    : invalid(variable, "expected the URL of a PostgreSQL, such as postgres://user:password@host/database")

const variableOf = (name: string) =>
  Effect.mapError(
    Config.option(Config.redacted(Config.nonEmptyString(name))),
    () => invalid(name, "cannot be read")
  )

/**
 * The database of a command: what `--database-env` or `--store` names, or else the variable `STEVEDORE_DATABASE_URL`, or
 * else a file of SQLite among the state of this user.
 */
const place = (
  { databaseEnv, store }: Pick<Options, "databaseEnv" | "store">
): Effect.Effect<Place, InvalidInput> =>
  Effect.gen(function*() {
    if (Option.isSome(databaseEnv)) {
      if (Option.isSome(store)) {
        return yield* invalid("--store", "not beside --database-env: the jobs are in one database")
      }
      const url = yield* variableOf(databaseEnv.value)
      if (Option.isNone(url)) {
        return yield* invalid(databaseEnv.value, "not set: --database-env names this variable")
      }
      return yield* postgres(databaseEnv.value, url.value)
    }
    const url = Option.isSome(store) ? Option.none() : yield* variableOf(usualVariable)
    return Option.isSome(url) ? yield* postgres(usualVariable, url.value) : { _tag: "Sqlite", file: store }
  })

/** This package has none of it, so that nobody installs a database's driver to upload a file. */
const checkInstalled = ({ _tag }: Place): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => Installed.check("bulk", BulkInstalled.problem(createRequire(import.meta.url), _tag)))

/** What each action takes besides a database: whether it is about a job. */
const jobOf: { readonly [action in Options["action"]]: "needed" | "optional" | "none" } = {
  start: "needed",
  run: "none",
  status: "optional",
  runners: "none",
  failures: "needed",
  pause: "needed",
  resume: "needed",
  cancel: "needed",
  retry: "needed",
  forget: "needed",
  migrate: "none"
}

const check = ({ action, job, path }: Options): Effect.Effect<void, InvalidInput> => {
  const wanted = jobOf[action]
  if (wanted === "needed" && Option.isNone(job)) return invalid("JOB", `bulk ${action} needs the name of a job`)
  if (wanted === "none" && Option.isSome(job)) return invalid(job.value, `bulk ${action} takes no job`)
  return action !== "start" && Option.isSome(path)
    ? invalid(path.value, `bulk ${action} takes no path`)
    : Effect.void
}

/** Does what the action says. */
export const run = (
  options: Options
): Effect.Effect<
  void,
  InvalidInput | SourceError | JobFailed | JobStopped | DatabaseFailed | OutputFailed,
  Output | FileSystem.FileSystem | Path.Path
> =>
  Effect.gen(function*() {
    yield* check(options)
    const where = yield* place(options)
    yield* checkInstalled(where)
    const { perform } = yield* Effect.promise(() => import("./run.js"))
    const isRunning = options.action === "start" || options.action === "run"
    const performed = perform(options.action, where, options)
    yield* isRunning ? Telemetry.exported("bulk", performed) : performed
  })
