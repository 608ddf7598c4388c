/** What the commands of one's own service, and of the sandbox, accept. */
import { argument, flag, option, optionalArgument, optionOr } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import type { logLevel, Own } from "../options/shared.js"
import { ofMachine } from "../options/shared.js"
import { called, choice, like, name, path, size, text, wholeNumber } from "../options/values.js"

export const serving = {
  host: optionOr({
    name: "host",
    takes: text("ADDRESS"),
    default: "127.0.0.1",
    help: "Address to listen on; 0.0.0.0 for all, 127.0.0.1 for this machine alone"
  }),
  basePath: option({
    name: "base-path",
    takes: like("PREFIX", "a path such as /api", /^\/(?:[\w.~-]+\/?)+$/),
    help: "What stands before every path of the service, such as /api. Default: nothing"
  }),
  port: optionOr({
    name: "port",
    takes: wholeNumber(0, 65_535),
    default: 4700,
    help: "Port of the service; 0 for any free port"
  }),
  directory: optionOr({
    name: "directory",
    takes: path("PATH"),
    default: "stevedore-data",
    help: "Where to keep the files, and what is known about them"
  }),
  publicUrl: option({
    name: "public-url",
    takes: like(
      "URL",
      "a URL such as https://files.example or https://files.example/uploads",
      /^https?:\/\/[^/?#@]+(?:\/[\w.~-]+)*\/?$/
    ),
    help:
      "URL by which clients reach it, where a proxy is before it, which takes a path in it away. Default: where it listens"
  }),
  drain: option({
    name: "drain",
    takes: called("SECONDS", wholeNumber(0, 3600)),
    help: "How long requests under way may take when it is asked to end. Default: 30"
  }),
  metricsPort: option({
    name: "metrics-port",
    takes: called("PORT", wholeNumber(1, 65_535)),
    help: "Port for /metrics alone, which --port has no longer. Default: STEVEDORE_SERVE_METRICS_PORT, or none"
  }),
  keep: option({
    name: "keep-for",
    takes: called("TIME", text("TIME")),
    help: "How long files are kept, such as 30d, or 30d,acme=7d for another time of a tenant. Default: " +
      "STEVEDORE_SERVE_KEEP_FOR, or for ever"
  }),
  keepShare: optionOr({
    name: "keep-share",
    takes: called("PERCENT", wholeNumber(1, 100)),
    default: 50,
    help: "How many of all files may be removed at once for their age; of more, none is removed"
  }),
  logFormat: option({
    name: "log-format",
    takes: choice("text", "json"),
    help: "How the log on standard error is written. Default: STEVEDORE_SERVE_LOG_FORMAT, or text"
  }),
  ...ofMachine
}

const directory = option({
  name: "directory",
  takes: path("PATH"),
  help: "Directory of a service without a database of its own. Default: stevedore-data, unless " +
    "STEVEDORE_SERVE_DATABASE_URL is set"
})

/** What every action about the rows of a service accepts. */
export const ofRows = { directory, ...ofMachine }

export const creating = {
  tenant: option({
    name: "tenant",
    takes: text("NAME"),
    help: "whose files it sees, and no others. Default: default"
  }),
  owner: option({
    name: "owner",
    takes: text("NAME"),
    help: "who has it; files name it as their author. Default: owner"
  }),
  scopes: option({
    name: "scopes",
    takes: text("NAMES"),
    help: "what it allows, with a comma between: read, write. Default: both"
  }),
  days: option({ name: "days", takes: wholeNumber(1, 36_500), help: "how long it is valid. Default: 30" }),
  ...ofRows
}

export const revoking = {
  id: argument({ name: "ID", takes: name, help: "the id of the token, which list shows" }),
  ...ofRows
}

const file = { name: "ID", takes: name, help: "the id of the file, which ls shows" }

export const ofFile = { id: argument(file), ...ofRows }

export const resending = { id: optionalArgument(file), ...ofRows }

export const listing = {
  tenant: option({ name: "tenant", takes: text("NAME"), help: "whose files. Default: those of all" }),
  limit: optionOr({
    name: "limit",
    takes: wholeNumber(1, 100_000),
    default: 100,
    help: "how many at most, the newest first"
  }),
  ...ofRows
}

export const verifying = {
  repair: flag({ name: "repair", help: "mend what loses nothing: what the quota of a tenant counts" }),
  bytes: flag({ name: "bytes", help: "read what is stored, and name each file whose bytes have changed" }),
  after: option({
    name: "after",
    takes: text("ID"),
    help: "with --bytes: go on after this file, as an earlier one that was stopped has said"
  }),
  rate: option({
    name: "rate",
    takes: called("RATE", size),
    help: "with --bytes: at most so much a second, such as 20M"
  }),
  ...ofRows
}

export const storing = {
  origins: option({
    name: "origins",
    takes: text("ORIGINS"),
    help: "Origins whose pages upload, with a comma between. Default: STEVEDORE_SERVE_ORIGINS, or none"
  }),
  ...ofMachine
}

export const settingUp = {
  print: flag({ name: "print", help: "show the rules instead of writing them, to be written by other means" }),
  ...storing
}

export const trying = {
  port: optionOr({
    name: "port",
    takes: wholeNumber(0, 65_535),
    default: 4600,
    help: "Port of the service; 0 for any free port"
  }),
  storagePort: option({
    name: "storage-port",
    takes: wholeNumber(0, 65_535),
    help: "Port of the storage; 0 for any free port. Default: 4601, or any free port beside another --port"
  }),
  directory: option({
    name: "directory",
    takes: path("PATH"),
    help: "Where to keep the uploaded bytes while it runs. Default: a temporary directory"
  }),
  token: option({
    name: "token",
    takes: text("TOKEN"),
    help: "Token to accept. Use a throwaway one that is valid nowhere else"
  }),
  projects: optionOr({
    name: "projects",
    takes: wholeNumber(0, 1_000_000),
    default: 0,
    help: "Number of projects in the list"
  }),
  faults: option({
    name: "faults",
    takes: path("FILE"),
    help: "Faults to inject: one sentence per line, such as on(\"putPart\").part(3).times(2).answer(503), or JSON"
  }),
  ...ofMachine
}

/** What `stevedore serve` is given. */
export type Serve = Accepted<typeof serving & { readonly logLevel: typeof logLevel }>

/** What an action about the rows of a service is given. */
export type OfRows = Own<typeof ofRows>

/** What `stevedore token create` is given. */
export type Creating = Own<typeof creating>

/** What an action about one file is given. */
export type OfFile = Own<typeof ofFile>

/** What `stevedore files resend` is given. */
export type Resending = Own<typeof resending>

/** What `stevedore files verify` is given. */
export type Verifying = Own<typeof verifying>

/** What `stevedore files ls` is given. */
export type Listing = Own<typeof listing>

/** What `stevedore bucket` is given. */
export type Storing = Own<typeof storing>

/** What `stevedore bucket setup` is given. */
export type SettingUp = Own<typeof settingUp>

/** What `stevedore sandbox` is given. */
export type Trying = Own<typeof trying>
