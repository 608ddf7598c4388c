import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Libsql from "@libsql/client"
import { createClient } from "@libsql/client"
import { Bulk } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { ObjectStorage, ServiceApi, UploadSources } from "@stevedore/core"
import type { Scope } from "effect"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A process as far as anybody outside sees it: what goes out of it and what comes in. At its end, neither does. */
export class Life {
  /** What went out or came in so far. */
  events = 0
  isOver = false
  constructor(
    /** The event that it does not survive. */
    readonly until = Infinity
  ) {}

  private passes(): boolean {
    if (!this.isOver && ++this.events > this.until) this.isOver = true
    return !this.isOver
  }

  /** What goes out may arrive and its answer not. */
  through<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const gate = Effect.suspend(() => this.passes() ? Effect.void : Effect.never)
    return Effect.zipLeft(Effect.zipRight(gate, effect), gate)
  }

  async throughAsync<A>(call: () => Promise<A>): Promise<A> {
    const never = () => new Promise<A>(() => undefined)
    if (!this.passes()) return never()
    const answer = await call()
    return this.passes() ? answer : never()
  }
}

/** The service and storage as a life reaches them. */
export const reached = (life: Life) =>
  Layer.merge(
    Layer.effect(
      ServiceApi.ServiceApi,
      Effect.map(ServiceApi.ServiceApi, (service): ServiceApi.Service => ({
        ...service,
        initiateUpload: (input) => life.through(service.initiateUpload(input)),
        initiateLargeUpload: (input) => life.through(service.initiateLargeUpload(input)),
        completeUpload: (input) => life.through(service.completeUpload(input)),
        completeLargeUpload: (input) => life.through(service.completeLargeUpload(input)),
        file: (fileId) => life.through(service.file(fileId))
      }))
    ),
    Layer.effect(
      ObjectStorage.ObjectStorage,
      Effect.map(ObjectStorage.ObjectStorage, (storage): ObjectStorage.Service => ({
        ...storage,
        put: (request) => life.through(storage.put(request))
      }))
    )
  )

/** A database of its own, which no life takes with it. */
export const database: Effect.Effect<Libsql.Client, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "stevedore-bulk-"))
    const client = createClient({ url: `file:${join(folder, "bulk.db")}` })
    return { client, folder }
  }),
  ({ client, folder }) =>
    Effect.sync(() => {
      client.close()
      rmSync(folder, { recursive: true, force: true })
    })
).pipe(
  Effect.map(({ client }) => client),
  Effect.tap((client) => Effect.orDie(Effect.provide(Bulk.migrate, sql(client)))),
  // a test survives its process, not a power cut; after the migration, which has a connection of its own
  Effect.tap((client) => Effect.promise(() => client.execute("pragma synchronous = off")))
)

/** The database as a life reaches it. */
export const sql = (client: Libsql.Client, life = new Life()): Layer.Layer<SqlClient> => {
  const reachedClient: Libsql.Client = Object.assign(Object.create(client), {
    // a process that ends takes its open transaction with it: only what is one statement can be cut off here
    execute: (statement: Libsql.InStatement) => life.throughAsync(() => client.execute(statement)),
    transaction: (mode: Libsql.TransactionMode = "write") => client.transaction(mode)
  })
  return LibsqlClient.layer({ liveClient: reachedClient })
}

export const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251)

/** Files that differ in name and content; every third one is sent in parts. */
export const sources = (count: number): ReadonlyArray<UploadSource> =>
  Array.from(
    { length: count },
    (_, index) => UploadSources.fromBytes(`file-${index}.bin`, bytes(index % 3 === 2 ? 40 + index : 16 + index))
  )
