/**
 * Where the service is and by which token: one value, from options or from configuration.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { standardProfile } from "./internal/standardProfile.js"
import type * as ServiceProfile from "./ServiceProfile.js"

/**
 * A configuration that has been checked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Origin and path without a slash at the end, such as `https://host/api`. */
  readonly baseUrl: string
  /**
   * Sent as the bearer token to the service, and to nobody else. None: no Authorization header is sent, for a server of
   * your own between here and the service has the token.
   */
  readonly token: Redacted.Redacted<string> | undefined
  readonly profile: ServiceProfile.ServiceProfile
  /** Whether files may travel over pre-signed URLs of `http:` although the base URL is of `https:`. Omitted: no. */
  readonly allowInsecureHttp?: boolean | undefined
}

/**
 * The same with a token.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServiceWithToken extends Service {
  readonly token: Redacted.Redacted<string>
}

/**
 * What a user gives.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** An http or https URL; a path in it is kept. Omitted: the profile's own. */
  readonly baseUrl?: string | undefined
  readonly token: Redacted.Redacted<string>
  /** Omitted: {@link ServiceProfile.standard}. */
  readonly profile?: ServiceProfile.ServiceProfile | undefined
  /**
   * Allows `http:` to a host that is not this machine. Without it such a base URL is refused, for the token would travel
   * in clear; and behind a base URL of `https:` such a pre-signed URL, for the file would.
   */
  readonly allowInsecureHttp?: boolean | undefined
}

/**
 * The tag of the checked configuration: the client of the service asks for it.
 *
 * @since 0.1.0
 * @category tags
 */
export class ServiceConfig extends Context.Tag("@stevedore/core/ServiceConfig")<ServiceConfig, Service>() {}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/i

/**
 * Whether a host, as `URL` has it in `hostname`, is this machine: what is sent there leaves it on no wire.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isThisMachine = (hostname: string): boolean => loopback.test(hostname)

/**
 * Whether a token or a file may be sent to an origin: over http it travels in clear, if it leaves this machine.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAllowed = ({ origin }: Pick<URL, "origin">, allowInsecureHttp = false): boolean => {
  const { hostname, protocol } = new URL(origin)
  return allowInsecureHttp || protocol !== "http:" || isThisMachine(hostname)
}

/**
 * A base URL as it is used, or what is wrong with it in words.
 *
 * @since 0.1.0
 * @category validation
 */
export const parseBaseUrl = (text: string, allowInsecureHttp = false): Either.Either<string, string> => {
  if (!URL.canParse(text)) return Either.left("expected a URL such as https://host/api")
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return Either.left("expected an https URL")
  if (url.username !== "" || url.password !== "") return Either.left("expected a URL without a user or password in it")
  if (url.search !== "" || url.hash !== "") return Either.left("expected a URL without a query or fragment")
  if (!isAllowed(url, allowInsecureHttp)) {
    return Either.left("expected https: over http the token travels in clear; allowInsecureHttp takes it all the same")
  }
  return Either.right(`${url.origin}${url.pathname.replace(/\/+$/, "")}`)
}

/**
 * A token as it is used, or what is wrong with it in words, which never repeat it.
 *
 * @since 0.1.0
 * @category validation
 */
export const parseToken = (
  token: Redacted.Redacted<string>
): Either.Either<Redacted.Redacted<string>, string> => {
  const text = Redacted.value(token).trim()
  return /^[\x21-\x7e]+$/.test(text)
    ? Either.right(Redacted.make(text))
    : Either.left(text === "" ? "expected a token, found nothing" : "expected a token of visible ASCII characters")
}

