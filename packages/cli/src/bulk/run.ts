import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { MigrationError } from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Jobs from "@stevedore/bulk/Bulk"
import type { JobDiffers, JobNotFinished, JobNotFound } from "@stevedore/bulk/BulkError"
import * as BulkRateLimit from "@stevedore/bulk/BulkRateLimit"
import type { Halt } from "@stevedore/bulk/BulkRunner"
import * as BulkRunner from "@stevedore/bulk/BulkRunner"
import * as BulkSources from "@stevedore/bulk/BulkSources"
import * as BulkQueue from "@stevedore/bulk/Queue"
import type { SourceError } from "@stevedore/core/SourceError"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as NodeMetrics from "@stevedore/server/NodeMetrics"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { hostname } from "node:os"
import { pathToFileURL } from "node:url"
import * as Configuration from "../connection/configuration.js"
import { again } from "../options/commandWords.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { messageOf } from "../print/message.js"
import { Output, type OutputFailed } from "../print/output.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import * as BulkBoard from "./board.js"
import type { Place } from "./model.js"
import { DatabaseFailed, JobFailed, JobStopped } from "./model.js"
import type { Options } from "./options.js"

type Failure = SqlError | MigrationError | JobNotFound | JobNotFinished | JobDiffers | ParseResult.ParseError

const causeOf = (error: SqlError | MigrationError): string => {
  const said = Predicate.hasProperty(error.cause, "message") ? String(error.cause.message) : ""
  return said === "" ? error.message : said
}

const told = (error: Failure): InvalidInput | DatabaseFailed => {
  switch (error._tag) {
    case "JobNotFound":
    case "JobNotFinished":
    case "JobDiffers":
      return invalid(error.job, error.message)
    case "ParseError":
      return new DatabaseFailed({ problem: "it has an error that a later version of @stevedore/bulk has written" })
    case "SqlError":
    case "MigrationError":
      return new DatabaseFailed({ problem: causeOf(error) })
  }
}

/** The file of SQLite, which nobody else may read: it has pre-signed URLs while files are uploaded. */
const fileOf = (given: Option.Option<string>, creates: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname, join, resolve } = yield* Path.Path
    const directory = yield* DiskLedger.defaultDirectory
    const file = Option.map(
      Option.orElse(given, () => Option.map(directory, (state) => join(state, "bulk", "jobs.db"))),
      (path) => resolve(path)
    )
    if (Option.isNone(file)) {
      return yield* invalid("--store", "needed: this user has no home directory")
    }
    const path = file.value
    const isThere = yield* Effect.orElseSucceed(fs.exists(path), () => true)
    if (!isThere && !creates) {
      const problem = `${path} is not there: stevedore bulk start creates it`
      return yield* invalid("--store", problem)
    }
    if (!isThere) {
      const isOwn = !(yield* Effect.orElseSucceed(fs.exists(dirname(path)), () => true))
      yield* fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 }).pipe(
        Effect.zipRight(isOwn ? fs.writeFileString(join(dirname(path), ".gitignore"), "*\n") : Effect.void),
        Effect.zipRight(fs.writeFileString(path, "", { flag: "a", mode: 0o600 })),
        Effect.mapError(() => invalid("--store", `cannot write ${path}`))
      )
    }
    return path
  })

const sqlite = (path: string) =>
  Effect.map(
    Effect.promise(() => import("@effect/sql-libsql/LibsqlClient")),
    (LibsqlClient) => LibsqlClient.layer({ url: pathToFileURL(path) })
  )

/** Held as long as this process lives, however it ends: two that run the jobs of one file would do everything twice. */
const onlyRunner = (path: string) =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const held = yield* Deferred.make<void, SqlError>()
    const holding = Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return yield* sql.withTransaction(Effect.zipRight(Deferred.succeed(held, undefined), Effect.never))
    }).pipe(Effect.provide(yield* sqlite(`${path}.lock`)))
    yield* Effect.forkScoped(Effect.catchAll(holding, (error) => Deferred.fail(held, error)))
    yield* Effect.mapError(
      Deferred.await(held),
      () =>
        invalid(
          "--store",
          `another command runs the jobs of ${path}: stevedore bulk status --watch shows them. Several at once ` +
            "need PostgreSQL: see --database-env"
        )
    )
  }))

