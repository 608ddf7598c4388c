import * as PgClient from "@effect/sql-pg/PgClient"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Sqlite from "@stevedore/server/Sqlite"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { statSync } from "node:fs"
import { join } from "node:path"
import * as Postgres from "../../../examples/bulk/Postgres.js"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Summary } from "../Statistics.js"
import { summary } from "../Statistics.js"
import type { Setting, Topic } from "../Topic.js"

const size = 2 * 2 ** 10

/** What PUTs of a service far away take. */
const slow = Duration.millis(400)

const failed = ({ message }: { readonly message: string }) => new Processes.ContenderFailed({ message })

/** A database that each use has for itself. */
interface Database {
  readonly url: string
  readonly layer: Layer.Layer<SqlClient, SqlError>
  /** In bytes, of all tables and indexes. */
  readonly size: Effect.Effect<number, Processes.ContenderFailed>
}

const inDatabase = <A>(effect: Effect.Effect<A, SqlError, SqlClient>, { layer }: Pick<Database, "layer">) =>
  Effect.mapError(Effect.provide(effect, layer), failed)

/** Databases of a PostgreSQL, made on demand. */
const postgres = Effect.map(Effect.mapError(Postgres.start, failed), (url) => {
  const layerOf = (url: string) => PgClient.layer({ url: Redacted.make(url) })
  let made = 0
  return Effect.suspend(() => {
    const name = `bench_${++made}`
    const own = { url: url.replace(/[^/]+$/, name), layer: layerOf(url.replace(/[^/]+$/, name)) }
    const bytes = Effect.flatMap(SqlClient, (sql) =>
      Effect.map(
        sql<{ readonly bytes: number }>`
          select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
          where relname like 'bulk_%' and relkind = 'r'`,
        ([row]) => row?.bytes ?? 0
      ))
    const database: Database = { ...own, size: inDatabase(bytes, own) }
    return Effect.as(
      inDatabase(Effect.flatMap(SqlClient, (sql) => sql.unsafe(`create database ${name}`)), { layer: layerOf(url) }),
      database
    )
  })
})

const sqlite = (folder: string) => {
  let made = 0
  return Effect.sync((): Database => {
    const path = join(folder, `bench-${++made}.db`)
    return {
      url: `file:${path}`,
      layer: Sqlite.layer({ file: path }),
      size: Effect.sync(() => statSync(path).size)
    }
  })
}

type Databases = Effect.Effect<Database, Processes.ContenderFailed>

/** One process or several that upload the same files. */
interface Team {
  readonly title: string
  readonly members: Effect.Effect<ReadonlyArray<Contest.Contender>, Processes.ContenderFailed>
}

interface Work {
  readonly setting: Setting
  readonly sink: Processes.Sink
  readonly folder: string
  readonly count: number
  readonly filesAtOnce: number
}

const runner = ({ filesAtOnce, folder, setting, sink }: Work, { url }: Database, name: string) =>
  Contenders.program(setting, "stevedoreBulk", name, [url, sink.origin, folder, filesAtOnce, "job", name])

const plain = ({ count, filesAtOnce, folder, setting, sink }: Work): Team => {
  const title = "`uploadAll`, with the ledger on disk"
  const words = [sink.origin, folder, count, filesAtOnce]
  return { title, members: Effect.succeed([Contenders.program(setting, "stevedoreSmallFiles", title, words)]) }
}

const runners = (work: Work, databases: Databases, where: string, count: number): Team => ({
  title: `a job in ${where}, ${count} ${count === 1 ? "runner" : "runners"}`,
  members: Effect.map(
    databases,
    (database) => Array.from({ length: count }, (_, index) => runner(work, database, `runner-${index}`))
  )
})

/** One run of a team. */
interface Result {
  readonly filesASecond: number
  /** Of all its processes, in milliseconds. */
  readonly cpuAFile: number
  /** Of the process that had most, in bytes. */
  readonly memory: number
}

const once = ({ count, sink }: Work, { members, title }: Team) =>
  Effect.gen(function*() {
    const commands = yield* members
    yield* sink.read
    const { cpu, ran } = yield* Processes.measureTogether(commands)
    const { bytes } = yield* sink.read
    if (bytes !== count * size) return yield* failed({ message: `${title}: the sink counted ${bytes} bytes` })
    const result: Result = {
      // the one that was up first has seen all of it
      filesASecond: count / Math.max(...ran.map(({ output }) => Number(output))),
      cpuAFile: 1000 * cpu / count,
      memory: Math.max(...ran.map(({ memory }) => memory))
    }
    yield* Console.error(
      `  ${title}: ${Markdown.number(result.filesASecond)} files/s, ${
        Markdown.number(result.cpuAFile)
      } ms of CPU a file`
    )
    return result
  })

