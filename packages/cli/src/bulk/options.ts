/** What `stevedore bulk` accepts. */
import { argument, flag, option, optionalArgument, optionOr, options } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import { filesElsewhere, ofService } from "../options/shared.js"
import { called, choice, name, path, pathName, text, wholeNumber } from "../options/values.js"

/** What the command does. */
const actions = choice(
  "start",
  "run",
  "status",
  "runners",
  "failures",
  "pause",
  "resume",
  "cancel",
  "retry",
  "forget",
  "migrate"
)

const running = ["start", "run"]

export const jobs = {
  action: argument({ name: "ACTION", takes: actions, help: "What to do" }),
  job: optionalArgument({
    name: "JOB",
    takes: name,
    help: "Name of the job. For run, runners and migrate, none; status without one shows all jobs"
  }),
  path: optionalArgument({
    name: "PATH",
    takes: pathName,
    help: "start: the directory of the files. Without it, a job that is there goes on"
  }),
  recursive: flag({
    name: "recursive",
    actions: ["start"],
    help: "also the files in the directories of PATH"
  }),
  manifest: option({
    name: "manifest",
    takes: path("FILE"),
    actions: ["start"],
    help: "the files that this file lists, a JSON object with a path in each line, below PATH or the current directory"
  }),
  mount: option({
    name: "mount",
    takes: text("NAME"),
    actions: ["start"],
    help: "the files are on a file system that each machine has at its own --root of this name"
  }),
  root: options({
    name: "root",
    takes: text("NAME=DIRECTORY"),
    actions: running,
    help: "where this machine has the file system of this name. Can be repeated"
  }),
  host: option({
    name: "host",
    takes: text("NAME"),
    actions: running,
    help: "the name of this machine; with start, only the machine of this name has the files"
  }),
  chunk: option({
    name: "chunk",
    takes: wholeNumber(1, 100_000),
    actions: ["start"],
    help: "files that a runner takes at a time. Default: 100"
  }),
  submitOnly: flag({ name: "submit-only", actions: ["start"], help: "leave the uploads to the runners" }),
  files: optionOr({
    name: "files",
    takes: wholeNumber(1, 64),
    default: 16,
    actions: running,
    elsewhere: filesElsewhere,
    help: "maximum number of files to upload at once"
  }),
  lease: optionOr({
    name: "lease",
    takes: wholeNumber(3, 3600),
    default: 10,
    actions: running,
    help: "seconds of silence after which another runner takes over; the same for all runners"
  }),
  metricsPort: option({
    name: "metrics-port",
    takes: called("PORT", wholeNumber(1, 65_535)),
    actions: running,
    help: "Port at which Prometheus reads /metrics of this runner. Default: none"
  }),
  metricsHost: option({
    name: "metrics-host",
    takes: text("ADDRESS"),
    actions: running,
    help: "address for --metrics-port; 0.0.0.0 for all. Default: 127.0.0.1"
  }),
  watch: flag({ name: "watch", actions: ["status"], help: "show the progress until the job has ended" }),
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

/** What the command is given. */
export type Options = Accepted<typeof jobs>