const isRunning = (action: Options["action"]): boolean => action === "start" || action === "run"

type Database = Layer.Layer<SqlClient.SqlClient, InvalidInput | SqlError>

const database = (
  place: Place,
  action: Options["action"]
): Effect.Effect<Database, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  place._tag === "Postgres"
    ? Effect.map(
      Effect.promise(() => import("@effect/sql-pg/PgClient")),
      (PgClient) => PgClient.layer({ url: place.url, applicationName: "stevedore" })
    )
    : Effect.flatMap(fileOf(place.file, isRunning(action) || action === "migrate"), (path) =>
      Effect.map(sqlite(path), (sql) => isRunning(action) ? Layer.provideMerge(sql, onlyRunner(path)) : sql))

const parsedRoots = (given: ReadonlyArray<string>) =>
  Effect.forEach(given, (text) => {
    const [, name = "", directory = ""] = /^([^=]+)=(.+)$/.exec(text) ?? []
    return name === ""
      ? invalid("--root", `expected a name and a directory, such as archive=/mnt/archive`)
      : Effect.succeed([name, directory] as const)
  })

const sources = ({ host, mount, path, root }: Options) =>
  Effect.map(parsedRoots(root), (given) => {
    // where the job that is started has its files, this machine has the mount
    const own = Option.zipWith(mount, path, (name, path) => [name, path] as const)
    const roots = [...Option.toArray(own), ...given]
    return BulkSources.layer({
      // who names what this machine has, has it there and nowhere else
      directories: roots.length === 0 && Option.isNone(host),
      host: Option.getOrUndefined(host),
      mounts: Object.fromEntries(roots)
    })
  })

/** One limit for all runners, where the profile says what the limit is; otherwise each follows what the service says. */
const rateLimit = (options: Options) =>
  Effect.map(
    Configuration.resolve(options),
    ({ baseUrl, profile: { rateLimit }, token }) =>
      rateLimit === undefined ? Layer.empty : BulkRateLimit.layer({
        token: BulkRateLimit.tokenName({ baseUrl, token }),
        limit: rateLimit.requests,
        window: Duration.seconds(rateLimit.windowSeconds)
      })
  )

const runner = (options: Options) =>
  Effect.gen(function*() {
    const lease = Duration.seconds(options.lease)
    const name = `${hostname()}/${process.pid}`
    return BulkQueue.layer({ files: options.files, lease, name }).pipe(
      Layer.provide(yield* sources(options)),
      Layer.provide(Layer.provide(Configuration.layer(options, { ledger: false }), yield* rateLimit(options)))
    )
  })

const print = (jobs: ReadonlyArray<BulkBoard.Shown>, json: boolean) =>
  Effect.flatMap(Output, (output) =>
    json
      ? output.json(jobs.map(({ name, standing }) => Reports.job(name, standing)))
      : Table.print(columns, jobs.map(BulkBoard.row)))

const columns: ReadonlyArray<Table.Column> = [
  { header: "JOB", width: undefined },
  { header: "STATE", width: 9 },
  { header: "UPLOADED", width: 9 },
  { header: "FAILED", width: 7 },
  { header: "FILES", width: 9 },
  { header: "BYTES", width: 9, spare: true },
  { header: "LEFT", width: 9, spare: true }
]

