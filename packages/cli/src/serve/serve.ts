/** `stevedore serve`: the service itself, over a directory of this machine. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import * as Telemetry from "../connection/telemetry.js"
import { ProgramName } from "../options/commandWords.js"
import * as Installed from "../options/installed.js"
import { invalid, type InvalidInput, setting } from "../options/invalidInput.js"
import { levelOf } from "../options/shared.js"
import { endingWell } from "../print/endings.js"
import { loggedBy, Output, type OutputFailed } from "../print/output.js"
import type { Serving } from "../print/serviceSchemas.js"
import type * as Given from "./options.js"

const ofDirectory = (program: string, api: string, token: string, profile: string): ReadonlyArray<string> => [
  `The service is running at ${api}.`,
  "In another terminal:",
  "",
  `  export STEVEDORE_BASE_URL=${api}`,
  `  export STEVEDORE_TOKEN=${token}`,
  `  export STEVEDORE_PROFILE=${profile}`,
  `  ${program} upload FILE`,
  "",
  "Press Ctrl-C to stop it. It keeps what it stores."
]

const ofBucket = (program: string, api: string, profile: string): ReadonlyArray<string> => [
  `An instance of the service is running at ${api}.`,
  `Make a token with: ${program} token create --tenant TENANT --owner NAME`,
  "Its clients need this profile:",
  "",
  profile
]

const failed = ({ option, problem }: { readonly option: string; readonly problem: string }): InvalidInput =>
  invalid(option.startsWith("STEVEDORE_") ? option : `--${option}`, problem)

const keptFor = (text: string) =>
  Either.mapLeft(ServeSettings.readKeep(text), (problem) => invalid("--keep-for", problem))

/** What both forms are told of where and how they listen, and of what they do besides. */
const common = (options: Given.Serve) =>
  Effect.gen(function*() {
    const { keep, metricsPort, webhook } = yield* setting(Effect.all({
      keep: ServeSettings.keep,
      metricsPort: ServeSettings.metricsPort,
      webhook: ServeSettings.webhook
    }))
    const kept = yield* Effect.transposeMapOption(options.keep, keptFor)
    return {
      host: options.host,
      port: options.port,
      basePath: Option.getOrUndefined(options.basePath),
      drain: Option.getOrUndefined(Option.map(options.drain, Duration.seconds)),
      metricsPort: Option.getOrUndefined(Option.orElse(options.metricsPort, () => metricsPort)),
      requestLog: true,
      keep: Option.getOrUndefined(Option.orElse(kept, () => keep)),
      keepShare: options.keepShare / 100,
      webhook
    }
  })

const inDirectory = (options: Given.Serve) =>
  Effect.gen(function*() {
    yield* Installed.check("serve", Installed.ofDatabase(createRequire(import.meta.url), "Sqlite"))
    const quota = yield* setting(ServeSettings.quota)
    const origins = yield* setting(ServeSettings.origins)
    const NodeServe = yield* Effect.promise(() => import("@stevedore/server/NodeServe"))
    const serving = yield* Effect.mapError(
      NodeServe.serve({
        ...(yield* common(options)),
        directory: options.directory,
        quota,
        origins,
        publicUrl: Option.getOrUndefined(options.publicUrl)
      }),
      failed
    )
    const token = Redacted.value(serving.token)
    const report: typeof Serving.Type = { type: "listening", api: serving.baseUrl, token, profile: serving.profile }
    return { report, lines: ofDirectory(yield* ProgramName, serving.baseUrl, token, serving.profile) }
  })

const inBucket = (options: Given.Serve, settings: ServeSettings.Settings) =>
  Effect.gen(function*() {
    yield* Installed.check("serve", Installed.ofDatabase(createRequire(import.meta.url), "Postgres"))
    if (Option.isSome(options.publicUrl)) {
      return yield* invalid(
        "--public-url",
        "leave it out: with a bucket, clients are sent to the store, and STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT says where"
      )
    }
    const NodeProduction = yield* Effect.promise(() => import("@stevedore/server/NodeProduction"))
    const serving = yield* Effect.mapError(
      NodeProduction.serve({ settings, ...(yield* common(options)) }),
      failed
    )
    const profile = yield* Effect.mapError(
      Schema.encode(ServiceProfile.ServiceProfile)(serving.profile),
      ({ message }) => invalid("serve", `its profile cannot be written: ${message}`)
    )
    const report: typeof Serving.Type = { type: "listening", api: serving.baseUrl, profile }
    return { report, lines: ofBucket(yield* ProgramName, serving.baseUrl, JSON.stringify(profile, undefined, 2)) }
  })

/** With a log as the options say, or else the environment: each request has a line in it. */
const logged = <A, E, R>(options: Given.Serve, serving: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const formatSet = yield* setting(ServeSettings.logFormat)
    const format = Option.orElse(options.logFormat, () => formatSet)
    const levelSet = yield* setting(ServeSettings.logLevel)
    const level = Option.orElse(options.logLevel, () => options.verbose ? Option.some("debug") : levelSet)
    return yield* serving.pipe(
      Option.contains(format, "json") ? loggedBy(Logger.jsonLogger) : identity,
      Logger.withMinimumLogLevel(Option.getOrElse(Option.flatMap(level, levelOf), () => LogLevel.Info))
    )
  })

/**
 * Serves until interrupted. Then it takes no more requests, lets those under way end, and ends well. Where the environment names a
 * database and a bucket, files are kept there, and there may be any number of instances.
 */
export const run = (
  options: Given.Serve
): Effect.Effect<never, InvalidInput | OutputFailed, Output | FileSystem.FileSystem | Path.Path> =>
  endingWell(logged(
    options,
    Telemetry.exported(
      "serve",
      Effect.scoped(Effect.gen(function*() {
        const output = yield* Output
        const settings = yield* setting(ServeSettings.settings)
        yield* setting(ServeSettings.checkVariables(Option.isSome(settings) ? "bucket" : "directory"))
        const { lines, report } = Option.isSome(settings)
          ? yield* inBucket(options, settings.value)
          : yield* inDirectory(options)
        yield* options.json ? output.json([report]) : output.lines(lines)
        return yield* Effect.never
      }))
    )
  ))