interface Standing {
  readonly title: string
  readonly results: ReadonlyArray<Result>
}

/** Each team `runs` times, in turns. */
const held = (work: Work, teams: ReadonlyArray<Team>, runs: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: runs }, (_, round) => round + 1), (round) =>
      Effect.map(
        Effect.forEach(
          Contest.inOrderOf(round, teams),
          (team) => Effect.map(once(work, team), (result) => [team, result] as const)
        ),
        (results) => new Map(results)
      )),
    (rounds) =>
      teams.map((team): Standing => ({
        title: team.title,
        results: rounds.flatMap((round) => round.get(team) ?? [])
      }))
  )

const ratios = (standing: Standing, first: Standing | undefined, of: (result: Result) => number): Summary =>
  summary(standing.results.map((result, round) => {
    const other = first?.results[round]
    return of(result) / (other === undefined ? NaN : of(other))
  }))

const rate = ({ filesASecond }: Result) => filesASecond
const cpu = ({ cpuAFile }: Result) => cpuAFile

const table = (standings: ReadonlyArray<Standing>) =>
  Markdown.table(
    ["", "files/s", "×", "CPU, ms a file", "×", "peak memory, MiB"],
    standings.map((standing) => [
      standing.title,
      Markdown.spread(summary(standing.results.map(rate))),
      Markdown.spread(ratios(standing, standings[0], rate)),
      Markdown.spread(summary(standing.results.map(cpu))),
      Markdown.spread(ratios(standing, standings[0], cpu)),
      Markdown.mebibytes(summary(standing.results.map(({ memory }) => memory)).median)
    ])
  )

interface Grown {
  readonly where: string
  readonly count: number
  readonly seconds: number
  /** Of the process that loads it, in seconds. */
  readonly cpu: number
  readonly bytes: number
  readonly memory: number
}

/** A manifest of so many files, and nobody who uploads them. */
const grown = (setting: Setting, databases: Databases, where: string, count: number) =>
  Effect.gen(function*() {
    const database = yield* databases
    const words = [database.url, count]
    const { cpu, memory, output } = yield* Processes.measure(
      Contenders.program(setting, "stevedoreManifest", "a manifest", words)
    )
    const rows = Effect.flatMap(SqlClient, (sql) =>
      Effect.map(
        sql<{ readonly files: number }>`select count(*) * 1.0 as files from bulk_file`,
        ([row]) => Number(row?.files)
      ))
    const files = yield* inDatabase(rows, database)
    if (files !== count) return yield* failed({ message: `${files} of ${count} files are in the manifest` })
    yield* Console.error(`  a manifest of ${count} files in ${where}: ${output} s`)
    const one: Grown = { where, count, seconds: Number(output), cpu, bytes: yield* database.size, memory }
    return one
  })

/** Seconds from the kill of a runner until the other has the first and the last of its chunks. */
const takenOver = (work: Work, databases: Databases) =>
  Effect.gen(function*() {
    const database = yield* databases
    const chunksOf = (name: string) =>
      Effect.flatMap(SqlClient, (sql) =>
        Effect.map(
          sql<{ readonly n: number }>`select n from bulk_chunk where runner = ${name} and state = 1`,
          (rows) => rows.length
        ))
    const first = yield* Processes.started(runner(work, database, "first"))
    yield* Processes.started(runner(work, database, "second"))
    const watching = Effect.gen(function*() {
      const every = Schedule.spaced("20 millis")
      const both = Effect.zipWith(chunksOf("first"), chunksOf("second"), (one, other) => one > 1 && other > 0)
      // the tables may not be there yet
      const begun = Effect.orElseSucceed(both, () => false)
      yield* Effect.repeat(begun, { until: (is) => is, schedule: every })
      first.kill("SIGKILL")
      const killedAt = yield* Clock.currentTimeMillis
      const held = yield* chunksOf("first")
      const since = Effect.map(Clock.currentTimeMillis, (now) => (now - killedAt) / 1000)
      yield* Effect.repeat(chunksOf("first"), { until: (left) => left < held, schedule: every })
      const firstChunk = yield* since
      yield* Effect.repeat(chunksOf("first"), { until: (left) => left === 0, schedule: every })
      return { firstChunk, lastChunk: yield* since }
    })
    return yield* inDatabase(watching, database).pipe(
      Effect.timeoutFail({ duration: "2 minutes", onTimeout: () => failed({ message: "Nobody has taken over" }) })
    )
  }).pipe(
    Effect.tap(({ lastChunk }) => Console.error(`  taken over after ${lastChunk} s`)),
    Effect.scoped
  )

