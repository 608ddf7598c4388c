/** Where the service is, with which token, and which dialect it speaks: from options and the environment. */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import type { ServiceProfile } from "@stevedore/core/ServiceProfile"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { readFile, warnOfOthers } from "../options/inputFile.js"
import { fromConfigError, fromConfiguration, invalid, type InvalidInput } from "../options/invalidInput.js"
import type { Accepted } from "../options/parameter.js"
import type { connection } from "../options/shared.js"
import * as Proxy from "./proxy.js"

/** What was given on the command line. An option takes precedence over the environment variable. */
export type ConnectionOptions = Accepted<typeof connection>

// Loaded for who names one: its Schemas are a tenth of those that an upload loads
const profiles = Effect.map(
  Effect.promise(() => import("@stevedore/core/ServiceProfile")),
  ({ ServiceProfile, dovetail, standard }) => ({
    known: new Map([["standard", standard], ["dovetail", dovetail]]),
    // a misspelled field would otherwise count as omitted
    decode: Schema.decode(Schema.parseJson(ServiceProfile), { onExcessProperty: "error" })
  })
)

// Never shows the content: it may be an encryption key, or the token if its file was given as the profile
const expected = ({ message, path }: ParseResult.ArrayFormatterIssue): string =>
  path.length === 0 ? "not a JSON object" : `${path.join(".")}: ${message.replace(/, actual [^]*$/, "")}`

// An optional field might be left out as well, which is no help to whoever gave it
const isHelpful = ({ message }: ParseResult.ArrayFormatterIssue): boolean => !message.startsWith("Expected undefined,")

/**
 * The profile with this name, or from a file, decoded with the profile's Schema: fields that the file omits are as in
 * `standard`.
 */
export const profile = (
  nameOrFile: string
): Effect.Effect<ServiceProfile, InvalidInput, FileSystem.FileSystem> =>
  Effect.flatMap(profiles, ({ decode, known }) => {
    const found = known.get(nameOrFile)
    return found !== undefined ? Effect.succeed(found) : readFile("profile", nameOrFile).pipe(
      Effect.mapError(({ input, problem }) =>
        invalid(input, `${problem}: expected ${[...known.keys()].join(", ")} or a JSON file`)
      ),
      Effect.flatMap((text) =>
        Effect.mapError(decode(text), (error) => {
          const issues = ParseResult.ArrayFormatter.formatErrorSync(error).filter(isHelpful).map(expected)
          return invalid("profile", `${nameOrFile} is not a profile: ${issues.join("; ")}`)
        })
      )
    )
  })

const token = ({ input, path }: { readonly input: string; readonly path: string }) =>
  Effect.flatMap(readFile(input, path), (text) =>
    Effect.mapError(
      ServiceConfig.parseToken(Redacted.make(text)),
      (problem) => invalid(input, `${path}: ${problem}`)
    )).pipe(Effect.zipLeft(warnOfOthers(path)))

const tokenFile = (given: Option.Option<string>) =>
  Effect.gen(function*() {
    if (Option.isSome(given)) return Option.some({ input: "--token-file", path: given.value })
    if (Option.isSome(yield* Config.option(Config.redacted(Config.nonEmptyString("STEVEDORE_TOKEN"))))) {
      return Option.none()
    }
    const variable = yield* Config.option(Config.nonEmptyString("STEVEDORE_TOKEN_FILE"))
    return Option.map(variable, (path) => ({ input: "STEVEDORE_TOKEN_FILE", path }))
  })

const baseUrl = (allowInsecureHttp: boolean) => (text: string) =>
  Effect.mapError(
    ServiceConfig.parseBaseUrl(text, allowInsecureHttp),
    (problem) => invalid("--base-url", problem)
  )

const configOf = <Value, A, E, R>(
  given: Option.Option<Value>,
  read: (value: Value) => Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<Config.Config<A>>, E, R> =>
  Effect.map(Effect.transposeMapOption(given, read), Option.map(Config.succeed))

/**
 * The validated configuration of the service. What is not given comes from `STEVEDORE_BASE_URL`, `STEVEDORE_TOKEN` (or
 * the file that `STEVEDORE_TOKEN_FILE` names) and `STEVEDORE_PROFILE`.
 */
export const resolve = (
  given: ConnectionOptions
): Effect.Effect<ServiceConfig.ServiceWithToken, InvalidInput, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const variable = yield* Config.option(Config.nonEmptyString("STEVEDORE_PROFILE"))
    const chosen = yield* Effect.transposeMapOption(Option.orElse(given.profile, () => variable), profile)
    return yield* ServiceConfig.fromConfig({
      baseUrl: Option.getOrUndefined(yield* configOf(given.baseUrl, baseUrl(given.allowInsecureHttp))),
      token: Option.getOrUndefined(yield* configOf(yield* tokenFile(given.tokenFile), token)),
      profile: Option.getOrUndefined(Option.map(chosen, Config.succeed)),
      allowInsecureHttp: Config.succeed(given.allowInsecureHttp)
    })
  }).pipe(Effect.catchTags({
    ConfigError: (error) => Effect.fail(fromConfigError(error)),
    InvalidConfiguration: (error) => Effect.fail(fromConfiguration(error))
  }))

/** The service and the storage, through the proxy if there is one. */
export const transport = (options: NodeStevedore.Options): Layer.Layer<NodeStevedore.NodeStevedore, InvalidInput> =>
  Layer.catchAll(NodeStevedore.layer(options), (error) => Layer.fail(fromConfiguration(error)))

/**
 * The service and the storage for this configuration, through the proxy that the environment names, if any; with
 * `ledger: false`, for those who keep what is unfinished elsewhere.
 */
export const layer = (
  given: ConnectionOptions,
  { ledger }: { readonly ledger?: false | undefined } = {}
): Layer.Layer<NodeStevedore.NodeStevedore, InvalidInput, FileSystem.FileSystem> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const service = yield* resolve(given)
    const proxy = yield* Proxy.resolve(service.baseUrl)
    return transport({
      ...service,
      allowInsecureHttp: given.allowInsecureHttp,
      ledger,
      proxy: Option.getOrUndefined(proxy)
    })
  }))
