/** The actions of `stevedore bulk`, each over the database with the jobs. */
import type { SqlError } from "@effect/sql/SqlError"
import * as Jobs from "@stevedore/bulk/Bulk"
import * as BulkRateLimit from "@stevedore/bulk/BulkRateLimit"
import type { Halt } from "@stevedore/bulk/BulkRunner"
import * as BulkRunner from "@stevedore/bulk/BulkRunner"
import * as BulkSources from "@stevedore/bulk/BulkSources"
import * as BulkQueue from "@stevedore/bulk/Queue"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeMetrics from "@stevedore/server/NodeMetrics"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { hostname } from "node:os"
import * as Configuration from "../connection/configuration.js"
import * as Telemetry from "../connection/telemetry.js"
import * as Outcomes from "../files/outcomes.js"
import type { SkippedEntry } from "../files/paths.js"
import * as UploadPaths from "../files/paths.js"
import { skippedLine } from "../files/reporter.js"
import { again } from "../options/commandWords.js"
import { invalid } from "../options/invalidInput.js"
import { messageOf } from "../print/message.js"
import { Output } from "../print/output.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import * as Database from "./database.js"
import { JobStopped, type Place } from "./model.js"
import type { DatabaseOptions, OfJob, Running, Starting, Watching } from "./options.js"
import { all, end, print, shown, watched, watchedAll } from "./watch.js"

const parsedRoots = (given: ReadonlyArray<string>) =>
  Effect.forEach(given, (text) => {
    const [, name = "", directory = ""] = /^([^=]+)=(.+)$/.exec(text) ?? []
    return name === ""
      ? invalid("--root", `expected a name and a directory, such as archive=/mnt/archive`)
      : Effect.succeed([name, directory] as const)
  })

const sources = ({ host, mount, path, root }: Pick<Starting, "host" | "mount" | "path" | "root">) =>
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
const rateLimit = (options: Running) =>
  Effect.map(
    Configuration.resolve(options),
    ({ baseUrl, profile: { rateLimit }, token }) =>
      rateLimit === undefined ? Layer.empty : BulkRateLimit.layer({
        token: BulkRateLimit.tokenName({ baseUrl, token }),
        limit: rateLimit.requests,
        window: Duration.seconds(rateLimit.windowSeconds)
      })
  )

const runner = (options: Running & Partial<Pick<Starting, "mount" | "path">>) =>
  Effect.gen(function*() {
    const lease = Duration.seconds(options.lease)
    const name = `${hostname()}/${process.pid}`
    const partSize = Option.getOrUndefined(options.partSize)
    return BulkQueue.layer({ files: options.files, lease, name, partSize }).pipe(
      Layer.provide(yield* sources({ mount: Option.none(), path: Option.none(), ...options })),
      Layer.provide(Layer.provide(Configuration.layer(options, { ledger: false }), yield* rateLimit(options)))
    )
  })

/** The files of a directory, by the rules of `upload`; at the end it is told what was skipped. */
const chosen = (path: string, recursive: boolean) =>
  Stream.suspend(() => {
    const skipped: Array<SkippedEntry> = []
    return UploadPaths.within(path, { recursive }).pipe(
      Stream.filterMap((entry) => {
        if (entry._tag === "Skipped") return void skipped.push(entry), Option.none()
        const { file } = entry
        return Option.map(file.name, (path) => ({ path, size: file.size, at: file.path }))
      }),
      Stream.mapEffect(
        ({ at, ...entry }) => Effect.map(FileSource.stateAt(at), (state) => ({ ...entry, ...state })),
        { concurrency: 16 }
      ),
      Stream.concat(Stream.execute(Effect.flatMap(Output, ({ note }) =>
        Effect.forEach(skippedLine(Outcomes.skippedBy(skipped)), note, { discard: true }))))
    )
  })

const manifestOf = ({ host, job, manifest, mount, path, recursive }: Starting) =>
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
    if (Option.isSome(path)) {
      return BulkSources.files(Option.isSome(mount) ? "" : path.value, chosen(path.value, recursive), place)
    }
    const problem = `there is no job ${JSON.stringify(job)} yet: name the directory of its files, or --manifest`
    return yield* invalid("PATH", problem)
  })

