/** What every command takes besides its own options, and how it runs then. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Output from "../print/output.js"
import { fromConfigError, type InvalidInput } from "./invalidInput.js"
import type { Accepted } from "./parameter.js"
import type { shared } from "./shared.js"
import { tellSteps } from "./steps.js"

/** What every command is given. */
export type SharedOptions = Accepted<typeof shared>

/** The variables that the configuration file stands for. */
export class FileVariables
  extends Context.Reference<FileVariables>()<"@stevedore/cli/FileVariables", Readonly<Record<string, string>>>(
    "@stevedore/cli/FileVariables",
    { defaultValue: () => ({}) }
  )
{}

const isSet = (variable: string) => Effect.map(Config.option(Config.nonEmptyString(variable)), Option.isSome)

// Where the environment has none of their names
const configured = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | InvalidInput, R> =>
  Effect.gen(function*() {
    const variables = yield* FileVariables
    if (Record.isEmptyRecord(variables)) return yield* effect
    // the two are one setting in two forms, and the environment takes precedence over the file
    const rest = (yield* isSet("STEVEDORE_TOKEN_FILE")) ? Record.remove(variables, "STEVEDORE_TOKEN") : variables
    const set = new Set(yield* Effect.filter(Record.keys(rest), isSet))
    // an empty variable counts as unset, and does not hide the one from the file
    const taken = ConfigProvider.fromJson(Record.filter(rest, (_, variable) => !set.has(variable)))
    return yield* Effect.configProviderWith((environment) =>
      Effect.withConfigProvider(effect, ConfigProvider.orElse(taken, () => environment))
    )
  }).pipe(Effect.catchIf(ConfigError.isConfigError, (error) => Effect.fail(fromConfigError(error))))

/** Runs a command as these options say. */
export const apply = <A, E, R>(
  { quiet, verbose }: Pick<SharedOptions, "quiet" | "verbose">,
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidInput, R | Output.Output> => {
  const found = configured(command)
  const told = quiet ? Effect.updateService(found, Output.Output, Output.quiet) : found
  return verbose ? Logger.withMinimumLogLevel(tellSteps(told), LogLevel.Debug) : told
}
