import { HttpServerRequest } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import type { SandboxOptions } from "@stevedore/testing"
import { ObjectStoreMemory, Sandbox, SandboxHttp } from "@stevedore/testing"
import { Data, Effect, Layer, Redacted, Schedule } from "effect"
import type * as Esbuild from "esbuild"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Postgres } from "../../../server/test/support/postgres.js"
import { bytes } from "./lives.js"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const { resolve } = createRequire(import.meta.url)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-bulk-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A program of this folder as one script, which is up sooner than its modules. */
export const script = (name: string) =>
  Effect.flatMap(folder, (outdir) =>
    Effect.promise(async () => {
      const { build }: typeof Esbuild = createRequire(resolve("tsx"))("esbuild")
      await build({
        entryPoints: [path(`./${name}.ts`)],
        tsconfig: path("../../../../tsconfig.json"),
        outdir,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node20",
        external: ["pg-native"],
        logLevel: "error",
        banner: {
          js: "import { createRequire as requiring } from 'node:module'; const require = requiring(import.meta.url);"
        }
      })
      return join(outdir, `${name}.mjs`)
    }))

/** A service that other processes reach, with its storage. */
const served = (options: SandboxOptions.Options) =>
  Effect.gen(function*() {
    const listening = Effect.map(
      NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { host: "127.0.0.1", port: 0 }),
      (server) => ({
        server,
        origin: `http://127.0.0.1:${server.address._tag === "TcpAddress" ? server.address.port : 0}`
      })
    )
    const api = yield* listening
    const storage = yield* listening
    const sandbox = yield* Sandbox.make({
      minimumPartSize: 5,
      recommendedPartSize: 10,
      ...options,
      apiOrigin: api.origin,
      storageOrigin: storage.origin
    }).pipe(Effect.provide(ObjectStoreMemory.layer({ minimumPartSize: 5 })))
    const apps = SandboxHttp.apps(sandbox)
    let awaited: { readonly end: string; readonly act: (path: string) => Effect.Effect<void> } | undefined
    const watched = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
      if (awaited === undefined || !url.endsWith(awaited.end)) return Effect.void
      const { act } = awaited
      awaited = undefined
      return act(url)
    })
    yield* api.server.serve(Effect.zipRight(watched, apps.api))
    yield* storage.server.serve(apps.storage)
    return {
      sandbox,
      /** The next call whose path ends so reaches the service when this has been done about it. */
      onCall: (end: string, act: (path: string) => Effect.Effect<void>) =>
        Effect.sync(() => void (awaited = { end, act }))
    }
  })

/** What a test waited for did not happen. */
class Missed extends Data.TaggedError("Missed")<{ readonly what: string }> {
  override readonly message = `it has not come to this: ${this.what}`
}

/** What holds once it is so, asked every few milliseconds for at most 40 seconds. */
export const until = <A, E, R>(what: string, asked: Effect.Effect<A, E, R>, is: (value: A) => boolean) =>
  Effect.repeat(Effect.delay(asked, "20 millis"), { until: is }).pipe(
    Effect.timeoutFail({ duration: "40 seconds", onTimeout: () => new Missed({ what }) })
  )

/** A process that can be seen and ended from here. */
export interface Process {
  readonly pid: number
  readonly name: string
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<number | null>
}

const searchPath = process.env["PATH"]

const started = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, words, { env: { PATH: searchPath, ...env }, stdio: "ignore" })
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const pid = child.pid ?? 0
      return {
        pid,
        name: `runner-${pid}`,
        signal: (signal: NodeJS.Signals) => Effect.sync(() => void child.kill(signal)),
        ended: Effect.promise(() => ended)
      } satisfies Process
    }),
    ({ ended, signal }) => Effect.zipRight(signal("SIGKILL"), ended)
  )

/** A job of files, a service, a database and a program for runners. */
export const prepared = (
  postgres: Postgres,
  runner: string,
  name: string,
  files: { readonly count: number; readonly chunkSize: number },
  options: SandboxOptions.Options = {}
) =>
  Effect.gen(function*() {
    const database = yield* postgres.named(name)
    const root = yield* folder
    const names = Array.from({ length: files.count }, (_, index) => `file-${String(index).padStart(4, "0")}.bin`)
    mkdirSync(root, { recursive: true })
    // every third one goes in parts
    for (const [index, file] of names.entries()) {
      writeFileSync(join(root, file), bytes(index % 3 === 2 ? 50 : 16 + index % 9))
    }
    const { onCall, sandbox } = yield* served(options)
    const client = Layer.provide(Bulk.layerClient, database.layer)
    const context = yield* Layer.build(Layer.merge(client, database.layer))
    const job = yield* Bulk.submit("job", BulkSources.directory(root, { mount: "files" }), {
      chunkSize: files.chunkSize
    }).pipe(Effect.provide(context))
    const sql = <A, E>(effect: Effect.Effect<A, E, SqlClient>) => Effect.provide(effect, context)
    const there = Effect.map(sandbox.files, (all) => all.length)
    /** The job ends, each file is there once, nobody broke the contract, and nothing is left to remember. */
    const proven = (inevitable: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const ended = job.await.pipe(
          // the database may be away
          Effect.retry(Schedule.spaced("300 millis")),
          Effect.timeoutFail({ duration: "90 seconds", onTimeout: () => new Missed({ what: "the job ends" }) })
        )
        assert.deepStrictEqual(yield* Effect.provide(ended, context), {
          uploaded: files.count,
          failed: 0,
          cancelled: 0
        })
        assert.deepStrictEqual((yield* sandbox.files).map(({ name }) => String(name)).sort(), names)
        const { breaches } = yield* sandbox.report
        const broken = breaches.filter(({ rule }) => !inevitable.includes(rule))
        assert.deepStrictEqual(broken, [], broken.map((breach) => JSON.stringify(breach)).join("\n"))
        const left = Effect.flatMap(
          SqlClient,
          (sql) => sql`select job, seq from bulk_ledger union all select job, seq from bulk_receipt`
        )
        assert.deepStrictEqual(yield* sql(left), [])
      })

    return {
      database,
      sandbox,
      onCall,
      there,
      sql,
      /** Once so many files are there. */
      reached: (count: number) => until(`${count} files are there`, there, (there) => there >= count),
      /** The chunks that a runner has claimed. */
      heldBy: ({ name }: Process) =>
        sql(Effect.flatMap(SqlClient, (sql) =>
          Effect.map(
            sql<{ readonly n: number }>`select n from bulk_chunk where runner = ${name}`,
            (rows) => rows.length
          ))),
      /** A runner that reaches the database at this URL. */
      runner: (url = database.url, env: Readonly<Record<string, string>> = {}) =>
        started([runner], {
          ...env,
          DATABASE_URL: url,
          FILES_ROOT: root,
          STEVEDORE_BASE_URL: sandbox.baseUrl,
          STEVEDORE_TOKEN: Redacted.value(sandbox.token)
        }),
      proof: proven([]),
      /** What was frozen within a PUT sends the rest of the same bytes once it goes on, and nobody can stop it. */
      proofAfterFreezing: proven(["PutAfterFinalized", "OverlappingAttempts", "WrongEtag"])
    }
  })
