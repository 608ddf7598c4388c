/**
 * The production form of the service, as the environment says it: which database, which bucket, and how they are reached.
 * Each value is looked at before anything is called, and a secret may stand in a file instead.
 *
 * | variable | |
 * |---|---|
 * | `STEVEDORE_SERVE_DATABASE_URL` | PostgreSQL, such as `postgres://user@host/name` |
 * | `STEVEDORE_SERVE_BUCKET` | the bucket |
 * | `STEVEDORE_SERVE_S3_REGION` | its region; `us-east-1` by default |
 * | `STEVEDORE_SERVE_S3_ENDPOINT` | where the service reaches the store; AWS by default |
 * | `STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT` | where clients reach it; the same by default |
 * | `STEVEDORE_SERVE_S3_PATH_STYLE` | whether the bucket is in the path; `true` by default |
 * | `STEVEDORE_SERVE_S3_ACCESS_KEY_ID`, `…_S3_SECRET_ACCESS_KEY`, `…_S3_SESSION_TOKEN` | the credential; `AWS_…` by default |
 * | `STEVEDORE_SERVE_ENCRYPTION` | `aws:kms` (the default), `AES256` or `none` |
 * | `STEVEDORE_SERVE_KMS_KEY_ID` | the key, for stores that want to be told |
 * | `STEVEDORE_SERVE_RATE_LIMIT` | requests of a tenant, such as `200/minute`; none by default |
 * | `STEVEDORE_SERVE_QUOTA_BYTES` | what a tenant may store, such as `500GB`; no limit by default |
 * | `STEVEDORE_SERVE_QUOTA_FILES` | how many files a tenant may have; no limit by default |
 * | `STEVEDORE_SERVE_KEEP_FOR` | how long files are kept, such as `30d` or `30d,acme=7d`; for ever by default |
 * | `STEVEDORE_SERVE_ORIGINS` | origins whose pages may use the API, with commas between |
 * | `STEVEDORE_SERVE_METRICS_PORT` | a port for `/metrics` alone; that of the service by default |
 * | `STEVEDORE_SERVE_WEBHOOK_URL` | who is told of files; nobody by default |
 * | `STEVEDORE_SERVE_WEBHOOK_SECRET` | what signs that, of 16 characters or more |
 * | `STEVEDORE_SERVE_WEBHOOK_PRIVATE` | `true` allows it to be http, and of a private network |
 * | `STEVEDORE_SERVE_LOG_FORMAT` | `text` (the default) or `json` |
 * | `STEVEDORE_SERVE_LOG_LEVEL` | the least level that is logged, such as `warning`; `info` by default |
 *
 * `…_DATABASE_URL_FILE`, `…_S3_SECRET_ACCESS_KEY_FILE`, `…_S3_SESSION_TOKEN_FILE`, `…_WEBHOOK_URL_FILE` and
 * `…_WEBHOOK_SECRET_FILE` name a file that holds the value.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as ConfigProvider from "effect/ConfigProvider"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Quota } from "./FileTable.js"
import type * as S3FileStore from "./S3FileStore.js"
import type { Keep } from "./Sweeper.js"
import type * as Webhooks from "./Webhooks.js"

/**
 * A variable is missing or wrong.
 *
 * @category errors
 */
export class SettingInvalid extends Schema.TaggedError<SettingInvalid>("@stevedore/server/SettingInvalid")(
  "SettingInvalid",
  {
    variable: Schema.String,
    problem: Schema.String
  }
) {
  override get message(): string {
    return `${this.variable}: ${this.problem}`
  }
}

/**
 * The production form.
 *
 * @category models
 */
export interface Settings {
  readonly databaseUrl: Redacted.Redacted
  readonly store: S3FileStore.Options
  readonly rateLimit: Option.Option<{ readonly limit: number; readonly window: Duration.DurationInput }>
  readonly quota: Quota | undefined
  readonly origins: ReadonlyArray<string>
}

const PREFIX = "STEVEDORE_SERVE_"

const invalid = (variable: string, problem: string) => new SettingInvalid({ variable, problem })