const submitted = (options: Starting) =>
  Effect.gen(function*() {
    const nowhere = Option.isNone(options.path) && Option.isNone(options.manifest)
    const there = yield* Effect.asSome(Jobs.get(options.job)).pipe(
      Effect.catchTag("JobNotFound", () => Effect.succeedNone)
    )
    // one whose loading was interrupted has to be loaded again
    if (Option.isSome(there) && nowhere && (yield* there.value.status).state !== "loading") return there.value
    const manifest = yield* manifestOf(options)
    return yield* Jobs.submit(options.job, manifest, { chunkSize: Option.getOrUndefined(options.chunk) })
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

/** Metrics of this runner, and where they are read, if anywhere. */
const measured = ({ metricsHost, metricsPort }: Running) =>
  Effect.zipRight(
    NodeMetrics.measuring,
    Effect.transposeMapOption(metricsPort, (port) =>
      Effect.mapError(
        NodeMetrics.listen(Option.getOrElse(metricsHost, () => "127.0.0.1"), port),
        ({ problem }) => invalid("--metrics-port", problem)
      ))
  )

/** An action that looks, or steers. */
const steering = <Options extends DatabaseOptions, A, E, R>(
  does: (options: Options) => Effect.Effect<A, E, R>,
  kind: Database.Kind = "client"
) =>
(place: Place, options: Options) =>
  Effect.flatMap(
    Database.layer(place, kind),
    (sql) => Effect.provide(does(options), Layer.provide(Jobs.layerClient, sql))
  ).pipe(Database.inWords)

/** An action that runs jobs, which tells where it is observed what it does. */
const running = <Options extends Running & Partial<Pick<Starting, "mount" | "path">>, A, E, R>(
  action: "start" | "run",
  does: (options: Options) => Effect.Effect<A, E, R>
) =>
(place: Place, options: Options) =>
  Effect.gen(function*() {
    const sql = yield* Database.layer(place, "runner")
    const Live = Layer.provide(yield* runner(options), sql)
    yield* Effect.scoped(
      Effect.zipRight(measured(options), Effect.provide(Effect.raceFirst(does(options), halted(action)), Live))
    )
  }).pipe(Database.inWords, (runs) => Telemetry.exported("bulk", runs))

const submitting = steering(
  (options: Starting) =>
    Effect.flatMap(submitted(options), (job) => Effect.flatMap(shown(job), (one) => print([one], options.json))),
  "maker"
)

const uploading = running("start", (options: Starting) =>
  Effect.gen(function*() {
    const output = yield* Output
    const job = yield* submitted(options)
    const { state } = yield* job.status
    if (state === "paused") yield* output.note(`${job.name} is paused: stevedore bulk resume ${job.name}`)
    const command = yield* again
    const standing = yield* Effect.onInterrupt(
      watched(job, options.json),
      () => output.warn(`Stopped: the job is kept. To go on:\n  ${command}`)
    )
    yield* end(job, standing, options.json)
  }))

export const start = (place: Place, options: Starting) =>
  options.submitOnly ? submitting(place, options) : uploading(place, options)

export const run = running("run", ({ json }: Running) => watchedAll(json, () => true))

export const status = steering(({ job: name, json, watch }: Watching) =>
  Effect.gen(function*() {
    if (Option.isNone(name)) {
      const jobs = yield* all
      yield* print(jobs, json)
      if (watch) return yield* watchedAll(json, (jobs) => jobs.length > 0)
      if (jobs.length === 0 && !json) yield* Effect.flatMap(Output, ({ note }) => note("There are no jobs"))
      return
    }
    const job = yield* Jobs.get(name.value)
    if (!watch) return yield* Effect.flatMap(shown(job), (one) => print([one], json))
    yield* end(job, yield* watched(job, json), json)
  })
)

const workingColumns: ReadonlyArray<Table.Column> = [
  { header: "RUNNER", width: undefined },
  { header: "JOB", width: 24 },
  { header: "CHUNK", width: 8 },
  { header: "UPLOADED", width: 9 },
  { header: "FAILED", width: 7 },
  { header: "SILENT", width: 8 }
]

/** What each runner does. */
export const runners = steering(({ json }: DatabaseOptions) =>
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
)

/** Rows of a job as they come from its database: a table, or a line for programs each. */
const listed = <Row, E>(listing: {
  readonly of: (job: Jobs.Job) => Stream.Stream<Row, E>
  readonly columns: ReadonlyArray<Table.Column>
  readonly cells: (row: Row) => ReadonlyArray<string>
  readonly line: (row: Row) => object
  readonly none: string
}) =>
  steering(({ job: name, json }: OfJob) =>
    Effect.gen(function*() {
      const output = yield* Output
      const count = yield* listing.of(yield* Jobs.get(name)).pipe(
        Stream.grouped(100),
        Stream.map(Chunk.toReadonlyArray),
        Stream.runFoldEffect(0, (sum, rows) =>
          Effect.as(
            json
              ? output.json(rows.map(listing.line))
              : Table.print(listing.columns, rows.map(listing.cells), { header: sum === 0 }),
            sum + rows.length
          ))
      )
      if (count === 0 && !json) yield* output.note(`No file of ${name} ${listing.none}`)
    })
  )

const pathColumn: Table.Column = { header: "PATH", width: 32 }

export const failures = listed({
  of: ({ failures }) => failures,
  columns: [pathColumn, { header: "ERROR", width: 18 }, { header: "WHY", width: undefined }],
  cells: ({ error, path }) => [path, error._tag, messageOf(error)],
  line: ({ error, path }) => Reports.failed({ path }, error),
  none: "has failed"
})

/** What is uploaded, and how that was proven. */
export const files = listed({
  of: ({ files }) => files,
  columns: [pathColumn, { header: "PROOF", width: 9 }, { header: "ID", width: undefined }],
  cells: ({ fileId, path, proof }) => [path, proof, fileId],
  line: (file) => ({ type: "jobFile", ...file }),
  none: "is uploaded yet"
})

const changing = (change: (job: Jobs.Job) => Effect.Effect<void, SqlError>) =>
  steering(({ job: name, json }: OfJob) =>
    Effect.gen(function*() {
      const job = yield* Jobs.get(name)
      yield* change(job)
      yield* print([yield* shown(job)], json)
    })
  )

export const pause = changing(({ pause }) => pause)

export const resume = changing(({ resume }) => resume)

export const cancel = changing(({ cancel }) => cancel)

export const retry = changing(({ retryFailed }) => retryFailed)

export const forget = steering(({ job: name }: OfJob) =>
  Effect.gen(function*() {
    const job = yield* Jobs.get(name)
    yield* job.forget
    yield* Effect.flatMap(Output, ({ note }) => note(`Forgot ${name}: the files at the service stay`))
  })
)

export const migrate = steering(
  (_: DatabaseOptions) => Effect.flatMap(Output, ({ note }) => note("The tables are there")),
  "maker"
)
