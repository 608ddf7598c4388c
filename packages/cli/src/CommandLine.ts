/**
 * The command `stevedore`: what it accepts, and the help that it prints. Each command's implementation is in its own
 * module, loaded when the command runs.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Arguments from "./Arguments.js"
import { bulk } from "./BulkCommand.js"
import * as Help from "./Help.js"
import * as HelpPage from "./HelpPage.js"
import { describe, fileId, runs } from "./internal/command.js"
import { summaries } from "./internal/commands.js"
import { programs } from "./internal/programs.js"
import { InvalidInput } from "./InvalidInput.js"
import type * as ListItems from "./ListItems.js"
import { Output } from "./Output.js"
import { bucket, token } from "./ServiceCommands.js"
import * as Settings from "./Settings.js"
import { download, limit, upload, uploaded, uploads } from "./TransferCommands.js"
import * as Version from "./Version.js"

const names = Object.keys(summaries)

const file = Command.make(
  "file",
  { fileId, json: Arguments.json, ...Arguments.connection, ...Arguments.shared },
  runs(() => programs.file().then(({ file }) => file))
).pipe(Command.withDescription(describe(
  "Show the record of a file",
  "stevedore file 1kf00nQk9yfWKfsTDni8aO"
)))

const whoami = Command.make(
  "whoami",
  { json: Arguments.json, ...Arguments.connection, ...Arguments.shared },
  runs(() => programs.whoami().then(({ whoami }) => whoami))
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

const listItems = runs((): Promise<typeof ListItems.run> => programs.list().then(({ run }) => run))

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
    writeProfile: Options.text("write-profile").pipe(
      Options.withPseudoName("FILE.json"),
      Options.withDescription(
        "Ask the service for what the profile does not say of it, and write a profile with which every step works"
      ),
      Options.optional
    ),
    overwrite: Options.boolean("overwrite").pipe(
      Options.withDescription("Replace an existing file of --write-profile")
    ),
    json: Arguments.json,
    ...Arguments.connection,
    ...Arguments.shared
  },
  runs(() => programs.doctor().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Try every step of an upload, and say how to fix what fails. Sends two small files of its own, 1 KiB and 5 MiB, and " +
    "reports what is left of them at the service",
  "stevedore doctor",
  "stevedore doctor --file interview.mp4 --origin https://app.example",
  "stevedore doctor --write-profile service.json",
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
      Options.withPseudoName("PATH"),
      Options.withDescription("Where to keep the uploaded bytes while it runs. Default: a temporary directory"),
      Options.optional
    ),
    token: Options.text("token").pipe(
      Options.withPseudoName("TOKEN"),
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
    variation: Arguments.wholeNumber("variation", { from: 1, to: Number.MAX_SAFE_INTEGER }).pipe(
      Options.withPseudoName("SEED"),
      Options.withDescription(
        "Be the service of this number, from 1: one that keeps the interface and differs in all that it leaves open"
      ),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.sandbox().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Run a service and its storage on this machine, to try things out",
  "stevedore sandbox",
  "stevedore sandbox --port 0 --storage-port 0 --projects 250 --json",
  "echo 'on(\"put\").times(2).answer(503, \"SlowDown\")' > bad-day.faults && stevedore sandbox --faults bad-day.faults"
)))

const serve = Command.make(
  "serve",
  {
    host: Options.text("host").pipe(
      Options.withPseudoName("ADDRESS"),
      Options.withDescription("Address to listen on; 0.0.0.0 for all. Default: 127.0.0.1, for this machine alone"),
      Options.withDefault("127.0.0.1")
    ),
    basePath: Options.text("base-path").pipe(
      Options.withPseudoName("PREFIX"),
      Options.withDescription("What stands before every path of the service, such as /api. Default: nothing"),
      Options.optional
    ),
    port: Arguments.wholeNumber("port", { from: 0, to: 65_535 }).pipe(
      Options.withDescription("Port of the service; 0 for any free port. Default: 4700"),
      Options.withDefault(4700)
    ),
    directory: Options.text("directory").pipe(
      Options.withPseudoName("PATH"),
      Options.withDescription("Where to keep the files, and what is known about them. Default: stevedore-data"),
      Options.withDefault("stevedore-data")
    ),
    publicUrl: Options.text("public-url").pipe(
      Options.withPseudoName("URL"),
      Options.withDescription(
        "URL by which clients reach it, where a proxy is before it, which takes a path in it away. Default: where it listens"
      ),
      Options.optional
    ),
    drain: Arguments.wholeNumber("drain", { from: 0, to: 3600 }).pipe(
      Options.withPseudoName("SECONDS"),
      Options.withDescription("How long requests under way may take when it is asked to end. Default: 30"),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.serve().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Run a service that keeps its files in a directory; or, where STEVEDORE_SERVE_DATABASE_URL and STEVEDORE_SERVE_BUCKET " +
    "name a PostgreSQL and a bucket, one of any number of instances of it",
  "stevedore serve",
  "stevedore serve --directory /srv/files --port 8080 --public-url https://files.example",
  "stevedore serve --host 0.0.0.0 --base-path /api"
)))

const showHelp = (command: Option.Option<string>): Effect.Effect<void, InvalidInput, Output> =>
  Effect.gen(function*() {
    const { columns = 80 } = yield* Output
    if (Option.isNone(command)) return yield* Console.log(Help.ofProgram(columns))
    const page = pageOf(command.value)
    if (Option.isNone(page)) return yield* new InvalidInput(Arguments.noCommand(command.value, names))
    yield* Console.log(Help.ofCommand(page.value, columns))
  })

const help = Command.make(
  "help",
  { command: Arguments.text("COMMAND", "A command to describe").pipe(Args.optional) },
  ({ command }) => showHelp(command)
).pipe(Command.withDescription(describe(
  "Show what there is, or what a command accepts",
  "stevedore help",
  "stevedore help upload"
)))

const config = Command.make(
  "config",
  { json: Arguments.json, ...Arguments.connection, ...Arguments.shared },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => programs.config()),
      ({ run }) => Effect.suspend(() => run(given, pages()))
    )
).pipe(Command.withDescription(describe(
  "Show the settings in force, and where each comes from: an option, a variable, or the configuration file. The token is " +
    "never shown",
  "stevedore config",
  "stevedore config --config other.json --json"
)))

const root = Command.make("stevedore").pipe(
  Command.withDescription("Upload files, download them, and list what the service has"),
  Command.withSubcommands([
    upload,
    uploads,
    uploaded,
    download,
    bulk,
    limit,
    file,
    projects,
    list,
    whoami,
    doctor,
    config,
    help,
    serve,
    token,
    bucket,
    sandbox
  ])
)

const pageOf = (name: string): Option.Option<HelpPage.HelpPage> =>
  Option.map(
    HashMap.get(CommandDescriptor.getSubcommands(root.descriptor), name),
    (descriptor) => HelpPage.make(name, descriptor)
  )

/** What the help says about each command. */
export const pages = (): ReadonlyArray<HelpPage.HelpPage> => Arr.filterMap(names, pageOf)

