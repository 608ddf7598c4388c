/** A job on three runners, of which one is killed and one frozen, and the proof that every file is there once. */
import { FileSystem } from "@effect/platform"
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "@effect/sql/SqlClient"
import { Bulk, BulkSources } from "@stevedore/bulk"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import * as Measure from "@stevedore/core/parts/measure"
import { Clock, Console, Data, Duration, Effect, Layer, Option, Redacted, Schedule, Stream } from "effect"
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Postgres from "./Postgres.js"

export class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

type Fate = "running" | "killed" | "frozen" | "woken"

interface Runner {
  readonly name: string
  readonly signal: (signal: NodeJS.Signals, fate: Fate) => Effect.Effect<void>
  readonly fate: () => Fate
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href

const searchPath = process.env["PATH"]

const runner = (name: string, env: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--import", loader, path("./Runner.ts")], {
          env: { PATH: searchPath, TSX_TSCONFIG_PATH: path("../../../tsconfig.json"), RUNNER: name, ...env },
          stdio: ["ignore", "ignore", "inherit"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child): Runner => {
      let fate: Fate = "running"
      return {
        name,
        fate: () => fate,
        signal: (signal, next) =>
          Effect.sync(() => {
            fate = next
            child.kill(signal)
          })
      }
    }
  )

const contentOf = (name: string): string => `${name}\n${name.repeat(40)}`

/** A failure unless it is so. */
const prove = (isSo: boolean, what: string): Effect.Effect<void, DemoFailed> =>
  isSo ? Console.log(`  proven: ${what}`) : new DemoFailed({ message: `Not so: ${what}` })

const heldBy = ({ name }: Runner) =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly chunks: number }>`select count(*)::integer as chunks from bulk_chunk where runner = ${name}`,
      ([row]) => row?.chunks ?? 0
    ))

/** What a person would look at: how far the job is, and what became of whom. */
const board = (runners: ReadonlyArray<Runner>, startedAt: number) => (progress: Bulk.Progress) =>
  Effect.gen(function*() {
    const { failed, timeLeft, total, uploaded } = progress
    const standing = yield* Effect.forEach(
      runners,
      (runner) => Effect.map(heldBy(runner), (chunks) => `${runner.name} ${runner.fate()} (${chunks})`)
    )
    const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
    const done = `${Measure.percent(uploaded + failed, total)}%  ${uploaded} of ${total} files`
    const left = Option.match(timeLeft, { onNone: () => "", onSome: (time) => `${Measure.duration(time)} left` })
    yield* Console.log([`${Duration.toSeconds(took).toFixed(0).padStart(5)} s`, done, ...standing, left].join("  "))
  })

/** What happens to the runners, and when. */
const fates = (job: Bulk.Job, [killed, frozen]: ReadonlyArray<Runner>) =>
  Effect.gen(function*() {
    const reached = (share: number) =>
      Effect.repeat(job.status, {
        until: ({ total, uploaded }) => uploaded >= share * total,
        schedule: Schedule.spaced("50 millis")
      })
    if (killed === undefined || frozen === undefined) return
    yield* reached(0.2)
    yield* killed.signal("SIGKILL", "killed")
    yield* Console.log(`         ${killed.name} is killed with ${yield* heldBy(killed)} chunks`)
    yield* reached(0.4)
    yield* frozen.signal("SIGSTOP", "frozen")
    yield* Console.log(`         ${frozen.name} is frozen with ${yield* heldBy(frozen)} chunks, and says nothing`)
    yield* Effect.repeat(heldBy(frozen), { until: (chunks) => chunks === 0, schedule: Schedule.spaced("100 millis") })
    yield* frozen.signal("SIGCONT", "woken")
    yield* Console.log(`         ${frozen.name} has lost its chunks to the others, and wakes up`)
  })

/** Runs a job of so many files. */
export const demo = (count: number) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-demo-" })
    const names = Array.from({ length: count }, (_, index) => `recording-${String(index).padStart(5, "0")}.txt`)
    yield* Effect.forEach(names, (name) => fs.writeFileString(`${root}/${name}`, contentOf(name)), {
      concurrency: 16,
      discard: true
    })
    const url = yield* Postgres.start
    const sandbox = yield* SandboxServer.start({
      port: 0,
      storagePort: 0,
      directory: Option.none(),
      token: Option.none(),
      projects: 0
    })
    yield* Console.log(`A PostgreSQL, a sandbox of the service, three runners, and a job of ${count} files.\n`)
    yield* Effect.gen(function*() {
      const job = yield* Bulk.submit("recordings", BulkSources.directory(root, { mount: "recordings" }), {
        chunkSize: Math.max(5, Math.min(50, Math.floor(count / 20)))
      })
      const startedAt = yield* Clock.currentTimeMillis
      const runners = yield* Effect.forEach(["first", "second", "third"], (name) =>
        runner(name, {
          DATABASE_URL: url,
          RECORDINGS_ROOT: root,
          STEVEDORE_BASE_URL: sandbox.baseUrl,
          STEVEDORE_TOKEN: Redacted.value(sandbox.token)
        }))
      yield* Effect.forkScoped(fates(job, runners))
      yield* Stream.runForEach(job.progress, board(runners, startedAt))
      const sql = yield* SqlClient
      const left = yield* sql`select job from bulk_ledger union all select job from bulk_receipt`
      const files = yield* sandbox.files
      const there = files.map(({ name }) => String(name)).sort()
      const same = yield* Effect.forEach(files, ({ id, name }) =>
        Effect.map(sandbox.stored(id), (bytes) =>
          new TextDecoder().decode(bytes) === contentOf(String(name))))
      const { breaches } = yield* sandbox.report
      yield* Console.log("")
      yield* prove(there.join() === names.join(), `each of the ${count} files is at the service, and is there once`)
      yield* prove(
        same.every((is) =>
          is
        ),
        "each has the bytes that it had here"
      )
      yield* prove(breaches.length === 0, "the service saw nothing that its interface does not allow")
      yield* prove(left.length === 0, "nothing is left to remember")
    }).pipe(
      Effect.provide(Layer.provideMerge(Bulk.layerClient, PgClient.layer({ url: Redacted.make(url) })))
    )
  }).pipe(Effect.scoped)
