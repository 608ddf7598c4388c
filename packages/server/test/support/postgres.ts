import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted, Schedule } from "effect"
import type { ChildProcess } from "node:child_process"
import { execFileSync, spawn } from "node:child_process"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../../.ci/free-port.mjs"
import { pgBouncerPath, postgresPath } from "../../../../.ci/optional-suites.mjs"

const binary = (name: string): string => join(postgresPath ?? "", name)

// PostgreSQL refuses to run as root; Debian's package brings a user for it
const user = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** A process gets a signal, and has ended. */
const ended = (child: ChildProcess | undefined, signal: "SIGQUIT" | "SIGINT") =>
  Effect.async<void>((resume) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** A PostgreSQL of its own, in a directory of its own, on loopback. */
export const postgres = Effect.gen(function*() {
  const port = yield* Effect.promise(freePort)
  const owner = user()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-postgres-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, "data")
  execFileSync(binary("initdb"), ["-D", data, "-U", "bulk", "-A", "trust", "-N"], {
    ...owner,
    cwd: folder,
    stdio: "ignore"
  })
  const state: { child: ChildProcess | undefined } = { child: undefined }
  const start = Effect.sync(() => {
    state.child = spawn(
      binary("postgres"),
      ["-D", data, "-p", `${port}`, "-c", "listen_addresses=127.0.0.1", "-k", folder, "-c", "fsync=off"],
      { ...owner, cwd: folder, stdio: "ignore" }
    )
  })
  // SIGQUIT is a crash: nothing is written, and the next start recovers
  const stop = (signal: "SIGQUIT" | "SIGINT") => Effect.suspend(() => ended(state.child, signal))
  yield* Effect.acquireRelease(start, () => stop("SIGINT"))
  const of = (name: string) => {
    const url = `postgres://bulk@127.0.0.1:${port}/${name}`
    return { url, layer: PgClient.layer({ url: Redacted.make(url), maxConnections: 6 }) }
  }
  const { layer, url } = of("postgres")
  /** A database of this name beside the first one. */
  const named = (name: string) =>
    Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(`create database ${name}`)).pipe(
      Effect.provide(layer),
      Effect.as(of(name))
    )
  yield* Effect.flatMap(PgClient.PgClient, (sql) => sql`select 1`).pipe(
    Effect.provide(layer),
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 100 })
  )
  /** Another one that has each change before its commit is told, and may take its place: `promote`. */
  const standby = Effect.gen(function*() {
    const place = join(folder, "standby")
    const there = yield* Effect.promise(freePort)
    const run = (program: string, words: ReadonlyArray<string>) =>
      Effect.sync(() => execFileSync(binary(program), words, { ...owner, cwd: folder, stdio: "ignore" }))
    yield* run("pg_basebackup", ["-h", "127.0.0.1", "-p", `${port}`, "-U", "bulk", "-D", place, "-R", "-c", "fast"])
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          binary("postgres"),
          ["-D", place, "-p", `${there}`, "-c", "listen_addresses=127.0.0.1", "-k", place, "-c", "fsync=off"],
          { ...owner, cwd: folder, stdio: "ignore" }
        )
      ),
      (child) => ended(child, "SIGQUIT")
    )
    yield* Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.gen(function*() {
        yield* sql.unsafe("alter system set synchronous_standby_names = '*'")
        yield* sql.unsafe("select pg_reload_conf()")
        yield* Effect.repeat(sql.unsafe<{ sync_state: string }>("select sync_state from pg_stat_replication"), {
          until: ([one]) => one?.sync_state === "sync",
          schedule: Schedule.spaced("100 millis")
        })
      })).pipe(Effect.provide(layer))
    return { port: there, pid: child.pid, promote: run("pg_ctl", ["promote", "-D", place, "-w"]) }
  })
  /**
   * PgBouncer before it, as Debian ships it, in transaction mode: four connections for all clients, and each statement or
   * transaction gets another one.
   */
  const pooled = Effect.gen(function*() {
    const there = yield* Effect.promise(freePort)
    const file = join(folder, "pgbouncer.ini")
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${port} user=bulk
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${there}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = extra_float_digits
logfile = ${folder}/pgbouncer.log
`
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => spawn(pgBouncerPath, [file], { ...owner, cwd: folder, stdio: "ignore" })),
      (child) => ended(child, "SIGQUIT")
    )
    /** The address of a database behind it. */
    return (url: string) => {
      const behind = new URL(url)
      behind.port = String(there)
      return behind.href
    }
  })
  return { url, layer, named, crash: stop("SIGQUIT"), start, standby, pooled }
})

export type Postgres = Effect.Effect.Success<typeof postgres>