/** Shows what is true now: on a terminal as a board, for programs as lines, and elsewhere as a line now and then. */
const shower = (options: Options, every: Duration.DurationInput) =>
  Effect.gen(function*() {
    const output = yield* Output
    const isTerminal = Option.isSome(yield* output.terminal)
    let toldAt = -Infinity
    yield* Effect.addFinalizer(() => output.status([]))
    return (jobs: ReadonlyArray<BulkBoard.Shown>) =>
      Effect.gen(function*() {
        if (options.json) return yield* print(jobs, true)
        const terminal = yield* output.terminal
        if (Option.isSome(terminal)) return yield* output.status(BulkBoard.lines(jobs, terminal.value))
        const now = yield* Clock.currentTimeMillis
        if (isTerminal || now - toldAt < Duration.toMillis(every)) return
        toldAt = now
        yield* Effect.forEach(jobs, (job) => output.note(BulkBoard.plain(job)), { discard: true })
      })
  })

/** A database that is away for a while ends no runner, and so nobody who watches one either. */
const patient = <A, E extends Failure>(told: (problem: string) => Effect.Effect<void>, stream: Stream.Stream<A, E>) => {
  let isAway = false
  return stream.pipe(
    Stream.tap(() => Effect.sync(() => isAway = false)),
    Stream.tapError((error) => {
      if (error._tag !== "SqlError" || isAway) return Effect.void
      isAway = true
      return told(`The database does not answer (${causeOf(error)}): trying again`)
    }),
    Stream.retry(Schedule.whileInput(Schedule.spaced("1 second"), ({ _tag }: E) => _tag === "SqlError"))
  )
}

const watched = (job: Jobs.Job, options: Options) =>
  Effect.gen(function*() {
    const { warn } = yield* Output
    const show = yield* shower(options, "10 seconds")
    const last = yield* patient(warn, job.progress).pipe(
      Stream.tap((standing) => show([{ name: job.name, standing }])),
      Stream.runLast
    )
    return yield* Option.match(last, { onNone: () => job.status, onSome: Effect.succeed })
  }).pipe(Effect.scoped)

const shown = (job: Jobs.Job): Effect.Effect<BulkBoard.Shown, SqlError | JobNotFound> =>
  Effect.map(job.status, (standing) => ({ name: job.name, standing }))

const all = Effect.flatMap(
  Jobs.names,
  (names) => Effect.forEach(names, (name) => Effect.flatMap(Jobs.get(name), shown))
)

const isUnderWay = ({ standing: { chunks, state } }: BulkBoard.Shown): boolean => state === "running" || chunks > 0

/** For as long as there are such jobs. */
const watchedAll = (options: Options, goesOn: (jobs: ReadonlyArray<BulkBoard.Shown>) => boolean) =>
  Effect.gen(function*() {
    const { warn } = yield* Output
    const bulk = yield* Jobs.Bulk
    const show = yield* shower(options, "1 minute")
    const jobs = Effect.provideService(all, Jobs.Bulk, bulk).pipe(
      // forgotten in between
      Effect.catchTag("JobNotFound", () => Effect.succeed([]))
    )
    yield* patient(warn, Stream.repeatEffectWithSchedule(jobs, Schedule.spaced("1 second"))).pipe(
      Stream.map((jobs) => jobs.filter(isUnderWay)),
      Stream.takeWhile(goesOn),
      Stream.runForEach(show)
    )
  }).pipe(Effect.scoped)

const end = (job: Jobs.Job, standing: Reports.Standing, options: Options) =>
  Effect.gen(function*() {
    // the last line of the progress was that of the end
    if (!options.json) yield* print([{ name: job.name, standing }], false)
    const { failed, total, uploaded } = standing
    if (uploaded < total) {
      return yield* new JobFailed({ job: job.name, failed, cancelled: total - uploaded - failed })
    }
  })

const manifestOf = ({ host, manifest, mount, path, recursive }: Options, name: string) =>
  Effect.gen(function*() {
    if (Option.isSome(host) && Option.isSome(mount)) {
      return yield* invalid("--mount", "not beside --host: the files are in one place")
    }
    const place: BulkSources.Place = Option.isSome(mount)
      ? { mount: mount.value }
      : Option.isSome(host)
      ? { host: host.value }
      : {}
    if (Option.isSome(manifest)) {
      const root = Option.isSome(mount) ? "" : Option.getOrElse(path, () => ".")
      return BulkSources.manifest(manifest.value, root, place)
    }
    if (Option.isSome(path)) return BulkSources.directory(path.value, { recursive, ...place })
    const problem = `there is no job ${JSON.stringify(name)} yet: name the directory of its files, or --manifest`
    return yield* invalid("PATH", problem)
  })

