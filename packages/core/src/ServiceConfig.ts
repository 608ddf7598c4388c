/** Where the service is, and with which token: one value, from options or from configuration. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as EffectRecord from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { pageProfile, pathOfFile, standardProfile } from "./source/standardProfile.js"

/**
 * A validated configuration.
 *
 * @category models
 */
export interface Service {
  /** Origin and path without a trailing slash, such as `https://host/api`. */
  readonly baseUrl: string
  /**
   * The bearer token, sent only to the service. If undefined, no Authorization header is sent, because your own server
   * in between has the token.
   */
  readonly token: Redacted.Redacted<string> | undefined
  readonly profile: ServiceProfile.ServiceProfile
  /** Whether files may be sent over pre-signed `http:` URLs although the base URL is `https:`. Defaults to false. */
  readonly allowInsecureHttp?: boolean | undefined
}

/**
 * A validated configuration with a token.
 *
 * @category models
 */
export interface ServiceWithToken extends Service {
  readonly token: Redacted.Redacted<string>
}

/**
 * The options as given.
 *
 * @category models
 */
export interface Options {
  /** An http or https URL; its path is kept. Defaults to the one of the profile. */
  readonly baseUrl?: string | undefined
  readonly token: Redacted.Redacted<string>
  /** Defaults to {@link ServiceProfile.standard}. */
  readonly profile?: ServiceProfile.ServiceProfile | undefined
  /**
   * Allows `http:` to a host other than this machine. Otherwise such a base URL is refused, because the token would be
   * sent in clear text; and with an `https:` base URL such a pre-signed URL, because the file would.
   */
  readonly allowInsecureHttp?: boolean | undefined
}

/**
 * The tag of the validated configuration. The client of the service requires it.
 *
 * @category tags
 */
export class ServiceConfig extends Context.Tag("@stevedore/core/ServiceConfig")<ServiceConfig, Service>() {}

/**
 * A setting is missing or malformed, which is known before any request. The value is not in it: it may be a secret.
 *
 * @category errors
 */
