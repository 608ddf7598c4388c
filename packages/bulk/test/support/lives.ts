import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Libsql from "@libsql/client"
import { createClient } from "@libsql/client"
import { Bulk } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { ObjectStorage, ServiceApi, UploadSources } from "@stevedore/core"
import type { Scope } from "effect"
import { Effect, Layer } from "effect"

/** A process as far as anybody outside sees it: what goes out of it and what comes in. At its end, neither does. */
export class Life {
  /** What went out or came in so far. */
  events = 0
  state: "alive" | "frozen" | "over" = "alive"
  /** What it did not come to any more. */
  endedAt: string | undefined
  private readonly waiting: Array<() => void> = []
  private readonly told: Array<() => void> = []
  constructor(
    /** The event that it does not survive: so many have passed, or the first one of this kind. */
    private until: number | string = Infinity,
    /** Whether the process is gone then, or stands still, as a machine without power for its network does. */
    private readonly end: "over" | "frozen" = "over"
  ) {}

  get isOver(): boolean {
    return this.state === "over"
  }

  /** Waits until it is gone, or stands still. */
  readonly stopped: Effect.Effect<void> = Effect.async<void>((resume) => {
    this.told.push(() => resume(Effect.void))
  })

  private pass(what: string, go: () => void): void {
    if (this.state === "alive") this.events += 1
    if (this.state === "alive" && (this.events > Number(this.until) || what === this.until)) {
      this.state = this.end
      this.endedAt = what
      for (const tell of this.told.splice(0)) tell()
    }
    if (this.state === "alive") return go()
    // nobody waits for the end of a dead process
    if (this.state === "frozen") this.waiting.push(go)
  }

  /** It is gone from here on. */
  die(): void {
    this.state = "over"
  }

  /** A frozen process goes on with what it was about to do. */
  wake(): void {
    if (this.state !== "frozen") return
    this.state = "alive"
    this.until = Infinity
    for (const go of this.waiting.splice(0)) go()
  }

  /** What goes out may arrive and its answer not. */
  through<A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const gate = (way: string) => Effect.async<void>((resume) => this.pass(way, () => resume(Effect.void)))
    return Effect.zipLeft(Effect.zipRight(gate(what), effect), gate(`answer to ${what}`))
  }

  async throughAsync<A>(what: string, call: () => Promise<A>): Promise<A> {
    const gate = (way: string) => new Promise<void>((resolve) => this.pass(way, resolve))
    await gate(what)
    const answer = await call()
    await gate(`answer to ${what}`)
    return answer
  }
}

/** The service and storage as a life reaches them. */
export const reached = (life: Life) =>
  Layer.merge(
    Layer.effect(
      ServiceApi.ServiceApi,
      Effect.map(ServiceApi.ServiceApi, (service): ServiceApi.Service => ({
        ...service,
        initiateUpload: (input) => life.through("initiate", service.initiateUpload(input)),
        initiateLargeUpload: (input) => life.through("initiate", service.initiateLargeUpload(input)),
        completeUpload: (input) => life.through("Complete", service.completeUpload(input)),
        completeLargeUpload: (input) => life.through("Complete", service.completeLargeUpload(input)),
        file: (fileId) => life.through("file", service.file(fileId))
      }))
    ),
    Layer.effect(
      ObjectStorage.ObjectStorage,
      Effect.map(ObjectStorage.ObjectStorage, (storage): ObjectStorage.Service => ({
        ...storage,
        put: (request) => life.through("PUT", storage.put(request))
      }))
    )
  )

/** Transactions of one connection, one after another, as connections of a file wait for each other. */
const oneAtATime = (client: Libsql.Client): Libsql.Client => {
  let last: Promise<unknown> = Promise.resolve()
  const transaction = async (): Promise<Libsql.Transaction> => {
    const before = last
    let release: () => void = () => undefined
    last = new Promise<void>((resolve) => release = resolve)
    await before
    await client.execute("begin immediate")
    let closed = false
    const ending = (word: string) => async () => {
      if (closed) return
      closed = true
      await client.execute(word)
      release()
    }
    return {
      execute: (statement) => client.execute(statement),
      batch: (statements) => client.batch(statements),
      executeMultiple: (text) => client.executeMultiple(text),
      commit: ending("commit"),
      rollback: ending("rollback"),
      close: () => void ending("rollback")(),
      get closed() {
        return closed
      }
    }
  }
  return Object.assign(Object.create(client), {
    execute: (statement: Libsql.InStatement) => client.execute(statement),
    transaction,
    close: () => client.close()
  })
}

/** A database in memory, which no life takes with it. */
export const database: Effect.Effect<Libsql.Client, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => oneAtATime(createClient({ url: ":memory:" }))),
  (client) => Effect.sync(() => client.close())
).pipe(
  Effect.tap((client) => Effect.orDie(Effect.provide(Bulk.migrate, sql(client))))
)

const statementName = (statement: Libsql.InStatement): string => {
  const text = typeof statement === "string" ? statement : statement.sql
  if (text.includes("insert into bulk_ledger")) return "record"
  return text.includes("update bulk_file set state") ? "outcome" : "statement"
}

/** The database as a life reaches it. */
export const sql = (client: Libsql.Client, life = new Life()): Layer.Layer<SqlClient> => {
  const reachedClient: Libsql.Client = Object.assign(Object.create(client), {
    // a process that ends takes its open transaction with it: only what is one statement can be cut off here
    execute: (statement: Libsql.InStatement) =>
      life.throughAsync(statementName(statement), () => client.execute(statement)),
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