const hasDefaults = (words: ReadonlyArray<string>): boolean => !Arguments.asksForHelp(words) && !Arguments.asks(words)

/** The words with the defaults of the configuration file, if there is one. */
export const withDefaults = (
  words: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const page = Option.flatMap(Arr.findFirst(Arguments.arrange(words, names), (word) => names.includes(word)), pageOf)
    if (Option.isNone(page) || !hasDefaults(words)) return words
    const place = yield* Settings.locate(words)
    if (Option.isNone(place)) return words
    return Settings.applied(words, page.value, yield* Settings.read(place.value, pages()))
  })

/** Runs a command line: the words after the program's name. */
export const run = (words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const version = yield* Version.current
    const arranged = Arguments.arrange(words, names)
    if (arranged.length === 0) return yield* showHelp(Option.none())
    if (Arguments.asksForHelp(words)) return yield* showHelp(Arr.head(arranged.filter((word) => word !== "--help")))
    const unknown = Option.flatMapNullable(
      Option.flatMap(Arr.head(arranged), pageOf),
      (page) =>
        Arguments.unknownIn(words, page.options) ?? (Arguments.asks(words) ? undefined : Arguments.wrongIn(words, page))
    )
    if (Option.isSome(unknown)) return yield* new InvalidInput(unknown.value)
    const cluster = Arguments.unknownCluster(words)
    if (cluster !== undefined) {
      const letters = [...cluster.slice(1)].map((letter) => `-${letter}`)
      return yield* Effect.fail(ValidationError.unclusteredFlag(HelpDoc.empty, letters, []))
    }
    return yield* Command.run(root, { name: "stevedore", version, executable: "stevedore" })([
      "node",
      "stevedore",
      ...arranged
    ])
  })
