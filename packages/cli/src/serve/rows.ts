/** What the commands about one's own service look at: the rows of a database, or of a directory. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as NodeProduction from "@stevedore/server/NodeProduction"
import type * as NodeServe from "@stevedore/server/NodeServe"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import { invalid } from "../options/invalidInput.js"
import * as ServeInstalled from "./installed.js"
import { setting } from "./setting.js"

/** A time as it is shown; null for none. */
export const time = (millis: number | undefined): string | null =>
  millis === undefined ? null : new Date(millis).toISOString()

interface Refused {
  readonly option: string
  readonly problem: string
}

/** The rows of the database that the environment names, or of a directory. */
export const layerOf = <A>(command: "files" | "token", given: Option.Option<string>, of: {
  readonly database: (
    module: typeof NodeProduction
  ) => (url: Redacted.Redacted) => Layer.Layer<A, Refused>
  readonly directory: (
    module: typeof NodeServe
  ) => (path: string) => Layer.Layer<A, Refused, FileSystem.FileSystem | Path.Path>
}) =>
  Effect.gen(function*() {
    const require = createRequire(import.meta.url)
    const database = yield* setting(ServeSettings.database)
    if (Option.isSome(database) && Option.isNone(given)) {
      yield* Installed.check(command, ServeInstalled.productionProblem(require))
      const layer = of.database(yield* Effect.promise(() => import("@stevedore/server/NodeProduction")))
      return Layer.mapError(layer(database.value), ({ option, problem }) => invalid(option, problem))
    }
    yield* Installed.check(command, ServeInstalled.problem(require))
    const layer = of.directory(yield* Effect.promise(() => import("@stevedore/server/NodeServe")))
    const directory = Option.getOrElse(given, () => "stevedore-data")
    return Layer.mapError(layer(directory), ({ problem }) => invalid("--directory", problem))
  })
