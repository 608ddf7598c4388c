import { FetchHttpClient } from "@effect/platform"
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "@effect/sql/SqlClient"
import { type FileStore, Identifiers, S3Bucket, S3FileStore, Tokens } from "@stevedore/server"
import * as NodeProduction from "@stevedore/server/NodeProduction"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { loadavg } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import * as Postgres from "../../../examples/bulk/Postgres.js"
import * as Store from "../../../examples/service/Store.js"
import * as Bundle from "../Bundle.js"
import * as Markdown from "../Markdown.js"
import { ContenderFailed } from "../Processes.js"
import type { Topic } from "../Topic.js"

const INITIATES = 2000
const COMPLETES = 400
const AT_ONCE = 64
const FILES = 1_000_000
const PARTS = 10_000

const searchPath = process.env["PATH"]

const instance = (program: string, env: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly origin: string; readonly kill: () => void }, ContenderFailed>((resume) => {
        const child = spawn(process.execPath, [program], {
          env: { PATH: searchPath, PORT: "0", ...env },
          stdio: ["ignore", "pipe", "inherit"]
        })
        child.once("exit", () => resume(new ContenderFailed({ message: "An instance has ended" })))
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          const [, origin] = /listening (\S+)/.exec(text) ?? []
          if (origin !== undefined) resume(Effect.succeed({ origin, kill: () => void child.kill("SIGTERM") }))
        })
      }),
      ({ kill }) => Effect.sync(kill)
    ),
    ({ origin }) => origin
  )

const failed = (what: string) => (cause: unknown) => new ContenderFailed({ message: `${what}: ${String(cause)}` })

const asked = (token: string, method: string, url: string, body?: unknown) =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      if (response.status >= 300) throw new Error(`${response.status} ${text.slice(0, 200)}`)
      return text
    },
    catch: failed(`${method} ${new URL(url).pathname}`)
  })

interface Rate {
  readonly perSecond: number
  /** In milliseconds, of the slowest but one in a hundred. */
  readonly p99: number
}

/** So many calls, so many at once, by turns at each origin. */
const rate = <A, E>(count: number, call: (index: number) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const [took, answers] = yield* Effect.timed(Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) =>
        Effect.gen(function*() {
          const from = yield* Clock.currentTimeNanos
          const answer = yield* call(index)
          times.push(Number((yield* Clock.currentTimeNanos) - from) / 1e6)
          return answer
        }),
      { concurrency: AT_ONCE }
    ))
    const sorted = times.sort((left, right) => left - right)
    const seconds = Duration.toSeconds(took)
    return {
      answers,
      rate: { perSecond: count / seconds, p99: sorted[Math.floor(sorted.length * 0.99)] ?? NaN }
    }
  })

/** The time of the processor for the URLs of an upload of 10,000 parts, and how long nobody else had a turn. */
const signing = (store: FileStore.FileStoreService) =>
  Effect.gen(function*() {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const before = process.cpuUsage()
    for (let first = 1; first <= PARTS; first += 64) {
      yield* Effect.forEach(
        Array.from({ length: Math.min(64, PARTS - first + 1) }, (_, index) => first + index),
        (partNumber) =>
          store.presign({
            method: "PUT",
            key: "files/acme/bench",
            part: { uploadId: "upload", partNumber },
            headers: {},
            expiresIn: 10_800
          }),
        { discard: true }
      )
      yield* Effect.sleep(0)
    }
    const { system, user } = process.cpuUsage(before)
    delay.disable()
    return { seconds: (user + system) / 1e6, longestMillis: delay.max / 1e6 }
  })

const idOf = (text: string): { readonly id: string; readonly url: string } => {
  const [, id = ""] = /"id":"([^"]+)"/.exec(text) ?? []
  const [, url = ""] = /"upload_url":"([^"]+)"/.exec(text) ?? []
  return { id, url }
}

const rows = `insert into stevedore_file
  (id, tenant, owner_id, owner_name, name, size, kind, key, state, created_at, expires_at, settled_at)
  select lpad(to_hex(n), 22, '0'), 'walked', 'ann', 'Ann', 'file-' || n, 1, 'single', 'bench/' || n, 'finalized',
    1700000000000 + n, 0, 0 from generate_series(1, ${FILES}) as n`

const walk = (origin: string, token: string) =>
  Effect.iterate({ cursor: "", pages: 0, items: 0 }, {
    while: ({ cursor, pages }) => pages === 0 || cursor !== "",
    body: ({ cursor, items, pages }) =>
      Effect.map(
        asked(
          token,
          "GET",
          `${origin}/v1/files?page[limit]=100${
            cursor === "" ? "" : `&page[start_cursor]=${encodeURIComponent(cursor)}`
          }`
        ),
        (text) => ({
          cursor: /"next_cursor":"([^"]+)"/.exec(text)?.[1] ?? "",
          pages: pages + 1,
          items: items + (text.match(/"created_at"/g)?.length ?? 0)
        })
      )
  })

