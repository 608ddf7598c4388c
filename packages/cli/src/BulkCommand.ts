/** What `stevedore bulk` accepts, and the help about it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Arguments from "./Arguments.js"
import { actions } from "./internal/bulkActions.js"
import { describe, runs } from "./internal/command.js"
import { programs } from "./internal/programs.js"

/** `stevedore bulk`. */
export const bulk = Command.make(
  "bulk",
  {
    action: Arguments.text("ACTION", `What to do: ${Object.keys(actions).join(", ")}`),
    job: Arguments.text("JOB", "Name of the job. For run and migrate, none; status without one shows all jobs").pipe(
      Args.optional
    ),
    path: Arguments.text("PATH", "start: the directory of the files. Without it, a job that is there goes on").pipe(
      Args.optional
    ),
    recursive: Options.boolean("recursive").pipe(
      Options.withDescription("start: also the files in the directories of PATH")
    ),
    manifest: Options.text("manifest").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription(
        "start: the files that this file lists, a JSON object with a path in each line, below PATH or the current directory"
      ),
      Options.optional
    ),
    mount: Options.text("mount").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription(
        "start: the files are on a file system that each machine has at its own --root of this name"
      ),
      Options.optional
    ),
    root: Options.text("root").pipe(
      Options.withPseudoName("NAME=DIRECTORY"),
      Options.withDescription("run: where this machine has the file system of this name. Can be repeated"),
      Options.repeated,
      Options.withDefault([])
    ),
    host: Options.text("host").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription("start: only the machine of this name has the files; run: the name of this machine"),
      Options.optional
    ),
    chunk: Arguments.wholeNumber("chunk", { from: 1, to: 100_000 }).pipe(
      Options.withDescription("start: files that a runner takes at a time. Default: 100"),
      Options.optional
    ),
    submitOnly: Options.boolean("submit-only").pipe(
      Options.withDescription("start: leave the uploads to the runners")
    ),
    files: Arguments.wholeNumber("files", { from: 1, to: 64 }).pipe(
      Options.withDescription("start, run: maximum number of files to upload at once. Default: 16"),
      Options.withDefault(16)
    ),
    lease: Arguments.wholeNumber("lease", { from: 3, to: 3600 }).pipe(
      Options.withDescription(
        "start, run: seconds of silence after which another runner takes over; the same for all runners. Default: 10"
      ),
      Options.withDefault(10)
    ),
    watch: Options.boolean("watch").pipe(
      Options.withDescription("status: show the progress until the job has ended")
    ),
    store: Options.text("store").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription(
        "File of SQLite with the jobs, for one machine. Default: bulk/jobs.db in the directory for this user's state"
      ),
      Options.optional
    ),
    databaseEnv: Options.text("database-env").pipe(
      Options.withPseudoName("VARIABLE"),
      Options.withDescription(
        "Environment variable with the URL of a PostgreSQL with the jobs, for any number of machines. Default: " +
          "STEVEDORE_DATABASE_URL, if it is set"
      ),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => programs.bulk().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Upload a job of many files that survives the end of any process, on one machine or on several. start submits a job " +
    "and uploads it, again after an interruption; run is a runner for the jobs of a database; the others watch and steer. " +
    "Needs @stevedore/bulk beside this package, and says how to install it",
  "stevedore bulk start archive-2026 interviews/ --recursive",
  "stevedore bulk start archive-2026 interviews/ --mount archive --submit-only --database-env DATABASE_URL",
  "stevedore bulk run --root archive=/mnt/archive --database-env DATABASE_URL",
  "stevedore bulk status archive-2026 --watch",
  "stevedore bulk failures archive-2026 --json | jq .path"
)))
