/** The commands of one's own service, which load what a user has beside this package: what they accept, and the help about them. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { argument, flag, option, optionalArgument, optionOr } from "../options/parameter.js"
import { logLevel, ofMachine } from "../options/shared.js"
import { called, choice, name, path, text, wholeNumber } from "../options/values.js"

const serving = {
  host: optionOr({
    name: "host",
    takes: text("ADDRESS"),
    default: "127.0.0.1",
    help: "Address to listen on; 0.0.0.0 for all, 127.0.0.1 for this machine alone"
  }),
  basePath: option({
    name: "base-path",
    takes: text("PREFIX"),
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
    takes: text("URL"),
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
  logFormat: option({
    name: "log-format",
    takes: choice("text", "json"),
    help: "How the log on standard error is written. Default: STEVEDORE_SERVE_LOG_FORMAT, or text"
  }),
  ...ofMachine
}

const serve = make({
  name: "serve",
  summary: "run a service that keeps its files in a directory or a bucket",
  help:
    "Run a service that keeps its files in a directory; or, where STEVEDORE_SERVE_DATABASE_URL and STEVEDORE_SERVE_BUCKET " +
    "name a PostgreSQL and a bucket, one of any number of instances of it",
  examples: [
    "stevedore serve",
    "stevedore serve --directory /srv/files --port 8080 --public-url https://files.example",
    "stevedore serve --host 0.0.0.0 --base-path /api"
  ],
  accepts: serving,
  run: runs(Effect.all({ ...serving, logLevel }), () => import("./serve.js"), ({ run }) => run)
})

const tokens = {
  action: argument({ name: "ACTION", takes: choice("create", "list", "revoke"), help: "What to do" }),
  id: optionalArgument({ name: "ID", takes: name, actions: ["revoke"], help: "the id of the token, which list shows" }),
  tenant: option({
    name: "tenant",
    takes: text("NAME"),
    actions: ["create"],
    help: "whose files it sees, and no others. Default: default"
  }),
  owner: option({
    name: "owner",
    takes: text("NAME"),
    actions: ["create"],
    help: "who has it; files name it as their author. Default: owner"
  }),
  scopes: option({
    name: "scopes",
    takes: text("NAMES"),
    actions: ["create"],
    help: "what it allows, with a comma between: read, write. Default: both"
  }),
  days: option({
    name: "days",
    takes: wholeNumber(1, 36_500),
    actions: ["create"],
    help: "how long it is valid. Default: 30"
  }),
  directory: option({
    name: "directory",
    takes: path("PATH"),
    help: "Directory of a service without a database of its own. Default: stevedore-data, unless " +
      "STEVEDORE_SERVE_DATABASE_URL is set"
  }),
  ...ofMachine
}

const token = make({
  name: "token",
  summary: "make, list and revoke tokens of your service",
  help: "Make, list and revoke the tokens of your own service. A token is shown once, when it is made",
  examples: [
    "stevedore token create --tenant acme --owner ann --scopes read,write --days 30",
    "stevedore token list",
    "stevedore token revoke 1kf00nQk9yfWKfsTDni8aO"
  ],
  accepts: tokens,
  run: runs(Effect.all(tokens), () => import("./tokens.js"), ({ run }) => run)
})

const looking = {
  action: argument({
    name: "ACTION",
    takes: choice("ls", "show", "usage", "rm", "verify", "stuck", "resend"),
    help: "What to do"
  }),
  id: optionalArgument({ name: "ID", takes: name, actions: ["show", "rm", "resend"], help: "the id of the file" }),
  tenant: option({
    name: "tenant",
    takes: text("NAME"),
    actions: ["ls"],
    help: "whose files. Default: those of all"
  }),
  limit: optionOr({
    name: "limit",
    takes: wholeNumber(1, 100_000),
    default: 100,
    actions: ["ls"],
    help: "how many at most, the newest first"
  }),
  repair: flag({
    name: "repair",
    actions: ["verify"],
    help: "mend what loses nothing: what the quota of a tenant counts"
  }),
  directory: tokens.directory,
  ...ofMachine
}

const files = make({
  name: "files",
  summary: "look at the files of your service, and at what is stuck",
  help:
    "Look at the files of your own service, of all tenants, by its database: list them, show one, sum up what each tenant " +
    "has, or show what waits for somebody, since when and why. rm lets one be removed by the service. " +
    "verify compares all with the store, both ways. resend calls the hook or webhook of events again: of a file, or of " +
    "all that rest after a day",
  examples: [
    "stevedore files ls --tenant acme --limit 20",
    "stevedore files show 1kf00nQk9yfWKfsTDni8aO",
    "stevedore files usage --json",
    "stevedore files rm 1kf00nQk9yfWKfsTDni8aO",
    "stevedore files verify --repair",
    "stevedore files stuck",
    "stevedore files resend"
  ],
  accepts: looking,
  run: runs(Effect.all(looking), () => import("./files.js"), ({ run }) => run)
})

export const commands = { serve, token, files }
