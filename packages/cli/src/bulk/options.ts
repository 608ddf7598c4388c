/** What the actions of `stevedore bulk` accept. */
import { argument, flag, option, optionalArgument, optionOr, options } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import { filesElsewhere, ofService, partSize } from "../options/shared.js"
import { called, name, path, pathName, text, wholeNumber } from "../options/values.js"

export const database = {
  store: option({
    name: "store",
    takes: path("FILE"),
    help: "File of SQLite with the jobs, for one machine. Default: bulk/jobs.db in the directory for this user's state"
  }),
  databaseEnv: option({
    name: "database-env",
    takes: text("VARIABLE"),
    help: "Environment variable with the URL of a PostgreSQL with the jobs, for any number of machines. Default: " +
      "STEVEDORE_DATABASE_URL, if it is set"
  }),
  ...ofService
}

const named = { name: "JOB", takes: name, help: "Name of the job. status without one shows all" }

export const ofJob = { job: argument(named), ...database }

export const running = {
  root: options({
    name: "root",
    takes: text("NAME=DIRECTORY"),
    help: "where this machine has the file system of this name. Can be repeated"
  }),
  host: option({
    name: "host",
    takes: text("NAME"),
    help: "the name of this machine; with start, only the machine of this name has the files"
  }),
  files: optionOr({
    name: "files",
    takes: wholeNumber(1, 64),
    default: 16,
    elsewhere: filesElsewhere,
    help: "maximum number of files to upload at once"
  }),
  partSize,
  lease: optionOr({
    name: "lease",
    takes: wholeNumber(3, 3600),
    default: 10,
    help: "seconds of silence after which another runner takes over; the same for all runners"
  }),
  metricsPort: option({
    name: "metrics-port",
    takes: called("PORT", wholeNumber(1, 65_535)),
    help: "Port at which Prometheus reads /metrics of this runner. Default: none"
  }),
  metricsHost: option({
    name: "metrics-host",
    takes: text("ADDRESS"),
    help: "address for --metrics-port; 0.0.0.0 for all. Default: 127.0.0.1"
  }),
  ...database
}

export const starting = {
  job: argument(named),
  path: optionalArgument({
    name: "PATH",
    takes: pathName,
    help: "the directory of the files. Without it, a job that is there goes on"
  }),
  recursive: flag({ name: "recursive", help: "also the files in the directories of PATH" }),
  manifest: option({
    name: "manifest",
    takes: path("FILE"),
    help: "the files that this file lists, a JSON object with a path in each line, below PATH or the current directory"
  }),
  mount: option({
    name: "mount",
    takes: text("NAME"),
    help: "the files are on a file system that each machine has at its own --root of this name"
  }),
  chunk: option({
    name: "chunk",
    takes: wholeNumber(1, 100_000),
    help: "files that a runner takes at a time. Default: 100"
  }),
  submitOnly: flag({ name: "submit-only", help: "leave the uploads to the runners" }),
  ...running
}

export const watching = {
  job: optionalArgument(named),
  watch: flag({ name: "watch", help: "show the progress until the job has ended" }),
  ...database
}

/** What every action is given. */
export type DatabaseOptions = Accepted<typeof database>

/** What an action about one job is given. */
export type OfJob = Accepted<typeof ofJob>

/** What a runner is given. */
export type Running = Accepted<typeof running>

/** What `start` is given. */
export type Starting = Accepted<typeof starting>

/** What `status` is given. */
export type Watching = Accepted<typeof watching>