const named = (error: ConfigError.ConfigError, variable: string) => invalid(variable, `cannot be read: ${error._op}`)

/** Empty is as if it were not set: so compose files and units leave out what they have no value for. */
const optional = (variable: string) =>
  Config.option(Config.string(variable)).pipe(
    Effect.mapError((error) => named(error, variable)),
    Effect.map((found) => Option.filter(found, (text) => text !== ""))
  )

/** A secret, or the content of the file that the same variable with `_FILE` names. */
const secret = (variable: string) =>
  Effect.gen(function*() {
    const file = yield* optional(`${variable}_FILE`)
    const given = yield* Effect.mapError(Config.option(Config.redacted(variable)), (error) => named(error, variable))
    if (Option.isNone(file)) return Option.filter(given, (value) => Redacted.value(value) !== "")
    if (Option.isSome(given)) return yield* invalid(variable, `set as well as ${variable}_FILE: leave one of them out`)
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(
      // a pipe would be waited for without an end
      Effect.zipRight(
        Effect.filterOrFail(fs.stat(file.value), ({ type }) => type === "File"),
        fs.readFileString(file.value)
      ),
      () => invalid(`${variable}_FILE`, `cannot read the file ${file.value}`)
    )
    if (text.trim() === "") return yield* invalid(`${variable}_FILE`, `the file ${file.value} is empty`)
    return Option.some(Redacted.make(text.trim()))
  })

const missing = (variable: string, what: string) => invalid(variable, `not set: set it to ${what}`)

/** Either of two, the first that is set. */
const either = <A, E, R, E2, R2>(
  first: Effect.Effect<Option.Option<A>, E, R>,
  second: Effect.Effect<Option.Option<A>, E2, R2>
) => Effect.flatMap(first, (found) => Option.isSome(found) ? Effect.succeed(found) : second)

const checked = (variable: string, expected: string, isRight: (text: string) => boolean) =>
  Effect.filterOrFail(
    optional(variable),
    Option.match({ onNone: () => true, onSome: isRight }),
    () => invalid(variable, `expected ${expected}`)
  )

const readBy = <A>(variable: string, read: (text: string) => Either.Either<A, string>) =>
  Effect.flatMap(
    optional(variable),
    Effect.transposeMapOption((text) => Either.mapLeft(read(text), (problem) => invalid(variable, problem)))
  )

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const isOrigin = (text: string): boolean => isHttpUrl(text) && new URL(text).origin === text

const endpoint = (variable: string) =>
  checked(
    variable,
    "a URL of http or https without a query, such as https://s3.example",
    (text) => isHttpUrl(text) && new URL(text).search === "" && new URL(text).username === ""
  )

/**
 * The database; none where no variable names one.
 *
 * @category constructors
 */
export const database: Effect.Effect<
  Option.Option<Redacted.Redacted>,
  SettingInvalid,
  FileSystem.FileSystem
> = Effect.gen(function*() {
  const variable = `${PREFIX}DATABASE_URL`
  const found = yield* secret(variable)
  return yield* Effect.transposeMapOption(found, (url) => {
    const text = Redacted.value(url)
    return URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol)
      ? Effect.succeed(url)
      // not the value: it holds a password
      : Effect.fail(invalid(variable, "expected a URL of PostgreSQL, such as postgres://user@host/name"))
  })
})

const LIMIT = /^([1-9]\d{0,8})\/(second|minute|hour)$/

const rateLimit = Effect.gen(function*() {
  const variable = `${PREFIX}RATE_LIMIT`
  const found = yield* checked(
    variable,
    "a number of requests and a window, such as 200/minute, or off",
    (text) => text === "off" || LIMIT.test(text)
  )
  return Option.flatMapNullable(found, (text) => {
    const [, limit, unit] = LIMIT.exec(text) ?? []
    return unit === "second" || unit === "minute" || unit === "hour"
      ? { limit: Number(limit), window: `1 ${unit}` as const }
      : undefined
  })
})