/**
 * Checks the options of {@link layerWithoutToken}. The error names the field.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeWithoutToken = (options: Omit<Options, "token">): Either.Either<Service, ConfigError.ConfigError> => {
  const profile: ServiceProfile.ServiceProfile = options.profile ?? standardProfile
  const baseUrl = options.baseUrl ?? profile.baseUrl
  return Either.zipWith(
    baseUrl === undefined
      ? Either.left(
        ConfigError.MissingData(["baseUrl"], "expected a base URL: neither the options nor the profile have one")
      )
      : inField("baseUrl", parseBaseUrl(baseUrl, options.allowInsecureHttp)),
    checkPaths(profile),
    (baseUrl) => ({ baseUrl, token: undefined, profile, allowInsecureHttp: options.allowInsecureHttp })
  )
}

const ofNoFile = /^(initiate|token)/

// What a profile's Schema says too, which a page does not load. By a path without its id every file would be the same one,
// as the last call of an upload would find out.
const checkPaths = ({ paths }: ServiceProfile.ServiceProfile): Either.Either<void, ConfigError.ConfigError> => {
  const wrong = Object.entries(paths).find(([name, path]) =>
    !(ofNoFile.test(name) ? /^\// : /^\/.*\{file_id\}/).test(path)
  )
  return wrong === undefined
    ? Either.void
    : Either.left(
      ConfigError.InvalidData(["profile", "paths", wrong[0]], "expected a path from / on, with {file_id} for a file")
    )
}

const inField = <A>(field: string, checked: Either.Either<A, string>): Either.Either<A, ConfigError.ConfigError> =>
  Either.mapLeft(checked, (problem) => ConfigError.InvalidData([field], problem))

/**
 * Checks the options. The error names the field.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Either.Either<ServiceWithToken, ConfigError.ConfigError> =>
  Either.zipWith(
    makeWithoutToken(options),
    inField("token", parseToken(options.token)),
    (config, token) => ({ ...config, token })
  )

/**
 * The configuration from options. What is malformed fails the layer with a `ConfigError` that names the field, before
 * any request.
 *
 * @example
 * import { ServiceConfig, ServiceProfile } from "@stevedore/core"
 * import { Redacted } from "effect"
 *
 * const config = ServiceConfig.layer({
 *   baseUrl: "https://files.example/api",
 *   token: Redacted.make("api.…"),
 *   profile: ServiceProfile.standard
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<ServiceConfig, ConfigError.ConfigError> =>
  Layer.effect(ServiceConfig, Effect.suspend(() => make(options)))

/**
 * The configuration for a server of your own between here and the service, which knows its users by itself and has the
 * token: none is sent. A page has no token to keep.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWithoutToken = (
  options: Omit<Options, "token">
): Layer.Layer<ServiceConfig, ConfigError.ConfigError> =>
  Layer.effect(ServiceConfig, Effect.suspend(() => makeWithoutToken(options)))

/**
 * Each option as a `Config`; what is left out is read from `STEVEDORE_BASE_URL` and `STEVEDORE_TOKEN`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConfigOptions {
  readonly baseUrl?: Config.Config<string> | undefined
  readonly token?: Config.Config<Redacted.Redacted<string>> | undefined
  readonly profile?: Config.Config<ServiceProfile.ServiceProfile> | undefined
  readonly allowInsecureHttp?: Config.Config<boolean> | undefined
}

const checked = <A, B>(
  config: Config.Config<A>,
  check: (value: A) => Either.Either<B, string>
): Config.Config<B> =>
  Config.mapOrFail(config, (value) => Either.mapLeft(check(value), (problem) => ConfigError.InvalidData([], problem)))

// A Config tells the name of its variable only to the check that stands directly on it. Where the user's own Config
// does not, the option is named at least.
const inOption = <A, B>(option: string, check: (value: A) => Either.Either<B, string>) => (value: A) =>
  Either.mapLeft(check(value), (problem) => `${option}: ${problem}`)

const baseUrlFrom = (
  { baseUrl }: ConfigOptions,
  profile: ServiceProfile.ServiceProfile,
  allowInsecureHttp: boolean
): Config.Config<string> => {
  const parse = (text: string) => parseBaseUrl(text, allowInsecureHttp)
  const given = baseUrl === undefined
    ? checked(Config.nonEmptyString("STEVEDORE_BASE_URL"), parse)
    : checked(baseUrl, inOption("baseUrl", parse))
  const own = profile.baseUrl
  return own === undefined ? given : Config.orElseIf(given, {
    if: ConfigError.isMissingDataOnly,
    orElse: () => checked(Config.succeed(own), inOption("the profile's baseUrl", parse))
  })
}

const tokenFrom = ({ token }: ConfigOptions): Config.Config<Redacted.Redacted<string>> =>
  token === undefined
    ? checked(Config.string("STEVEDORE_TOKEN"), (text) => parseToken(Redacted.make(text)))
    : checked(token, inOption("token", parseToken))

/**
 * The configuration from the environment, or wherever the `ConfigProvider` in force reads. A missing or malformed
 * value is an error that names the variable.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromConfig = (options: ConfigOptions = {}): Effect.Effect<ServiceWithToken, ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const profile = yield* (options.profile ?? Config.succeed(standardProfile))
    yield* checkPaths(profile)
    const allowInsecureHttp = yield* (options.allowInsecureHttp ?? Config.succeed(false))
    return yield* Config.all({
      baseUrl: baseUrlFrom(options, profile, allowInsecureHttp),
      token: tokenFrom(options),
      profile: Config.succeed(profile),
      allowInsecureHttp: Config.succeed(allowInsecureHttp)
    })
  })

/**
 * {@link fromConfig} as a layer.
 *
 * @example
 * import { ServiceConfig, ServiceProfile } from "@stevedore/core"
 * import { Config } from "effect"
 *
 * // the token from a variable of another name, the rest as usual
 * const config = ServiceConfig.layerConfig({
 *   token: Config.redacted("ARCHIVE_TOKEN"),
 *   profile: Config.succeed(ServiceProfile.dovetail)
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (options: ConfigOptions = {}): Layer.Layer<ServiceConfig, ConfigError.ConfigError> =>
  Layer.effect(ServiceConfig, fromConfig(options))