export const bulk: Topic = {
  name: "bulk",
  run: (setting) =>
    Effect.gen(function*() {
      const inPostgres = yield* postgres
      const inSqlite = sqlite(setting.folder)

      const workOf = (count: number, filesAtOnce: number, putTakes: Duration.Duration) =>
        Effect.gen(function*() {
          const folder = yield* Files.makeMany(setting.folder, count, size)
          const sink = yield* Processes.sink(setting.programs, { putTakes })
          const work: Work = { setting, sink, folder, count, filesAtOnce }
          return work
        })
      const several = (work: Work) => [2, 3].map((count) => runners(work, inPostgres, "PostgreSQL", count))
      const one = (work: Work) => runners(work, inPostgres, "PostgreSQL", 1)
      const fewer = Math.max(1, Math.floor(setting.runs / 4))

      const near = yield* workOf(setting.full ? 10_000 : 500, 16, Duration.zero)
      const nearby = yield* held(near, [plain(near), one(near), runners(near, inSqlite, "SQLite", 1)], setting.runs)
      const taken = yield* Effect.replicateEffect(
        takenOver(yield* workOf(1000, 16, slow), inPostgres),
        Math.min(setting.runs, 3)
      )
      const manifests = yield* Effect.forEach([1000, 10_000, 100_000, 1_000_000], (count) =>
        Effect.all([
          grown(setting, inPostgres, "PostgreSQL", count),
          grown(setting, inSqlite, "SQLite", count)
        ]))
      const crowded = yield* held(near, [plain(near), ...several(near)], fewer)
      const far = yield* workOf(setting.full ? 1500 : 200, 8, slow)
      const distant = yield* held(far, [plain(far), one(far), ...several(far)], fewer)

      const [reference, durable] = nearby
      const lastChunk = summary(taken.map(({ lastChunk }) => lastChunk))
      const listed = manifests.flat()
      const largest = listed.filter(({ count, where }) => where === "PostgreSQL" && count === 1_000_000)
      return {
        title: "Jobs over several machines",
        conditions:
          `Files of ${Markdown.size(size)}. PostgreSQL and the sink share the two cores with the runners, which are ` +
          "processes of their own: files a second are those of one machine, and CPU is that of the uploading processes, " +
          "with their start. Rates are without it. Runs are interleaved, and ratios compare the runs of one round " +
          "with the first row's.",
        body: [
          "### A service that is near",
          `${near.count} files, ${near.filesAtOnce} at once in each process, ${setting.runs} runs each.`,
          table(nearby),
          `Several runners, ${fewer === 1 ? "one run" : `${fewer} runs`} each:`,
          table(crowded),
          "### A service that is far",
          `Each PUT takes ${
            Duration.toMillis(slow)
          } ms. ${far.count} files, ${far.filesAtOnce} at once in each process, ` +
          `${fewer} runs each.`,
          table(distant),
          "### A runner that is killed",
          `Two runners with the default lease of 10 s, ${taken.length} times, as far from the service. Seconds from the ` +
          "SIGKILL of one until the other goes on with its chunks:",
          Markdown.table(["", "s"], [
            ["the first of its chunks", Markdown.spread(summary(taken.map(({ firstChunk }) => firstChunk)))],
            ["the last of its chunks", Markdown.spread(lastChunk)]
          ]),
          "### Growth",
          "A manifest is loaded, and no file of it is uploaded.",
          Markdown.table(
            ["files", "s", "CPU, s", "tables and indexes, MiB", "peak memory, MiB"],
            listed.map(({ bytes, count, cpu, memory, seconds, where }) => [
              `${Markdown.number(count)} in ${where}`,
              Markdown.number(seconds),
              Markdown.number(cpu),
              Markdown.mebibytes(bytes),
              Markdown.mebibytes(memory)
            ])
          )
        ].join("\n\n"),
        goals: [
          {
            title: "bulk: CPU a small file against `uploadAll` with the ledger on disk",
            safe: 1.5,
            aim: 1.2,
            measured: durable === undefined ? NaN : ratios(durable, reference, cpu).median
          },
          {
            title: "bulk: seconds until a killed runner is replaced",
            safe: 15,
            aim: 12,
            measured: lastChunk.median
          },
          {
            title: "bulk: seconds for a manifest of 1,000,000 files in PostgreSQL",
            safe: 20,
            aim: 10,
            measured: largest[0]?.seconds ?? NaN
          }
        ]
      }
    })
}
