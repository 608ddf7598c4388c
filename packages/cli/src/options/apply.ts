/** What every command takes besides its own options: the verbosity, and a configuration file. */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Output from "../print/output.js"
import { readFile, warnOfOthers } from "./inputFile.js"
import { fromConfigError, invalid, type InvalidInput } from "./invalidInput.js"
import type { Accepted } from "./parameter.js"
import type { shared } from "./shared.js"
import { tellSteps } from "./steps.js"

/** What every command is given. */
export type Given = Accepted<typeof shared>

/** A configuration file. An environment variable takes precedence over its field, and an option over both. */
export const ConfigFile = Schema.Struct({
  /** Like `STEVEDORE_BASE_URL`, such as `https://host/api`. */
  baseUrl: Schema.optional(Schema.NonEmptyString),
  /** Like `STEVEDORE_TOKEN`. The file should then be readable only by its owner. */
  token: Schema.optional(Schema.NonEmptyString),
  /** Like `STEVEDORE_TOKEN_FILE`: a file that holds the token. The path is relative to the directory of this file. */
  tokenFile: Schema.optional(Schema.NonEmptyString),
  /**
   * Like `STEVEDORE_PROFILE`: `standard`, `dovetail`, or a JSON file. The path is relative to the directory of this
   * file.
   */
  profile: Schema.optional(Schema.NonEmptyString)
}).annotations({ identifier: "ConfigFile" })

// Its other fields, and those that do not exist, are for Settings
const decode = Schema.decode(Schema.parseJson(ConfigFile))

const input = "--config"

const isName = (profile: string): boolean => profile === "standard" || profile === "dovetail"

/** The variables that a configuration file stands for. */
export const readConfigFile = (
  file: string
): Effect.Effect<Readonly<Record<string, string>>, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const { dirname, resolve } = yield* Path.Path
    const text = yield* readFile(input, file)
    const { baseUrl, profile, token, tokenFile } = yield* Effect.mapError(decode(text), (error) => {
      // only by its path: the content may be the token
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ path }) =>
        path.length === 0
          ? "not a JSON object"
          : `${path.join(".")}: expected a non-empty string`
      )
      return invalid(input, `${file}: ${Arr.dedupe(issues).join("; ")}`)
    })
    if (token !== undefined) yield* warnOfOthers(file)
    const home = yield* Effect.orElseSucceed(Config.option(Config.string("HOME")), () => Option.none<string>())
    const beside = (path: string | undefined) =>
      path === undefined
        ? undefined
        : path.startsWith("~/") && Option.isSome(home)
        ? resolve(home.value, path.slice(2))
        : resolve(dirname(file), path)
    return Record.filter(
      {
        STEVEDORE_BASE_URL: baseUrl,
        STEVEDORE_TOKEN: token,
        STEVEDORE_TOKEN_FILE: beside(tokenFile),
        STEVEDORE_PROFILE: profile !== undefined && isName(profile) ? profile : beside(profile)
      },
      (value) => value !== undefined
    )
  })

const isSet = (variable: string) => Effect.map(Config.option(Config.nonEmptyString(variable)), Option.isSome)

const configured = (file: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const variables = yield* readConfigFile(file)
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
  { config, quiet, verbose }: Given,
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidInput, R | Output.Output | FileSystem.FileSystem | Path.Path> => {
  const told = quiet ? Effect.updateService(command, Output.Output, Output.quiet) : command
  const logged = verbose ? Logger.withMinimumLogLevel(tellSteps(told), LogLevel.Debug) : told
  return Option.match(config, { onNone: () => logged, onSome: (file) => configured(file)(logged) })
}