const submitted = (name: string, options: Options) =>
  Effect.gen(function*() {
    const nowhere = Option.isNone(options.path) && Option.isNone(options.manifest)
    const there = yield* Effect.asSome(Jobs.get(name)).pipe(Effect.catchTag("JobNotFound", () => Effect.succeedNone))
    // one whose loading was interrupted has to be loaded again
    if (Option.isSome(there) && nowhere && (yield* there.value.status).state !== "loading") return there.value
    const manifest = yield* manifestOf(options, name)
    return yield* Jobs.submit(name, manifest, { chunkSize: Option.getOrUndefined(options.chunk) })
  })

/** What only whoever started the command can mend ends it; `run` serves other jobs, unless its token is wrong. */
const endings: Readonly<Record<"start" | "run", ReadonlySet<Halt["reason"]>>> = {
  start: new Set(["token", "connection", "room", "directory"]),
  run: new Set(["token"])
}

/** Tells once why a job waits here, and fails where that ends the command: the job is kept, and goes on with the next one. */
const halted = (action: "start" | "run") =>
  Effect.gen(function*() {
    const { warn } = yield* Output
    const runner = yield* BulkRunner.BulkRunner
    const waiting = new Map<string, string>()
    const told = (halts: ReadonlyArray<Halt>) =>
      Effect.gen(function*() {
        for (const { error, job, reason } of halts) {
          if (endings[action].has(reason)) return yield* new JobStopped({ job, reason, problem: messageOf(error) })
          if (waiting.get(job) !== reason) yield* warn(`${job} waits, and tries again by itself: ${messageOf(error)}`)
        }
        waiting.clear()
        for (const { job, reason } of halts) waiting.set(job, reason)
      })
    return yield* Effect.forever(Effect.delay(Effect.flatMap(runner.halted, told), "200 millis"))
  })

const start = (name: string, options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const job = yield* submitted(name, options)
    if (options.submitOnly) return yield* Effect.flatMap(shown(job), (one) => print([one], options.json))
    const { state } = yield* job.status
    if (state === "paused") yield* output.note(`${name} is paused: stevedore bulk resume ${name}`)
    const command = yield* again
    const standing = yield* Effect.onInterrupt(
      watched(job, options),
      () => output.warn(`Stopped: the job is kept. To go on:\n  ${command}`)
    )
    yield* end(job, standing, options)
  })

const failures = (job: Jobs.Job, json: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    const count = yield* job.failures.pipe(
      Stream.grouped(100),
      Stream.runFoldEffect(0, (sum, group) =>
        Effect.as(
          json
            ? output.json(Chunk.toReadonlyArray(group).map(({ error, path }) => Reports.failed({ path }, error)))
            : Table.print(
              failureColumns,
              Chunk.toReadonlyArray(group).map(({ error, path }) => [path, error._tag, messageOf(error)]),
              { header: sum === 0 }
            ),
          sum + group.length
        ))
    )
    if (count === 0 && !json) yield* output.note(`No file of ${job.name} has failed`)
  })

const failureColumns: ReadonlyArray<Table.Column> = [
  { header: "PATH", width: 32 },
  { header: "ERROR", width: 18 },
  { header: "WHY", width: undefined }
]

const changed = (
  change: (job: Jobs.Job) => Effect.Effect<void, SqlError>
) =>
(name: string, { json }: Options) =>
  Effect.gen(function*() {
    const job = yield* Jobs.get(name)
    yield* change(job)
    yield* print([yield* shown(job)], json)
  })

