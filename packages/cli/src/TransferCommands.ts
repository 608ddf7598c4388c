/** What the commands that upload and download accept, and the help about them. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Arguments from "./Arguments.js"
import * as Checksums from "./Checksums.js"
import { choice, list } from "./internal/choiceOptions.js"
import { describe, fileId, runs } from "./internal/command.js"
import { programs } from "./internal/programs.js"

/** `stevedore upload`. */
export const upload = Command.make(
  "upload",
  {
    paths: Arguments.text("PATH", "A file, a directory to upload with everything in it, or - for standard input").pipe(
      Args.repeated
    ),
    strategy: Options.choice("strategy", ["auto", "single", "multipart"]).pipe(
      Options.withDescription("Send each file in one request, in parts, or as suits its size"),
      Options.withDefault("auto" as const)
    ),
    parts: Arguments.wholeNumber("parts", { from: 1, to: 10_000 }).pipe(
      Options.withDescription("Number of parts. Default: suited to the connection, or chosen by the service"),
      Options.optional
    ),
    concurrency: Arguments.wholeNumber("concurrency", { from: 1, to: 32 }).pipe(
      Options.withDescription("Maximum parts of a file in flight. Default: adapted to the measured throughput"),
      Options.optional
    ),
    files: Arguments.wholeNumber("files", { from: 1, to: 64 }).pipe(
      Options.withDescription("Maximum number of files to upload at once. Default: 3"),
      Options.withDefault(3)
    ),
    verify: Options.choice("verify", ["sample", "all", "download"]).pipe(
      Options.withDescription(
        "Before resuming, compare a sample of the stored parts, or all; download: also read the file back at the end"
      ),
      Options.withDefault("sample" as const)
    ),
    onImpossible: Arguments.onImpossible,
    checksum: Options.choice("checksum", Checksums.names).pipe(
      Options.withDescription("Checksum algorithm to verify each part with"),
      Options.withDefault("crc32" as const)
    ),
    mediaType: Options.text("media-type").pipe(
      Options.withPseudoName("TYPE"),
      Options.withDescription("Media type, such as video/mp4. Default: by the file's extension"),
      Options.optional
    ),
    name: Options.text("name").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription("Name of the file at the service. Default: its own"),
      Options.optional
    ),
    noResume: Options.boolean("no-resume").pipe(
      Options.withDescription("Start over instead of resuming interrupted uploads")
    ),
    ...list,
    sourceHeaders: Options.text("source-headers").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription(
        "File with a line Name: value for each header to send to the server of rows that are URLs. They are never shown, " +
          "and never sent to another server"
      ),
      Options.optional
    ),
    ...choice,
    into: Options.text("into").pipe(
      Options.withPseudoName("PROJECT_ID"),
      Options.withDescription(
        "Make each finished file an entry of this project, once. Its title and fields are the other columns of its row"
      ),
      Options.optional
    ),
    dryRun: Options.boolean("dry-run").pipe(
      Options.withDescription("Say what would be sent, how many calls that takes and how long, and send nothing")
    ),
    report: Options.text("report").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("Write a row for each file, from the start: JSON lines, or a table if it is named .csv"),
      Options.optional
    ),
    retryFailed: Options.text("retry-failed").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("Upload the files that failed or were not tried, by the --report of an earlier command"),
      Options.optional
    ),
    failFast: Options.boolean("fail-fast").pipe(Options.withDescription("Stop at the first file that fails")),
    maxErrors: Arguments.wholeNumber("max-errors", { from: 1 }).pipe(
      Options.withDescription("Stop once this many files have failed. Default: never"),
      Options.optional
    ),
    limitRate: Arguments.limitRate,
    again: Options.boolean("again").pipe(
      Options.withDescription("Upload also what is already uploaded and has not changed since")
    ),
    check: Options.boolean("check").pipe(
      Options.withDescription(
        "Find changed files by their content instead of their date, and ask the service for every file"
      )
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => programs.upload().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Upload files, and directories with everything in them. Ctrl-C stops; the same command resumes",
  "stevedore upload interview.mp4",
  "stevedore upload interviews/ --limit-rate \"08:00,5M 18:00,off\"",
  "stevedore upload ./*.mp4 --verify download --checksum sha256",
  "stevedore upload interview.mp4 --json | jq 'select(.type == \"completed\").file.id'"
)))

/** `stevedore uploads`. */
export const uploads = Command.make(
  "uploads",
  {
    forget: Options.text("forget").pipe(
      Options.withPseudoName("ID"),
      Options.withDescription("Forget this upload: its file then starts over"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.uploads().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "List unfinished uploads, one per line: id, name, size, stored parts, phase, age, running or interrupted. Upload the " +
    "file of an interrupted one again to resume it",
  "stevedore uploads",
  "stevedore uploads --forget 5f0c2a9be1d04477"
)))

/** `stevedore uploaded`. */
export const uploaded = Command.make(
  "uploaded",
  {
    path: Arguments.text("PATH", "A file, or a directory with everything in it").pipe(Args.optional),
    forget: Options.text("forget").pipe(
      Options.withPseudoName("WHAT"),
      Options.withDescription("Forget this file, or a directory with everything in it: it is uploaded again"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.uploaded().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "List the files that were uploaded from this machine, one per line: id, path, size, date. An upload skips them as long " +
    "as they have not changed",
  "stevedore uploaded recordings/",
  "stevedore uploaded --forget recordings/one.wav"
)))

/** `stevedore limit`. */
export const limit = Command.make(
  "limit",
  {
    rate: Arguments.text("RATE", "A rate such as 20M, off, a timetable such as \"08:00,5M 18:00,off\", or show").pipe(
      Args.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.limit().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Show the bandwidth limit of each upload and download that runs, after setting it if a rate is given. It lasts until the " +
    "command ends",
  "stevedore limit",
  "stevedore limit 5M",
  "stevedore limit off"
)))

/** `stevedore download`. */
export const download = Command.make(
  "download",
  {
    fileIds: Args.repeated(fileId),
    ...list,
    directory: Options.text("directory").pipe(
      Options.withPseudoName("PATH"),
      Options.withDescription("Directory for several files, each under its own name. Default: the current directory"),
      Options.optional
    ),
    files: Arguments.wholeNumber("files", { from: 1, to: 64 }).pipe(
      Options.withDescription("Maximum number of files to download at once. Default: 3"),
      Options.withDefault(3)
    ),
    limitRate: Arguments.limitRate,
    output: Options.text("output").pipe(
      Options.withAlias("o"),
      Options.withPseudoName("PATH"),
      Options.withDescription("File to write, or a directory for it. Default: the current directory"),
      Options.optional
    ),
    overwrite: Options.boolean("overwrite", { aliases: ["force"] }).pipe(
      Options.withDescription("Replace an existing file")
    ),
    anySize: Options.boolean("any-size").pipe(
      Options.withDescription("Accept a file whose size differs from the one in its record")
    ),
    keep: Options.boolean("keep").pipe(
      Options.withDescription("Keep a partial download if it fails or is stopped: the same command resumes it")
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => programs.download().then(({ runAny }) => runAny))
).pipe(Command.withDescription(describe(
  "Download a file, or several into a directory. What an earlier command has saved there is skipped",
  "stevedore download 1kf00nQk9yfWKfsTDni8aO",
  "stevedore download 1kf00nQk9yfWKfsTDni8aO -o interview.mp4 --overwrite",
  "stevedore download --files-from ids.txt --directory recordings"
)))
