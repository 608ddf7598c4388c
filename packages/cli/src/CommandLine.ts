/**
 * The command `stevedore`: what it accepts, and the help that it prints. Each command's implementation is in its own
 * module, loaded when the command runs.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Span from "@effect/cli/HelpDoc/Span"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Arguments from "./Arguments.js"
import * as Checksums from "./Checksums.js"
import { CommandWords } from "./CommandWords.js"
import { summaries } from "./internal/commands.js"
import type * as ListItems from "./ListItems.js"
import * as Shared from "./Shared.js"
import * as Version from "./Version.js"

const runs =
  <Options, A, E, R>(load: () => Promise<(options: Options) => Effect.Effect<A, E, R>>) =>
  (given: Options & Shared.Given) => Shared.apply(given, Effect.flatMap(Effect.promise(load), (run) => run(given)))

const describe = (what: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc =>
  HelpDoc.blocks([HelpDoc.p(what), ...examples.map((example) => HelpDoc.p(Span.code(`$ ${example}`)))])

const upload = Command.make(
  "upload",
  {
    paths: Arguments.text("PATH", "A file, or a directory to upload with everything in it").pipe(Args.atLeast(1)),
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
      Options.withDescription("Media type, such as video/mp4. Default: by the file's extension"),
      Options.optional
    ),
    name: Options.text("name").pipe(
      Options.withDescription("Name of the file at the service. Default: its own"),
      Options.optional
    ),
    noResume: Options.boolean("no-resume").pipe(
      Options.withDescription("Start over instead of resuming interrupted uploads")
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => import("./Upload.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Upload files, and directories with everything in them. Ctrl-C stops; the same command resumes",
  "stevedore upload interview.mp4",
  "stevedore upload interviews/ --concurrency 8",
  "stevedore upload *.mp4 --verify download --checksum sha256",
  "stevedore upload interview.mp4 --json | jq 'select(.type == \"completed\").file.id'"
)))

const uploads = Command.make(
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
  runs(() => import("./UnfinishedUploads.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "List unfinished uploads, one per line: id, name, size, stored parts, phase, age, running or interrupted. Upload the " +
    "file of an interrupted one again to resume it",
  "stevedore uploads",
  "stevedore uploads --forget 5f0c2a9be1d04477"
)))

const fileId = Arguments.text("FILE_ID", "Id of a file at the service")

const download = Command.make(
  "download",
  {
    fileId,
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
  runs(() => import("./Download.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Download a file",
  "stevedore download 1kf00nQk9yfWKfsTDni8aO",
  "stevedore download 1kf00nQk9yfWKfsTDni8aO -o interview.mp4 --overwrite"
)))

const file = Command.make(
  "file",
  { fileId, json: Arguments.json, ...Arguments.connection, ...Arguments.shared },
  runs(() => import("./Inspect.js").then((Inspect) => Inspect.file))
).pipe(Command.withDescription(describe(
  "Show the record of a file",
  "stevedore file 1kf00nQk9yfWKfsTDni8aO"
)))

const whoami = Command.make(
  "whoami",
  { json: Arguments.json, ...Arguments.connection, ...Arguments.shared },
  runs(() => import("./Inspect.js").then((Inspect) => Inspect.whoami))
).pipe(Command.withDescription(describe("Show whom the token belongs to", "stevedore whoami")))

const walk = {
  pageSize: Arguments.wholeNumber("page-size", { from: 1, to: 100 }).pipe(
    Options.withDescription("Items per page. Default: as many as the service allows"),
    Options.optional
  ),
  limit: Arguments.wholeNumber("limit", { from: 1 }).pipe(
    Options.withDescription("Maximum number of items to print. Default: all"),
    Options.optional
  ),
  skipInvalid: Options.boolean("skip-invalid").pipe(
    Options.withDescription("Skip invalid items instead of failing at the first")
  ),
  json: Arguments.json,
  ...Arguments.connection,
  ...Arguments.shared
}

const listItems = runs((): Promise<typeof ListItems.run> => import("./ListItems.js").then(({ run }) => run))

const list = Command.make(
  "list",
  {
    resource: Arguments.text(
      "RESOURCE",
      "projects, data, docs, insights, highlights, tags, channels, contacts, folders, users, folders/ID/contents, or " +
        "the path of any other list"
    ),
    filter: Options.text("filter").pipe(
      Options.withPseudoName("NAME=VALUE"),
      Options.withDescription("Filter, such as title.contains=interview. Can be repeated"),
      Options.repeated,
      Options.withDefault([])
    ),
    sort: Arguments.sort,
    resume: Options.text("resume").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("Resume from the checkpoint in this file, and keep it up to date"),
      Options.optional
    ),
    ...walk
  },
  listItems
).pipe(Command.withDescription(describe(
  "List items, one per line: id, title, creation time",
  "stevedore list tags --limit 20",
  "stevedore list data --filter title.contains=interview --filter created_at.gte=2025-01-01 --sort title:asc",
  "stevedore list contacts --json --resume contacts.checkpoint >> contacts.jsonl"
)))

const projects = Command.make(
  "projects",
  walk,
  (options) => listItems({ ...options, resource: "projects", filter: [], sort: [], resume: Option.none() })
).pipe(Command.withDescription(describe(
  "List the projects. Short for: stevedore list projects",
  "stevedore projects --limit 20 --json | jq .title"
)))

const doctor = Command.make(
  "doctor",
  {
    file: Options.text("file").pipe(
      Options.withPseudoName("PATH"),
      Options.withDescription("A file to upload later: check whether it can finish in time, without sending it"),
      Options.optional
    ),
    origin: Options.text("origin").pipe(
      Options.withPseudoName("ORIGIN"),
      Options.withDescription("Origin of web pages that will upload: check the storage's CORS rules for it"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => import("./Doctor.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Try every step of an upload, and say how to fix what fails. Sends two small files of its own, 1 KiB and 5 MiB, and " +
    "reports what is left of them at the service",
  "stevedore doctor",
  "stevedore doctor --file interview.mp4 --origin https://app.example",
  "stevedore doctor --json | jq 'select(.outcome == \"failed\")'"
)))

const sandbox = Command.make(
  "sandbox",
  {
    port: Arguments.wholeNumber("port", { from: 0, to: 65_535 }).pipe(
      Options.withDescription("Port of the service; 0 for any free port. Default: 4600"),
      Options.withDefault(4600)
    ),
    storagePort: Arguments.wholeNumber("storage-port", { from: 0, to: 65_535 }).pipe(
      Options.withDescription("Port of the storage; 0 for any free port. Default: 4601"),
      Options.withDefault(4601)
    ),
    directory: Options.text("directory").pipe(
      Options.withDescription("Where to keep the uploaded bytes while it runs. Default: a temporary directory"),
      Options.optional
    ),
    token: Options.text("token").pipe(
      Options.withDescription("Token to accept. Use a throwaway one that is valid nowhere else"),
      Options.optional
    ),
    projects: Arguments.wholeNumber("projects", { from: 0, to: 1_000_000 }).pipe(
      Options.withDescription("Number of projects in the list"),
      Options.withDefault(0)
    ),
    faults: Options.text("faults").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription(
        "Faults to inject: one sentence per line, such as on(\"putPart\").part(3).times(2).answer(503), or JSON"
      ),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => import("./SandboxServer.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Run a service and its storage on this machine, to try things out",
  "stevedore sandbox",
  "stevedore sandbox --port 0 --storage-port 0 --projects 250 --json",
  "echo 'on(\"put\").times(2).answer(503, \"SlowDown\")' > bad-day.faults && stevedore sandbox --faults bad-day.faults"
)))

const root = Command.make("stevedore").pipe(
  Command.withDescription(HelpDoc.blocks([
    HelpDoc.p("Upload files, download them, and list what the service has. For one command: stevedore COMMAND --help"),
    HelpDoc.p(
      Object.entries(summaries).map(([name, summary]) => `stevedore ${name.padEnd(9)} ${summary}`).join("\n")
    ),
    HelpDoc.p(
      "Every command takes --quiet, --verbose and --config FILE.json. STEVEDORE_BASE_URL and STEVEDORE_TOKEN set the " +
        "service and the token. NO_COLOR and TERM=dumb are respected."
    ),
    HelpDoc.p("To get started, use two terminals. The last three lines set up shell completion:"),
    HelpDoc.p(
      [
        "$ stevedore sandbox",
        "$ stevedore upload interview.mp4",
        "$ stevedore doctor",
        "$ source <(stevedore --completions bash)",
        "$ source <(stevedore --completions zsh)",
        "$ stevedore --completions fish | source"
      ].join("\n")
    ),
    HelpDoc.p("Exit codes:"),
    HelpDoc.p(
      [
        "0    success",
        "1    an upload, a check or the command itself failed",
        "2    wrong usage or invalid input: nothing was sent to the service",
        "3    the service rejected the token",
        "129  the terminal was closed: stopped as by Ctrl-C",
        "130  interrupted, such as by Ctrl-C"
      ].join("\n")
    )
  ])),
  Command.withSubcommands([upload, uploads, download, file, projects, list, whoami, doctor, sandbox])
)

/**
 * Runs a command line: the words after the program's name.
 *
 * @since 0.1.0
 * @category programs
 */
export const run = (words: ReadonlyArray<string>) =>
  Effect.flatMap(
    Version.current,
    (version) =>
      Command.run(root, { name: "stevedore", version, executable: "stevedore" })([
        "node",
        "stevedore",
        ...Arguments.arrange(words, Object.keys(summaries))
      ])
  ).pipe(Effect.provideService(CommandWords, words))