const status = (name: Option.Option<string>, options: Options) =>
  Effect.gen(function*() {
    if (Option.isNone(name)) {
      const jobs = yield* all
      yield* print(jobs, options.json)
      if (options.watch) return yield* watchedAll(options, (jobs) => jobs.length > 0)
      if (jobs.length === 0 && !options.json) yield* Effect.flatMap(Output, ({ note }) => note("There are no jobs"))
      return
    }
    const job = yield* Jobs.get(name.value)
    if (!options.watch) return yield* Effect.flatMap(shown(job), (one) => print([one], options.json))
    yield* end(job, yield* watched(job, options), options)
  })

const forgotten = (name: string) =>
  Effect.gen(function*() {
    const job = yield* Jobs.get(name)
    yield* job.forget
    yield* Effect.flatMap(Output, ({ note }) => note(`Forgot ${name}: the files at the service stay`))
  })

const workingColumns: ReadonlyArray<Table.Column> = [
  { header: "RUNNER", width: undefined },
  { header: "JOB", width: 24 },
  { header: "CHUNK", width: 8 },
  { header: "UPLOADED", width: 9 },
  { header: "FAILED", width: 7 },
  { header: "SILENT", width: 8 }
]

/** What each runner does. */
const runners = ({ json }: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const working = yield* Jobs.working
    if (json) return yield* output.json(working.map((one) => ({ type: "runner", ...one })))
    if (working.length === 0) return yield* output.note("No runner has a chunk at this moment")
    yield* Table.print(
      workingColumns,
      working.map(({ chunk, failed, job, runner, silentMillis, uploaded }) => [
        runner,
        job,
        `${chunk}`,
        `${uploaded}`,
        `${failed}`,
        `${(silentMillis / 1000).toFixed(1)} s`
      ])
    )
  })

type Performed = Effect.Effect<
  void,
  Failure | SourceError | InvalidInput | JobFailed | JobStopped | OutputFailed,
  Jobs.Bulk | Output
>

const performed = (action: Exclude<Options["action"], "start" | "run">, job: string, options: Options): Performed => {
  switch (action) {
    case "status":
      return status(options.job, options)
    case "runners":
      return runners(options)
    case "failures":
      return Effect.flatMap(Jobs.get(job), (job) => failures(job, options.json))
    case "pause":
      return changed((job) => job.pause)(job, options)
    case "resume":
      return changed((job) => job.resume)(job, options)
    case "cancel":
      return changed((job) => job.cancel)(job, options)
    case "retry":
      return changed((job) => job.retryFailed)(job, options)
    case "forget":
      return forgotten(job)
    case "migrate":
      return Effect.flatMap(Output, ({ note }) => note("The tables are there"))
  }
}

/** Metrics of this runner, and where they are read, if anywhere. */
const measured = ({ metricsHost, metricsPort }: Options) =>
  Effect.zipRight(
    NodeMetrics.measuring,
    Effect.transposeMapOption(metricsPort, (port) =>
      Effect.mapError(
        NodeMetrics.listen(Option.getOrElse(metricsHost, () => "127.0.0.1"), port),
        ({ problem }) => invalid("--metrics-port", problem)
      ))
  )

/** Does what an action says. */
export const perform = (action: Options["action"], place: Place, options: Options) =>
  Effect.gen(function*() {
    const job = Option.getOrElse(options.job, () => "")
    const sql = yield* database(place, action)
    if (action !== "start" && action !== "run" || (action === "start" && options.submitOnly)) {
      const client = Layer.provide(Jobs.layerClient, sql)
      const one: Performed = action === "start" ? start(job, options) : performed(action, job, options)
      return yield* Effect.provide(one, client)
    }
    const Live = Layer.provide(yield* runner(options), sql)
    const one: Performed = action === "start" ? start(job, options) : watchedAll(options, () => true)
    yield* Effect.scoped(
      Effect.zipRight(measured(options), Effect.provide(Effect.raceFirst(one, halted(action)), Live))
    )
  }).pipe(
    Effect.catchTag(
      "JobNotFound",
      "JobNotFinished",
      "JobDiffers",
      "ParseError",
      "SqlError",
      "MigrationError",
      (error) => Effect.fail(told(error))
    )
  )