const UNITS = { "": 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

const isUnit = (text: string): text is keyof typeof UNITS => Object.hasOwn(UNITS, text)

const sizeOf = (text: string): number => {
  const [, count = "", unit = ""] = /^([1-9]\d*) ?([kMGT]B)?$/.exec(text) ?? []
  return isUnit(unit) && count !== "" ? Number(count) * UNITS[unit] : NaN
}

const quotaOf = (variable: string, expected: string, read: (text: string) => number) =>
  Effect.map(
    checked(variable, expected, (text) => Number.isSafeInteger(read(text))),
    (found) => Option.getOrUndefined(Option.map(found, read))
  )

/**
 * How much a tenant may have; undefined where no variable says so.
 *
 * @category constructors
 */
export const quota: Effect.Effect<Quota | undefined, SettingInvalid> = Effect.gen(function*() {
  const bytes = yield* quotaOf(`${PREFIX}QUOTA_BYTES`, "a size in bytes, such as 500GB", sizeOf)
  const files = yield* quotaOf(
    `${PREFIX}QUOTA_FILES`,
    "a number of files",
    (text) => /^[1-9]\d*$/.test(text) ? Number(text) : NaN
  )
  return bytes === undefined && files === undefined ? undefined : { bytes, files }
})

const encryption = Effect.gen(function*() {
  const found = yield* checked(
    `${PREFIX}ENCRYPTION`,
    "aws:kms, AES256 or none",
    (text) => ["aws:kms", "AES256", "none"].includes(text)
  )
  const key = yield* optional(`${PREFIX}KMS_KEY_ID`)
  const kind = Option.getOrElse(found, () => "aws:kms")
  if (Option.isSome(key) && kind !== "aws:kms") {
    return yield* invalid(`${PREFIX}KMS_KEY_ID`, "set only where the encryption is aws:kms")
  }
  return {
    ...(kind === "none" ? {} : { "x-amz-server-side-encryption": kind }),
    ...(Option.isSome(key) ? { "x-amz-server-side-encryption-aws-kms-key-id": key.value } : {})
  }
})

const credential = Effect.gen(function*() {
  const name = `${PREFIX}S3_ACCESS_KEY_ID`
  const accessKeyId = yield* either(optional(name), optional("AWS_ACCESS_KEY_ID"))
  const secretAccessKey = yield* either(secret(`${PREFIX}S3_SECRET_ACCESS_KEY`), secret("AWS_SECRET_ACCESS_KEY"))
  const sessionToken = yield* either(secret(`${PREFIX}S3_SESSION_TOKEN`), secret("AWS_SESSION_TOKEN"))
  const region = yield* checked(`${PREFIX}S3_REGION`, "a region, such as eu-central-1", (text) => /^[\w-]+$/.test(text))
  if (Option.isNone(accessKeyId)) return yield* missing(name, "the id of the store's access key")
  if (Option.isNone(secretAccessKey)) {
    return yield* missing(`${PREFIX}S3_SECRET_ACCESS_KEY`, "the secret of the store's access key")
  }
  return {
    accessKeyId: accessKeyId.value,
    secretAccessKey: secretAccessKey.value,
    sessionToken: Option.getOrUndefined(sessionToken),
    region: Option.getOrElse(region, () => "us-east-1")
  }
})

/**
 * Origins with commas between. Left says what is wrong.
 *
 * @category constructors
 */
export const readOrigins = (text: string): Either.Either<ReadonlyArray<string>, string> => {
  const found = text.split(",").map((origin) => origin.trim()).filter((origin) => origin !== "")
  const wrong = found.find((origin) => !isOrigin(origin))
  return wrong === undefined
    ? Either.right(found)
    : Either.left(`expected origins such as https://app.example, and not ${wrong}`)
}

/**
 * The origins whose pages may use the service.
 *
 * @category constructors
 */
export const origins: Effect.Effect<ReadonlyArray<string>, SettingInvalid> = Effect.map(
  readBy(`${PREFIX}ORIGINS`, readOrigins),
  Option.getOrElse(() => [])
)

const KEPT = /^(?:([A-Za-z0-9][\w.-]{0,63})=)?(?:([1-9]\d{0,4})([hd])|never)$/

/**
 * How long files are kept: `30d`, `12h`, or `never` for no end, and for some tenants another time, as in `30d,acme=7d`. Left says
 * what is wrong.
 *
 * @category constructors
 */
export const readKeep = (text: string): Either.Either<Keep, string> => {
  const ages = new Map<string, Duration.DurationInput | undefined>()
  for (const one of text.split(",").map((part) => part.trim())) {
    const [found, tenant = "", count, unit] = KEPT.exec(one) ?? []
    if (found === undefined) return Either.left(`expected times such as 30d or 30d,acme=7d, and not ${one}`)
    if (ages.has(tenant)) return Either.left(`more than one time for ${tenant === "" ? "all" : tenant}`)
    ages.set(
      tenant,
      count === undefined ? undefined : unit === "h" ? `${Number(count)} hours` : `${Number(count)} days`
    )
  }
  return Either.right((tenant) => ages.has(tenant) ? ages.get(tenant) : ages.get(""))
}

/**
 * How long files are kept; none where no variable says so.
 *
 * @category constructors
 */
export const keep: Effect.Effect<Option.Option<Keep>, SettingInvalid> = readBy(`${PREFIX}KEEP_FOR`, readKeep)

/** One of a few words. */
const choice = <const Words extends ReadonlyArray<string>>(name: string, ...words: Words) => {
  const isWord = (text: string): text is Words[number] => words.includes(text)
  return Effect.map(checked(`${PREFIX}${name}`, `one of ${words.join(", ")}`, isWord), Option.filter(isWord))
}

/**
 * How the log is written; none where no variable says so.
 *
 * @category constructors
 */
export const logFormat: Effect.Effect<Option.Option<"text" | "json">, SettingInvalid> = choice(
  "LOG_FORMAT",
  "text",
  "json"
)

/**
 * The least level that is logged; none where no variable says so.
 *
 * @category constructors
 */
export const logLevel: Effect.Effect<
  Option.Option<"all" | "trace" | "debug" | "info" | "warning" | "error" | "fatal" | "none">,
  SettingInvalid
> = choice("LOG_LEVEL", "all", "trace", "debug", "info", "warning", "error", "fatal", "none")

/**
 * The port for `/metrics` alone; none where no variable says so.
 *
 * @category constructors
 */
export const metricsPort: Effect.Effect<Option.Option<number>, SettingInvalid> = Effect.map(
  checked(
    `${PREFIX}METRICS_PORT`,
    "a port from 1 to 65535",
    (text) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535
  ),
  Option.map(Number)
)

const truth = (name: string) => Effect.map(choice(name, "true", "false"), Option.map((text) => text === "true"))

/**
 * Who is told of files; undefined where no variable names a URL.
 *
 * @category constructors
 */
export const webhook: Effect.Effect<Webhooks.Options | undefined, SettingInvalid, FileSystem.FileSystem> = Effect.gen(
  function*() {
    const url = Option.getOrUndefined(yield* secret(`${PREFIX}WEBHOOK_URL`))
    const signing = Option.getOrUndefined(yield* secret(`${PREFIX}WEBHOOK_SECRET`))
    const isPrivate = yield* truth("WEBHOOK_PRIVATE")
    if (url === undefined) {
      return signing === undefined && Option.isNone(isPrivate)
        ? undefined
        : yield* missing(`${PREFIX}WEBHOOK_URL`, "the URL that is told, or leave the other variables of it out")
    }
    if (!isHttpUrl(Redacted.value(url)) || new URL(Redacted.value(url)).username !== "") {
      // not the value: it may hold a secret
      return yield* invalid(`${PREFIX}WEBHOOK_URL`, "expected a URL such as https://app.example/files")
    }
    if (signing === undefined || Redacted.value(signing).length < 16) {
      return yield* invalid(`${PREFIX}WEBHOOK_SECRET`, "expected 16 characters or more, which the receiver knows too")
    }
    return { url, secret: signing, isPrivate: Option.getOrUndefined(isPrivate) }
  }
)

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

const bucket = checked(`${PREFIX}BUCKET`, "the name of a bucket", (text) => BUCKET.test(text))

/**
 * The bucket and how it is reached.
 *
 * @category constructors
 */
export const store: Effect.Effect<S3FileStore.Options, SettingInvalid, FileSystem.FileSystem> = Effect.gen(
  function*() {
    const name = yield* bucket
    if (Option.isNone(name)) return yield* missing(`${PREFIX}BUCKET`, "the name of the bucket")
    const isPathStyle = yield* truth("S3_PATH_STYLE")
    return {
      bucket: name.value,
      credential: yield* credential,
      endpoint: Option.getOrUndefined(yield* endpoint(`${PREFIX}S3_ENDPOINT`)),
      publicEndpoint: Option.getOrUndefined(yield* endpoint(`${PREFIX}S3_PUBLIC_ENDPOINT`)),
      pathStyle: Option.getOrElse(isPathStyle, () => true),
      encryptionHeaders: yield* encryption
    }
  }
)

const ofBoth = [
  "KEEP_FOR",
  "QUOTA_BYTES",
  "QUOTA_FILES",
  "ORIGINS",
  "LOG_FORMAT",
  "LOG_LEVEL",
  "METRICS_PORT",
  "WEBHOOK_URL",
  "WEBHOOK_URL_FILE",
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_FILE",
  "WEBHOOK_PRIVATE"
]

const ofBucket = [
  "DATABASE_URL",
  "DATABASE_URL_FILE",
  "BUCKET",
  "S3_REGION",
  "S3_ENDPOINT",
  "S3_PUBLIC_ENDPOINT",
  "S3_PATH_STYLE",
  "S3_ACCESS_KEY_ID",
  "S3_SECRET_ACCESS_KEY",
  "S3_SECRET_ACCESS_KEY_FILE",
  "S3_SESSION_TOKEN",
  "S3_SESSION_TOKEN_FILE",
  "ENCRYPTION",
  "KMS_KEY_ID",
  "RATE_LIMIT"
]

/** The names of what is set below a path of the environment. */
const namesBelow = (
  provider: ConfigProvider.ConfigProvider.Flat,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ConfigError.ConfigError> =>
  Effect.flatMap(provider.enumerateChildren(path), (children) =>
    HashSet.size(children) === 0
      ? Effect.succeed([path.join("_")])
      : Effect.map(
        Effect.forEach(children, (child) => namesBelow(provider, [...path, child])),
        (names) => names.flat()
      ))

/**
 * Refuses a variable of the service that has no effect: because there is none of this name, or because the service that keeps
 * its files in a directory has no use for it.
 *
 * @category combinators
 */
export const checkVariables = (form: "directory" | "bucket"): Effect.Effect<void, SettingInvalid> =>
  Effect.gen(function*() {
    const path = PREFIX.split("_").filter((word) => word !== "")
    const names = yield* Effect.mapError(
      Effect.configProviderWith(({ flattened }) => namesBelow(flattened, path)),
      (error) => named(error, PREFIX)
    )
    for (const variable of names.filter((name) => name.startsWith(PREFIX))) {
      const name = variable.slice(PREFIX.length)
      if (ofBoth.includes(name) || Option.isNone(yield* optional(variable))) continue
      if (!ofBucket.includes(name)) {
        return yield* invalid(variable, `there is no such variable: there are ${[...ofBoth, ...ofBucket].join(", ")}`)
      }
      if (form === "directory") {
        return yield* invalid(variable, "has no effect without a database and a bucket: leave it out")
      }
    }
  })

/**
 * The production form; none where neither a database nor a bucket is named.
 *
 * @category constructors
 */
export const settings: Effect.Effect<Option.Option<Settings>, SettingInvalid, FileSystem.FileSystem> = Effect.gen(
  function*() {
    const databaseUrl = yield* database
    if (Option.isNone(databaseUrl)) {
      return Option.isNone(yield* bucket)
        ? Option.none()
        : yield* missing(`${PREFIX}DATABASE_URL`, "the URL of a PostgreSQL, such as postgres://user@host/name")
    }
    return Option.some({
      databaseUrl: databaseUrl.value,
      store: yield* store,
      rateLimit: yield* rateLimit,
      quota: yield* quota,
      origins: yield* origins
    })
  }
)
