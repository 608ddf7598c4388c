import { FetchHttpClient } from "@effect/platform"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert } from "@effect/vitest"
import { Data, Effect, Redacted, Schedule } from "effect"
import * as NodeProduction from "../../src/NodeProduction.js"
import * as Identifiers from "../../src/parts/identifiers.js"
import * as S3Bucket from "../../src/S3Bucket.js"
import * as S3FileStore from "../../src/S3FileStore.js"
import * as Tokens from "../../src/Tokens.js"
import * as Cluster from "./cluster.js"
import type { Gate, Instance } from "./cluster.js"
import * as Hosts from "./hosts.js"
import type { Host } from "./hosts.js"
import { postgres } from "./postgres.js"
import * as RealStore from "./realStore.js"

/** Where the program is that enters a host. */
const searchPath = process.env["PATH"] ?? ""

/** The size of the first part. */
export const MIB = 1024 * 1024

class Missed extends Data.TaggedError("Missed")<{ readonly what: string }> {}

/** It becomes so within a minute. */
export const until = <A, E, R>(what: string, look: Effect.Effect<A, E, R>, isSo: (found: A) => boolean) =>
  look.pipe(
    Effect.filterOrFail(isSo, (found) => new Missed({ what: `${what}; last seen: ${JSON.stringify(found)}` })),
    Effect.retry(Schedule.intersect(Schedule.spaced("250 millis"), Schedule.recurs(240)))
  )

export interface Answer {
  readonly status: number
  readonly body: {
    readonly data?: {
      readonly id: string
      readonly upload_id: string
      readonly upload_url: string
      readonly urls: ReadonlyArray<string>
      readonly name: string
      readonly status: string
    }
  }
}

interface Listed {
  readonly data: ReadonlyArray<{ readonly id: string }>
  readonly page: { readonly total_count: number; readonly has_more: boolean; readonly next_cursor?: string }
}

/** A database, a bucket, a token and a program for instances of a service. */
export const prepared = Effect.gen(function*() {
  const program = yield* Cluster.script("instance")
  const database = yield* postgres
  const bucket = `stevedore-service-${process.pid}-${Date.now()}`
  const options = RealStore.options(bucket)
  yield* Effect.provide(S3Bucket.create(options), FetchHttpClient.layer)
  const store = yield* Effect.provide(S3FileStore.make(options, "if-none-match"), FetchHttpClient.layer)
  const { token } = yield* Tokens.create({ tenant: "acme", owner: { id: "ann", name: "Ann" } }).pipe(
    Effect.provide([NodeProduction.tokens(Redacted.make(database.url)), Identifiers.layerSecure])
  )
  const asked = <A>({ baseUrl }: Instance, method: string, path: string, body?: unknown) =>
    Effect.tryPromise(async (signal): Promise<{ readonly status: number; readonly body: A }> => {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        signal,
        headers: { authorization: `Bearer ${Redacted.value(token)}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return { status: response.status, body: JSON.parse(await response.text()) }
    })
  const rows = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ id: string; key: string; state: string }>`select id, key, state from stevedore_file order by created_at`
  )
  const states = rows.pipe(Effect.provide(database.layer))
  /** The same at another port of this machine. */
  const statesAt = (port: number) => {
    const url = new URL(database.url)
    url.port = String(port)
    return rows.pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url.href) })))
  }
  const sql = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(database.layer))
  return {
    database,
    bucket,
    store,
    token,
    call: asked<Answer["body"]>,
    list: (at: Instance, path: string) => asked<Listed>(at, "GET", path),
    sql,
    states,
    statesAt,
    start: (more: Readonly<Record<string, string>> = {}, through?: Gate) =>
      Cluster.instance(program, {
        ...Cluster.environment(database.url, bucket, through?.origin),
        LEASE: "2 seconds",
        ...more
      }),
    /** An instance on a host of its own, which reaches the database and the store on one line. */
    startAt: (host: Host, through: Gate) =>
      Effect.gen(function*() {
        const of = (url: URL) =>
          Effect.map(Hosts.forwarded(host.peers, url), (port) => {
            const there = new URL(url)
            there.host = `${host.peers}:${port}`
            return there.href.replace(/\/$/, "")
          })
        const env = Cluster.environment(
          yield* of(new URL(database.url)),
          bucket,
          yield* of(new URL(through.origin))
        )
        return yield* Cluster.instance(
          program,
          { ...env, PATH: searchPath, HOST: host.address, LEASE: "2 seconds" },
          host.within
        )
      })
  }
})

export type Prepared = Effect.Effect.Success<typeof prepared>

export const initiateLarge = ({ call }: Prepared, at: Instance) =>
  call(at, "POST", "/v2/files/large-upload", { name: "large.bin", size: 5 * MIB + 3, parts: 2 })

/** Sends both parts, and tells what Complete has to list. */
export const sent = (session: NonNullable<Answer["body"]["data"]>) =>
  Effect.map(
    Effect.forEach(session.urls, (url, index) =>
      Effect.promise(async () => {
        const response = await fetch(url, {
          method: "PUT",
          body: new Uint8Array(index === 0 ? 5 * MIB : 3).fill(index)
        })
        return { part_number: index + 1, etag: response.headers.get("etag") }
      })),
    (parts) => ({ upload_id: session.upload_id, parts })
  )

export const sessionOf = ({ body, status }: Answer) => {
  assert.strictEqual(status, 201)
  assert.isDefined(body.data)
  return body.data
}

export const isComplete = (method: string, target: string): boolean => method === "POST" && /[?&]uploadId=/.test(target)
