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
    paths: Arguments.text("PATH", "A file, or a directory, of which every file goes up").pipe(Args.atLeast(1)),
    strategy: Options.choice("strategy", ["auto", "single", "multipart"]).pipe(
      Options.withDescription("In one piece, in parts, or by size"),
      Options.withDefault("auto" as const)
    ),
    parts: Arguments.wholeNumber("parts", { from: 1, to: 10_000 }).pipe(
      Options.withDescription("How many parts to ask for. Otherwise as many as suit the line, or the service chooses"),
      Options.optional
    ),
    concurrency: Arguments.wholeNumber("concurrency", { from: 1, to: 32 }).pipe(
      Options.withDescription("Parts of a file in flight at the most. Otherwise as many as make it faster"),
      Options.optional
    ),
    files: Arguments.wholeNumber("files", { from: 1, to: 64 }).pipe(
      Options.withDescription("Files that go up at once"),
      Options.withDefault(3)
    ),
    verify: Options.choice("verify", ["sample", "all", "download"]).pipe(
      Options.withDescription(
        "Before resuming: re-read a sample, or all, of what storage has and compare. download: read the file back"
      ),
      Options.withDefault("sample" as const)
    ),
    onImpossible: Arguments.onImpossible,
    checksum: Options.choice("checksum", Checksums.names).pipe(
      Options.withDescription("What each part is checked by on its way"),
      Options.withDefault("crc32" as const)
    ),
    mediaType: Options.text("media-type").pipe(
      Options.withDescription("Such as video/mp4. Otherwise by the file's extension"),
      Options.optional
    ),
    name: Options.text("name").pipe(
      Options.withDescription("The file's name at the service. Otherwise its own"),
      Options.optional
    ),
    noResume: Options.boolean("no-resume").pipe(
      Options.withDescription("Upload from the beginning, also what was cut off and could go on")
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => import("./Upload.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Upload files, and directories with all that is in them. Ctrl-C stops, the same command goes on",
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
      Options.withDescription("Forget this one: its file is then uploaded from the beginning"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => import("./UnfinishedUploads.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "List the uploads that were cut off or still run, a line each: id, name, size, parts that storage has, phase, age. To " +
    "go on with one that was cut off, upload its file again",
  "stevedore uploads",
  "stevedore uploads --forget 5f0c2a9be1d04477"
)))

const fileId = Arguments.text("FILE_ID", "The id of a file at the service")

const download = Command.make(
  "download",
  {
    fileId,
    output: Options.text("output").pipe(
      Options.withAlias("o"),
      Options.withPseudoName("PATH"),
      Options.withDescription("Where it goes; a directory takes it under its own name. Otherwise here"),
      Options.optional
    ),
    overwrite: Options.boolean("overwrite", { aliases: ["force"] }).pipe(
      Options.withDescription("Replace a file of that name")
    ),
    anySize: Options.boolean("any-size").pipe(
      Options.withDescription("Accept a file whose size differs from the one in its record")
    ),
    keep: Options.boolean("keep").pipe(
      Options.withDescription("Keep what has come when it fails or is stopped: the same command goes on from there")
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
).pipe(Command.withDescription(describe("Show whom the token stands for", "stevedore whoami")))

const walk = {
  pageSize: Arguments.wholeNumber("page-size", { from: 1, to: 100 }).pipe(
    Options.withDescription("Items of a page. Otherwise as many as the service gives"),
    Options.optional
  ),
  limit: Arguments.wholeNumber("limit", { from: 1 }).pipe(
    Options.withDescription("The most items to print. Otherwise all"),
    Options.optional
  ),
  skipInvalid: Options.boolean("skip-invalid").pipe(
    Options.withDescription("Leave out items that are not what the contract says, instead of ending there")
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
      Options.withDescription("Such as title.contains=interview; again for several"),
      Options.repeated
    ),
    sort: Arguments.sort,
    resume: Options.text("resume").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("Go on from the place that the file holds, and keep it up to date"),
      Options.optional
    ),
    ...walk
  },
  listItems
).pipe(Command.withDescription(describe(
  "List what the service has, a line an item: id, title, time of creation",
  "stevedore list tags --limit 20",
  "stevedore list data --filter title.contains=interview --filter created_at.gte=2025-01-01 --sort title:asc",
  "stevedore list contacts --json --resume contacts.checkpoint >> contacts.jsonl"
)))

const projects = Command.make(
  "projects",
  walk,
  (options) => listItems({ ...options, resource: "projects", filter: [], sort: [], resume: Option.none() })
).pipe(Command.withDescription(describe(
  "List the projects: short for list projects",
  "stevedore projects --limit 20 --json | jq .title"
)))

const doctor = Command.make(
  "doctor",
  {
    file: Options.text("file").pipe(
      Options.withPseudoName("PATH"),
      Options.withDescription("A file to upload later: checks whether it can finish in time, without sending it"),
      Options.optional
    ),
    origin: Options.text("origin").pipe(
      Options.withPseudoName("ORIGIN"),
      Options.withDescription("The origin of pages that will upload: storage is asked as their browser would ask it"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => import("./Doctor.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Try every step of an upload and say what to do where one fails. It sends two small files of its own, of 1 KiB and 5 " +
    "MiB, and says what is left of them",
  "stevedore doctor",
  "stevedore doctor --file interview.mp4 --origin https://app.example",
  "stevedore doctor --json | jq 'select(.outcome == \"failed\")'"
)))

const sandbox = Command.make(
  "sandbox",
  {
    port: Arguments.wholeNumber("port", { from: 0, to: 65_535 }).pipe(
      Options.withDescription("Of the service; 0 for any that is free"),
      Options.withDefault(4600)
    ),
    storagePort: Arguments.wholeNumber("storage-port", { from: 0, to: 65_535 }).pipe(
      Options.withDescription("Of the storage; 0 for any that is free"),
      Options.withDefault(4601)
    ),
    directory: Options.text("directory").pipe(
      Options.withDescription("Where the bytes lie while it runs. Otherwise a temporary directory"),
      Options.optional
    ),
    token: Options.text("token").pipe(
      Options.withDescription("The token that it takes: one for throwing away, which opens nothing else"),
      Options.optional
    ),
    projects: Arguments.wholeNumber("projects", { from: 0, to: 1_000_000 }).pipe(
      Options.withDescription("How many projects there are to list"),
      Options.withDefault(0)
    ),
    faults: Options.text("faults").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription(
        "What goes wrong: a sentence a line, such as on(\"putPart\").part(3).times(2).answer(503), or JSON"
      ),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => import("./SandboxServer.js").then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Run the service and its storage on this machine, to try things on",
  "stevedore sandbox",
  "stevedore sandbox --port 0 --storage-port 0 --projects 250 --json",
  "echo 'on(\"put\").times(2).answer(503, \"SlowDown\")' > bad-day.faults && stevedore sandbox --faults bad-day.faults"
)))

const root = Command.make("stevedore").pipe(
  Command.withDescription(HelpDoc.blocks([
    HelpDoc.p("Get files into storage, get them back, and walk lists. Each command has help of its own."),
    HelpDoc.p(
      Object.entries(summaries).map(([name, summary]) => `stevedore ${name.padEnd(9)} ${summary}`).join("\n")
    ),
    HelpDoc.p(
      "Every command takes --quiet, --verbose and --config FILE.json; STEVEDORE_BASE_URL and STEVEDORE_TOKEN say where " +
        "the service is and by which token. NO_COLOR and TERM=dumb are respected."
    ),
    HelpDoc.p("Begin here, in two terminals; then let your shell complete what you type:"),
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
        "0    everything was done",
        "1    some upload or check failed, or the command did",
        "2    wrong usage or bad input: nothing was asked of the service",
        "3    the service does not accept the token",
        "129  its terminal went away: ended as by Ctrl-C",
        "130  interrupted, as by Ctrl-C"
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
