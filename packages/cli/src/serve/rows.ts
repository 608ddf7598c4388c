/** What the commands about one's own service look at, the rows of a database or of a directory, and how they print them. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { TableFailed } from "@stevedore/server/FileTable"
import type * as NodeProduction from "@stevedore/server/NodeProduction"
import type * as NodeServe from "@stevedore/server/NodeServe"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import type { StorageRefused } from "@stevedore/server/StorageRefused"
import type { TenantInvalid } from "@stevedore/server/Tokens"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import { invalid, setting } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import type { OfRows } from "./options.js"

/** A time as it is shown; null for none. */
export const time = (millis: number | undefined): string | null =>
  millis === undefined ? null : new Date(millis).toISOString()

/** Prints each as a line of JSON, or as one for people. */
export const printed = <A>(
  { json }: Pick<OfRows, "json">,
  reports: ReadonlyArray<A>,
  line: (report: A) => ReadonlyArray<string | number | null>
) =>
  Effect.flatMap(
    Output,
    (output) =>
      json
        ? output.json(reports)
        : output.lines(reports.map((report) => line(report).map((cell) => cell ?? "-").join("  ")))
  )

interface Refused {
  readonly option: string
  readonly problem: string
}

type Known = TableFailed | StorageRefused | TenantInvalid

// Undefined for what no option is to blame for
const blamed: Readonly<Record<Known["_tag"], string | undefined>> = {
  TableFailed: undefined,
  StorageRefused: undefined,
  TenantInvalid: "--tenant"
}

const isKnown = <E>(error: E): error is E & Known =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) && Object.hasOwn(blamed, error._tag)

/** Where the rows are, by the modules that have them. */
export interface Where<A, E> {
  readonly database: (
    module: typeof NodeProduction
  ) => (url: Redacted.Redacted) => Layer.Layer<A, E, FileSystem.FileSystem>
  readonly directory: (
    module: typeof NodeServe
  ) => (path: string) => Layer.Layer<A, E, FileSystem.FileSystem | Path.Path>
}

/** An action over the rows of the database that the environment names, or of a directory. */
export const over =
  <Service>(command: "files" | "token", where: Where<Service, Refused>) =>
  <Options extends OfRows, A, E, R>(does: (options: Options) => Effect.Effect<A, E, R>) =>
  (options: Options) =>
    Effect.gen(function*() {
      const require = createRequire(import.meta.url)
      const database = yield* setting(ServeSettings.database)
      if (Option.isSome(database) && Option.isNone(options.directory)) {
        yield* Installed.check(command, Installed.ofDatabase(require, "Postgres"))
        const layer = where.database(yield* Effect.promise(() => import("@stevedore/server/NodeProduction")))
        const rows = Layer.mapError(layer(database.value), ({ option, problem }) => invalid(option, problem))
        return yield* Effect.provide(does(options), rows)
      }
      yield* Installed.check(command, Installed.ofDatabase(require, "Sqlite"))
      const layer = where.directory(yield* Effect.promise(() => import("@stevedore/server/NodeServe")))
      const directory = Option.getOrElse(options.directory, () => "stevedore-data")
      const rows = Layer.mapError(layer(directory), ({ problem }) => invalid("--directory", problem))
      return yield* Effect.provide(does(options), rows)
    }).pipe(
      Effect.catchIf(isKnown, (error) => invalid(blamed[error._tag] ?? command, error.message))
    )