export const server: Topic = {
  name: "server",
  run: ({ folder }) =>
    Effect.gen(function*() {
      const [load = 0] = loadavg()
      yield* Bundle.scripts([fileURLToPath(new URL("../../../examples/service/Instance.ts", import.meta.url))], folder)
      const database = yield* Effect.mapError(Postgres.start, ({ message }) => new ContenderFailed({ message }))
      const store = yield* Effect.mapError(Store.start, failed("The object store"))
      const { accessKeyId, endpoint, kmsKeyId, region, secretAccessKey } = store
      const encryptionHeaders = {
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": kmsKeyId
      }
      const bucket = `stevedore-bench-${process.pid}`
      const place = { endpoint, bucket, credential: { accessKeyId, secretAccessKey, region }, encryptionHeaders }
      yield* Effect.mapError(S3Bucket.create(place), failed("The bucket"))
      const env = {
        STEVEDORE_SERVE_DATABASE_URL: database,
        STEVEDORE_SERVE_BUCKET: bucket,
        STEVEDORE_SERVE_S3_ENDPOINT: endpoint,
        STEVEDORE_SERVE_S3_REGION: region,
        STEVEDORE_SERVE_S3_ACCESS_KEY_ID: accessKeyId,
        STEVEDORE_SERVE_S3_SECRET_ACCESS_KEY: Redacted.value(secretAccessKey),
        STEVEDORE_SERVE_KMS_KEY_ID: kmsKeyId,
        STEVEDORE_SERVE_RATE_LIMIT: "100000000/hour"
      }
      const program = join(folder, "Instance.mjs")
      const instances = [yield* instance(program, env), yield* instance(program, env)]
      const tokenFor = (tenant: string) =>
        Tokens.create({ tenant, owner: { id: "ann", name: "Ann" } }).pipe(
          Effect.provide([NodeProduction.tokens(Redacted.make(database)), Identifiers.layerSecure]),
          Effect.mapBoth({ onFailure: failed("The token"), onSuccess: ({ token }) => Redacted.value(token) })
        )
      const token = yield* tokenFor("acme")
      const initiated = (origins: ReadonlyArray<string>, count: number) =>
        rate(count, (index) =>
          Effect.map(
            asked(token, "POST", `${origins[index % origins.length]}/v2/files/upload`, { name: "a.bin", size: 1 }),
            idOf
          ))
      const completed = (origins: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const { answers } = yield* initiated(origins, COMPLETES)
          yield* Effect.forEach(answers, ({ url }) =>
            Effect.tryPromise({
              try: () =>
                fetch(url, { method: "PUT", body: "x", headers: { ...encryptionHeaders, "if-none-match": "*" } }),
              catch: failed("PUT")
            }), { concurrency: 16 })
          return yield* rate(
            COMPLETES,
            (index) =>
              asked(token, "POST", `${origins[index % origins.length]}/v2/files/${answers[index]?.id}/upload/complete`)
          )
        })
      const measured = (origins: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          // the first calls open connections and warm the compiler
          yield* initiated(origins, 200)
          return {
            initiates: (yield* initiated(origins, INITIATES)).rate,
            completes: (yield* completed(origins)).rate
          }
        })
      const one = yield* measured(instances.slice(0, 1))
      const two = yield* measured(instances)
      // without the trigger that counts each row of a tenant: it would change one row a million times in one transaction
      yield* Effect.flatMap(SqlClient, (sql) =>
        Effect.zipRight(
          sql.withTransaction(
            Effect.zipRight(sql.unsafe("set local session_replication_role = replica"), sql.unsafe(rows))
          ),
          sql.unsafe("analyze stevedore_file")
        )).pipe(
          Effect.provide(PgClient.layer({ url: Redacted.make(database) })),
          Effect.mapError(failed("The rows"))
        )
      const walker = yield* tokenFor("walked")
      const [took, walked] = yield* Effect.timed(walk(instances[0] ?? "", walker))
      const files = yield* Effect.mapError(S3FileStore.make(place, "none"), failed("The store"))
      const urls = yield* Effect.mapError(signing(files), failed("Signing"))
      const seconds = Duration.toSeconds(took)
      const row = (what: string, { p99, perSecond }: Rate) => [
        what,
        Markdown.number(perSecond),
        Markdown.number(p99)
      ]
      return {
        title: "The service",
        conditions:
          `Instances over PostgreSQL and Ceph, each a process, on the machine that asks: ${AT_ONCE} calls at once, with a ` +
          "rate limit that counts each call in the database, and one tenant, whose usage each initiate changes. " +
          `The load of the machine was ${load.toFixed(1)} when it began.`,
        body: `${
          Markdown.table(["", "a second", "99th percentile, ms"], [
            row("initiates, one instance", one.initiates),
            row("initiates, two instances", two.initiates),
            row("Completes, one instance", one.completes),
            row("Completes, two instances", two.completes)
          ])
        }\n\nA walk over ${walked.items.toLocaleString("en")} files in ${
          walked.pages.toLocaleString("en")
        } pages took ${Markdown.number(seconds)} s. ${PARTS.toLocaleString("en")} part URLs took ${
          Markdown.number(urls.seconds)
        } s of the processor, and nobody else waited longer than ${Markdown.number(urls.longestMillis)} ms.`,
        goals: [
          {
            title: "initiates a second, two instances",
            safe: 500,
            aim: 685,
            measured: two.initiates.perSecond,
            moreIsBetter: true
          },
          { title: "10,000 part URLs, seconds of the processor", safe: 1, aim: 0.7, measured: urls.seconds }
        ]
      }
    }).pipe(Effect.provide(FetchHttpClient.layer))
}
