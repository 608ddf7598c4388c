/** Where the jobs of `stevedore bulk` are, and what is loaded once it is known that it is installed: its actions. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import type { Place } from "./model.js"
import type { DatabaseOptions } from "./options.js"
import type * as Actions from "./run.js"

const usualVariable = "STEVEDORE_DATABASE_URL"

const postgres = (variable: string, url: Redacted.Redacted): Effect.Effect<Place, InvalidInput> =>
  /^postgres(?:ql)?:\/\/./.test(Redacted.value(url)) && URL.canParse(Redacted.value(url))
    ? Effect.succeed({ _tag: "Postgres", url })
    : invalid(
      variable,
      "expected the URL of a PostgreSQL, as postgres://user:password@host/database (/ is %2F, # is %23)"
    )

const variableOf = (name: string) =>
  Effect.mapError(
    Config.option(Config.redacted(Config.nonEmptyString(name))),
    () => invalid(name, "cannot be read")
  )

/**
 * The database of a command: what `--database-env` or `--store` names, or else the variable `STEVEDORE_DATABASE_URL`, or
 * else a file of SQLite among the state of this user.
 */
const place = ({ databaseEnv, store }: DatabaseOptions): Effect.Effect<Place, InvalidInput> =>
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

/** An action, loaded once what it needs is there, with the database that it is about. */
export const having = <Options extends DatabaseOptions, A, E, R>(
  actionOf: (module: typeof Actions) => (place: Place, options: Options) => Effect.Effect<A, E, R>
) =>
(options: Options) =>
  Effect.gen(function*() {
    const where = yield* place(options)
    // this package has none of it, so that nobody installs a database's driver to upload a file
    yield* Installed.check("bulk", Installed.ofBulk(createRequire(import.meta.url), where._tag))
    return yield* actionOf(yield* Effect.promise(() => import("./run.js")))(where, options)
  })
