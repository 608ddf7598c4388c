import { Reactivity } from "@effect/experimental"
import { SqlClient, Statement } from "@effect/sql"
import { Bulk } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { ObjectStorage, ServiceApi, UploadSources } from "@stevedore/core"
import * as Sqlite from "@stevedore/server/Sqlite"
import type { Scope } from "effect"
import { Effect, Layer, Stream } from "effect"

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

/** A database in memory, which no life takes with it. */
export const database: Effect.Effect<SqlClient.SqlClient, never, Scope.Scope> = Sqlite.make({ file: ":memory:" }).pipe(
  Effect.tap((client) => Effect.provide(Bulk.migrate, sql(client))),
  Effect.provide(Reactivity.layer),
  Effect.orDie
)

const statementName = (text: string): string => {
  if (text.includes("insert into bulk_ledger")) return "record"
  return text.includes("update bulk_file set state") ? "outcome" : "statement"
}

/** The database as a life reaches it. */
export const sql = (client: SqlClient.SqlClient, life = new Life()): Layer.Layer<SqlClient.SqlClient> => {
  // a process that ends takes its open transaction with it: only what is one statement can be cut off here
  const execute = (text: string, values: ReadonlyArray<unknown> = []) =>
    life.through(statementName(text), client.unsafe(text, [...values]))
  const made = SqlClient.make({
    acquirer: Effect.succeed({
      execute,
      executeRaw: execute,
      executeUnprepared: execute,
      executeValues: (text, values) => Effect.map(execute(text, values), (rows) => rows.map(Object.values)),
      executeStream: (text, values) => Stream.fromIterableEffect(execute(text, values))
    }),
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: []
  })
  return Layer.effect(
    SqlClient.SqlClient,
    Effect.map(made, (reached) => Object.assign(reached, { withTransaction: client.withTransaction }))
  ).pipe(Layer.provide(Reactivity.layer))
}

export const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251)

/** Files that differ in name and content; every third one is sent in parts. */
export const sources = (count: number): ReadonlyArray<UploadSource> =>
  Array.from(
    { length: count },
    (_, index) => UploadSources.fromBytes(`file-${index}.bin`, bytes(index % 3 === 2 ? 40 + index : 16 + index))
  )
