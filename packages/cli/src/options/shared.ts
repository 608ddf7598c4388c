/** The options that several commands have. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import type * as Option from "effect/Option"
import * as LimitRate from "./limitRate.js"
import { type Accepted, argument, flag, option, type Parameter } from "./parameter.js"
import { choice, name, parsed, path, size, text } from "./values.js"

/** `--json`. */
export const json = flag({ name: "json", help: "Print one JSON object per line, for programs" })

/** `--log-level`, which every command takes, and so does none. */
export const logLevel = option({
  name: "log-level",
  takes: choice("all", "trace", "debug", "info", "warning", "error", "fatal", "none"),
  help: "Log what is of this level, or above it"
})

/** The level of this name, as `--log-level` takes it. */
export const levelOf = (name: string): Option.Option<LogLevel.LogLevel> =>
  Arr.findFirst(LogLevel.allLevels, ({ _tag }) => _tag.toLowerCase() === name)

/** What every command takes: the verbosity, and a configuration file. */
export const shared = {
  quiet: flag({ name: "quiet", alias: "q", help: "Print only results and failures" }),
  verbose: flag({
    name: "verbose",
    alias: "v",
    help: "Log each step to standard error. Tokens and signatures are never shown"
  }),
  config: option({
    name: "config",
    takes: path("FILE.json"),
    help:
      "Configuration file with a default for any option. Environment variables override it, and options override both. " +
      "Default: stevedore.json in $XDG_CONFIG_HOME or ~/.config"
  })
}

/** What a command is given, without what every command takes. */
export type Own<Parameters extends Readonly<Record<string, Parameter<unknown>>>> = Accepted<
  Omit<Parameters, keyof typeof shared>
>

/** Where the service is, with which token, and which dialect it speaks. */
export const connection = {
  baseUrl: option({
    name: "base-url",
    takes: text("URL"),
    elsewhere: ["endpoint-url"],
    help: "URL of the service, such as https://host/api. Default: STEVEDORE_BASE_URL"
  }),
  tokenFile: option({
    name: "token-file",
    takes: path("FILE"),
    help:
      "File that contains the token. Default: STEVEDORE_TOKEN, or the file named by STEVEDORE_TOKEN_FILE. The token " +
      "itself is never an argument, because the process list shows arguments"
  }),
  profile: option({
    name: "profile",
    takes: path("standard|dovetail|FILE.json"),
    help:
      "Dialect of the service. Fields missing from FILE.json are as in standard. Default: STEVEDORE_PROFILE, or standard"
  }),
  allowInsecureHttp: flag({
    name: "allow-insecure-http",
    help: "Allow http: to other hosts, although the token or the file is then sent in clear text"
  })
}

/** What every command takes that asks the service. */
export const ofService = { json, ...connection, ...shared }

/** What every command takes that is about this machine alone. */
export const ofMachine = { json, ...shared }

/** `--limit-rate`. */
export const limitRate = option({
  name: "limit-rate",
  elsewhere: ["bwlimit", "cap-mbps"],
  takes: parsed(
    "RATE",
    LimitRate.expected,
    LimitRate.LimitRate,
    (given) => Effect.succeed(LimitRate.parse(given)),
    ({ text }) => text
  ),
  help:
    "Maximum bytes per second over all files, such as 20M, or by the time of day: \"08:00,5M 18:00,off\". stevedore limit " +
    "changes it while the command runs"
})

/** `--files-from` and `-0`. */
export const listed = {
  filesFrom: option({
    name: "files-from",
    takes: path("FILE"),
    elsewhere: ["list-of-files"],
    help:
      "Read what to take from a file, or from standard input with -: one per line, JSON lines, or a table (CSV). For an " +
      "upload, a row may also be an http or https URL"
  }),
  nul: flag({
    name: "null",
    alias: "0",
    help: "The list of --files-from is separated by NUL bytes, as of find -print0"
  })
}

/** What other tools call `--files`. */
export const filesElsewhere = ["transfers", "numworkers"]

/** What other tools call `--concurrency`. */
export const partsElsewhere = ["s3-upload-concurrency", "multi-thread-streams"]

/** `--part-size`. */
export const partSize = option({
  name: "part-size",
  takes: size,
  elsewhere: ["s3-chunk-size"],
  help: "Size of the parts of a larger file, such as 16M, as far as the limits allow. Default: suited to the connection"
})

/** An id at the service. */
export const fileId = { name: "FILE_ID", takes: name, help: "Id of a file at the service" }

/** The same, needed. */
export const oneFileId = argument(fileId)