export class InvalidConfiguration extends TaggedError<InvalidConfiguration>()("InvalidConfiguration", {
  /** The option, such as `baseUrl`, `token` or `profile.paths.file`. */
  field: Schema.String,
  problem: Schema.Literal("missing", "malformed"),
  /** What would be valid. */
  expected: Schema.String,
  /** The variable that the setting is read from, such as `STEVEDORE_BASE_URL`, if it is read from one. */
  where: Schema.optional(Schema.String),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `The setting ${this.field} is ${this.problem}: expected ${this.expected}. Set ${this.where ?? this.field}.`
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/i

/**
 * Whether a host, as in the `hostname` of a `URL`, is this machine, so that nothing sent there leaves it.
 *
 * @internal
 */
export const isThisMachine = (hostname: string): boolean => loopback.test(hostname)

/**
 * Whether a token or a file may be sent to an origin. Over http it is sent in clear text, if it leaves this machine.
 *
 * @internal
 */
export const isAllowed = ({ origin }: Pick<URL, "origin">, allowInsecureHttp = false): boolean =>
  allowInsecureHttp || !origin.startsWith("http:") || isThisMachine(new URL(origin).hostname)

const defaultPorts: Readonly<Record<string, string>> = { "http:": ":80", "https:": ":443" }

// A URL parser takes much for a host that a reader takes for something else: https:host, https:\\host, 0x7f.1,
// good.example%2e evil.example. What names the host here is what the parser takes for it, letter by letter.
const hostProblem = (text: string, { host, protocol }: URL): string | undefined => {
  const [, written = ""] = /^[^:]+:\/\/([^/?#]*)/.exec(text) ?? []
  if (written.includes("@")) return "expected a URL without a user or password in it"
  const name = written.toLowerCase()
  return name === host || name === `${host}${defaultPorts[protocol]}`
    ? undefined
    : `expected the host as it is looked up, which is ${host}`
}

/**
 * A normalized base URL, or a description of what is wrong with it. Only `https://host` and what follows it is a base
 * URL: what a URL parser would first bend into one (other slashes, blanks, line breaks, other spellings of a host) is
 * refused, since a reader cannot tell where it leads.
 *
 * @internal
 */
export const parseBaseUrl = (text: string, allowInsecureHttp = false): Either.Either<string, string> => {
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text)
  if (!hasScheme || /[\\\s\p{Cc}\p{Cf}]/u.test(text) || !URL.canParse(text)) {
    return Either.left("expected a URL such as https://host/api, without blanks or backslashes")
  }
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return Either.left("expected an https URL")
  const problem = hostProblem(text, url)
  if (problem !== undefined) return Either.left(problem)
  if (/[?#]/.test(text)) return Either.left("expected a URL without a query or fragment")
  if (!isAllowed(url, allowInsecureHttp)) {
    return Either.left("expected https: http sends the token in clear text; allowInsecureHttp allows it")
  }
  return Either.right(`${url.origin}${url.pathname.replace(/\/+$/, "")}`)
}

// A token has no blanks, and an equals sign only at its end (RFC 6750, section 2.1): what else is found in its place is
// named, and never quoted.
const notTokens: ReadonlyArray<readonly [pattern: RegExp, problem: string]> = [
  [/^$/, "expected a token, found nothing"],
  [
    /[\0\ufeff\ufffd\ufffe]|^(?:\u00ff\u00fe|\u00fe\u00ff|\u00ef\u00bb\u00bf)/,
    "expected a token as text in UTF-8, found another encoding, such as UTF-16: save it as UTF-8"
  ],
  [
    /^["']?(?:(?:proxy-)?authorization["']?\s*[:=])?\s*["']?bearer(?:[\s:]|$)/i,
    "expected a token without Bearer before it"
  ],
  [/^["'`\u2018-\u201f\u00ab]/, "expected a token without quotes around it"],
  [/^\{/, "expected a token by itself, found JSON: take the value of its field"],
  [
    /^(?:(?:export|set|setx|env)\s+)?[$\w.:-]+\s*=\s*[^=\s]/i,
    "expected a token without a name and an equals sign before it"
  ],
  [/[\r\n]/, "expected a token on one line, found several lines"],
  [/[^\x21-\x7e]/, "expected a token of visible ASCII characters"]
]

/**
 * A normalized token, or a description of what is wrong with it, which never repeats it.
 *
 * @internal
 */
export const parseToken = (
  token: Redacted.Redacted<string>
): Either.Either<Redacted.Redacted<string>, string> => {
  const text = Redacted.value(token).trim()
  const found = notTokens.find(([pattern]) => pattern.test(text))
  return found === undefined ? Either.right(Redacted.make(text)) : Either.left(found[1])
}

/**
 * Validates the options of a service that is sent no token. The error names the field.
 *
 * @internal
 */
export const makeWithoutToken = (options: Omit<Options, "token">): Either.Either<Service, InvalidConfiguration> =>
  checkedService(options, options.profile ?? pageProfile)

/**
 * The error for a malformed field, from what was expected of it.
 *
 * @internal
 */
export const invalid = (field: string, problem: string): InvalidConfiguration =>
  new InvalidConfiguration({ field, problem: "malformed", expected: withoutVerb(problem) })

const withoutVerb = (problem: string): string => problem.replace(/^expected /, "")

const checkedService = (
  options: Omit<Options, "token">,
  profile: ServiceProfile.ServiceProfile
): Either.Either<Service, InvalidConfiguration> => {
  const baseUrl = options.baseUrl ?? profile.baseUrl
  return Either.zipWith(
    baseUrl === undefined
      ? Either.left(
        new InvalidConfiguration({
          field: "baseUrl",
          problem: "missing",
          expected: "a base URL: neither the options nor the profile has one"
        })
      )
      : inField("baseUrl", parseBaseUrl(baseUrl, options.allowInsecureHttp)),
    checkPaths(profile),
    (baseUrl) => ({ baseUrl, token: undefined, profile, allowInsecureHttp: options.allowInsecureHttp })
  )
}

// The profile's Schema checks this too, but a page does not load it.
const checkPaths = ({ paths }: ServiceProfile.ServiceProfile): Either.Either<void, InvalidConfiguration> => {
  const wrong = EffectRecord.toEntries<keyof ServiceProfile.ServiceProfile["paths"], string>(paths).find((
    [name, path]
  ) => !(pathOfFile.test(standardProfile.paths[name]) ? pathOfFile : /^\//).test(path))
  return wrong === undefined
    ? Either.void
    : Either.left(
      invalid(`profile.paths.${wrong[0]}`, "expected a path that starts with /, with {file_id} for a file")
    )
}

const inField = <A>(field: string, checked: Either.Either<A, string>): Either.Either<A, InvalidConfiguration> =>
  Either.mapLeft(checked, (problem) => invalid(field, problem))

/**
 * Validates the options. The error names the field.
 *
 * @category constructors
 */
export const make = (options: Options): Either.Either<ServiceWithToken, InvalidConfiguration> =>
  Either.zipWith(
    checkedService(options, options.profile ?? standardProfile),
    inField("token", parseToken(options.token)),
    (config, token) => ({ ...config, token })
  )

/**
 * The configuration from options. If one is malformed, the layer fails with an {@link InvalidConfiguration} that names the
 * field, before any request.
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
 * @category layers
 */
export const layer = (
  options: Omit<Options, "token"> & {
    /** `none`: your own server in between authenticates its users and has the token. A web page must not hold one. */
    readonly token: Redacted.Redacted<string> | "none"
  }
): Layer.Layer<ServiceConfig, InvalidConfiguration> =>
  Layer.effect(ServiceConfig, Effect.suspend(() => validated(options)))

const validated = (
  { token, ...options }: Parameters<typeof layer>[0]
): Either.Either<Service, InvalidConfiguration> =>
  token === "none" ? makeWithoutToken(options) : make({ ...options, token })

/**
 * Each option as a `Config`. The defaults are read from `STEVEDORE_BASE_URL` and `STEVEDORE_TOKEN`.
 *
 * @category models
 */
export interface ConfigOptions {
  readonly baseUrl?: Config.Config<string> | undefined
  readonly token?: Config.Config<Redacted.Redacted<string>> | undefined
  readonly profile?: Config.Config<ServiceProfile.ServiceProfile> | undefined
  readonly allowInsecureHttp?: Config.Config<boolean> | undefined
}

const pathOf = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" || error._op === "Or" ? pathOf(error.left) : error.path

// Only a Config that fails tells from which variable it reads: where nothing is set, each does
const variableOf = <A>(config: Config.Config<A>): Effect.Effect<string> =>
  Effect.match(Effect.zipRight(config, Effect.withConfigProvider(config, ConfigProvider.fromMap(new Map()))), {
    onFailure: (error) => pathOf(error).join("_"),
    onSuccess: () => ""
  })

/** @internal */
export interface Setting<A> {
  readonly field: string
  readonly expected: string
  readonly config: Config.Config<A>
  /** Where the config reads by default. */
  readonly variable?: string | undefined
}

const refuse = <A>(
  { config, expected, field, variable }: Setting<A>,
  problem: InvalidConfiguration["problem"],
  instead = expected
): Effect.Effect<never, InvalidConfiguration> =>
  Effect.flatMap(variableOf(config), (found) =>
    Effect.fail(
      new InvalidConfiguration({ field, problem, expected: instead, where: found === "" ? variable : found })
    ))

const read = <A>(setting: Setting<A>): Effect.Effect<Option.Option<A>, InvalidConfiguration> =>
  // not what the Config says: it may quote the value
  Effect.catchAll(Config.option(setting.config), () => refuse(setting, "malformed"))

/**
 * The value of a setting, or the error for a missing or malformed one.
 *
 * @internal
 */
export const required = <A>(setting: Setting<A>): Effect.Effect<A, InvalidConfiguration> =>
  Effect.flatMap(read(setting), Option.match({ onNone: () => refuse(setting, "missing"), onSome: Effect.succeed }))

const checked = <A, B>(
  setting: Setting<A>,
  value: A,
  check: (value: A) => Either.Either<B, string>
): Effect.Effect<B, InvalidConfiguration> =>
  Effect.catchAll(check(value), (problem) => refuse(setting, "malformed", withoutVerb(problem)))

const baseUrlFrom = (
  { baseUrl }: ConfigOptions,
  profile: ServiceProfile.ServiceProfile,
  allowInsecureHttp: boolean
): Effect.Effect<string, InvalidConfiguration> => {
  const parse = (text: string) => parseBaseUrl(text, allowInsecureHttp)
  const setting = {
    field: "baseUrl",
    expected: "a URL such as https://host/api",
    config: baseUrl ?? Config.nonEmptyString("STEVEDORE_BASE_URL"),
    variable: baseUrl === undefined ? "STEVEDORE_BASE_URL" : undefined
  }
  return Effect.gen(function*() {
    const given = yield* read(setting)
    if (Option.isSome(given)) return yield* checked(setting, given.value, parse)
    return profile.baseUrl === undefined
      ? yield* refuse(setting, "missing")
      : yield* inField("profile.baseUrl", parse(profile.baseUrl))
  })
}

const tokenFrom = ({ token }: ConfigOptions): Effect.Effect<Redacted.Redacted<string>, InvalidConfiguration> => {
  const setting = {
    field: "token",
    expected: "a token",
    config: token ?? Config.map(Config.nonEmptyString("STEVEDORE_TOKEN"), (text) => Redacted.make(text)),
    variable: token === undefined ? "STEVEDORE_TOKEN" : undefined
  }
  return Effect.flatMap(required(setting), (given) => checked(setting, given, parseToken))
}

/**
 * The configuration from the environment, or from wherever the `ConfigProvider` in force reads. The error for a missing
 * or malformed value names the variable.
 *
 * @internal
 */
export const fromConfig = (options: ConfigOptions = {}): Effect.Effect<ServiceWithToken, InvalidConfiguration> =>
  Effect.gen(function*() {
    const profile = yield* required({
      field: "profile",
      expected: "a profile",
      config: options.profile ?? Config.succeed(standardProfile)
    })
    yield* checkPaths(profile)
    const allowInsecureHttp = yield* required({
      field: "allowInsecureHttp",
      expected: "true or false",
      config: options.allowInsecureHttp ?? Config.succeed(false)
    })
    const baseUrl = yield* baseUrlFrom(options, profile, allowInsecureHttp)
    const token = yield* tokenFrom(options)
    return { baseUrl, token, profile, allowInsecureHttp }
  })

/**
 * The configuration from the environment, or from wherever the `ConfigProvider` in force reads. The error for a missing
 * or malformed value names the variable.
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
 * @category layers
 */
export const layerConfig = (options: ConfigOptions = {}): Layer.Layer<ServiceConfig, InvalidConfiguration> =>
  Layer.effect(ServiceConfig, fromConfig(options))
