/**
 * A file of SQLite as a `SqlClient`. What it has answered is committed, whatever other programs do to the file.
 *
 * It needs `libsql`, `@effect/sql` and `@effect/experimental`. It is therefore not in the package's index: import it from
 * `@stevedore/server/Sqlite`.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as FileSystem from "@effect/platform/FileSystem"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import Database from "libsql"
import { resolve } from "node:path"
import { errorCode } from "./base/errorCode.js"
import * as SqlDatabase from "./SqlDatabase.js"

/**
 * Which file it is, and how it is written.
 *
 * @category models
 */
export interface Options {
  /** The path of the file, made if it is missing; or `:memory:`. */
  readonly file: string
  /** How long a statement waits for other programs that write, and nothing else with it. Defaults to 5 seconds. */
  readonly wait?: Duration.DurationInput | undefined
  /** Whether SQLite itself waits for the disk, `full`, or `SqlDatabase.Lasting` does, `normal`. Defaults to `full`. */
  readonly synchronous?: "full" | "normal" | undefined
}

const failed = (cause: unknown) =>
  new SqlError({ message: Predicate.isError(cause) ? cause.message : "SQLite does not say why", cause })

const attempt = <A>(run: () => A): Effect.Effect<A, SqlError> => Effect.try({ try: run, catch: failed })

const isBusy = (error: SqlError): boolean => /^SQLITE_(?:BUSY|LOCKED)/.test(errorCode(error))

/** A connection until the scope closes. */
const connected = (file: string) =>
  Effect.acquireRelease(
    attempt(() => new Database(file === ":memory:" ? file : resolve(file))),
    (database) => Effect.sync(() => database.close())
  )

type Values = ReadonlyArray<unknown>

interface Prepared {
  readonly statement: Database.Statement
  readonly isReader: boolean
  readonly isWrite: boolean
}

/** A select that has one of the words is a write too, and only dearer for it. */
const writes = /\b(?:insert|update|delete|replace|create|drop|alter|reindex)\b/i

/** More than a program has, unless it writes values into its statements. */
const MOST_PREPARED = 200

/**
 * Runs statements. One that has met a lock would stay under way in SQLite until it is collected, and everything after it would
 * wait for its commit. So what asks for the lock is a `begin` that is never kept, and each write has a commit of its own.
 */
const running = (database: Database.Database) => {
  const kept = new Map<string, Prepared>()
  const prepared = (text: string): Prepared => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    const made = { statement, isReader: statement.reader, isWrite: writes.test(text) }
    if (kept.size >= MOST_PREPARED) kept.clear()
    kept.set(text, made)
    return made
  }
  const rows = ({ isReader, statement }: Prepared, values: Values, isRaw: boolean) => {
    // it has no booleans
    const parameters = values.map((value) => typeof value === "boolean" ? Number(value) : value)
    if (isReader) return statement.raw(isRaw).all(parameters)
    statement.run(parameters)
    return []
  }
  /** What nobody has committed. */
  const undone = () => {
    if (database.inTransaction) database.exec("rollback")
  }
  return {
    undone,
    alone: (text: string, values: Values, isRaw: boolean) => {
      const one = prepared(text)
      try {
        if (one.isWrite) database.exec("begin immediate")
        const found = rows(one, values, isRaw)
        if (one.isWrite) database.exec("commit")
        if (database.inTransaction) throw new Error("A transaction begins with withTransaction")
        return found
      } catch (error) {
        kept.delete(text)
        throw error
      } finally {
        undone()
      }
    },
    within: (text: string, values: Values, isRaw: boolean) => {
      // as SQLite itself does where a write has no room
      if (!database.inTransaction) throw new Error("The transaction was rolled back")
      return rows(prepared(text), values, isRaw)
    }
  }
}

type Execute = (text: string, values: Values, isRaw?: boolean) => Effect.Effect<Values, SqlError>

const connectionOf = (execute: Execute, executeUnprepared: Execute): Connection => ({
  execute: (text, values) => execute(text, values),
  executeRaw: (text, values) => execute(text, values),
  executeValues: (text, values) => Effect.map(execute(text, values, true), (rows) => rows.filter(Array.isArray)),
  executeUnprepared: (text, values) => executeUnprepared(text, values),
  executeStream: (text, values) => Stream.fromIterableEffect(execute(text, values))
})

const BEGIN = "begin immediate"

/**
 * The client of a file, until the scope closes.
 *
 * @category constructors
 */
export const make = (
  { file, synchronous = "full", wait = "5 seconds" }: Options
): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function*() {
    const database = yield* connected(file)
    const { alone, undone, within } = running(database)
    const patience = Schedule.spaced("10 millis").pipe(Schedule.jittered, Schedule.upTo(wait))
    const patient = <A>(run: Effect.Effect<A, SqlError>) =>
      Effect.catchIf(run, isBusy, () => Effect.retry(run, { while: isBusy, schedule: patience }))

    const turn = Effect.unsafeMakeSemaphore(1)
    let isTaken = false
    const execute: Execute = (text, values, isRaw = false) => {
      const inTurn: Effect.Effect<Values, SqlError> = Effect.flatten(
        // one step: no transaction begins between the look and the statement
        attempt(() => isTaken ? turn.withPermits(1)(inTurn) : Effect.succeed(alone(text, values, isRaw)))
      )
      return patient(inTurn)
    }
    const executeWithin: Execute = (text, values, isRaw = false) => attempt(() => within(text, values, isRaw))
    const begun = patient(attempt(() => database.exec(BEGIN)))
    const transaction = connectionOf(
      executeWithin,
      (text, values) =>
        text === BEGIN ? Effect.as(begun, []) : text === "" ? Effect.succeed([]) : executeWithin(text, values)
    )
    const taken = Effect.acquireRelease(
      Effect.map(turn.take(1), () => {
        isTaken = true
        return transaction
      }),
      () =>
        Effect.flatMap(Effect.ignore(attempt(undone)), () => {
          isTaken = false
          return turn.release(1)
        })
    )

    yield* execute(`pragma synchronous = ${synchronous}`, [])
    const client = yield* SqlClient.make({
      acquirer: Effect.succeed(connectionOf(execute, execute)),
      transactionAcquirer: taken,
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]],
      beginTransaction: BEGIN,
      // it was committed where that may fail, and what was not is undone with its turn
      commit: "",
      rollback: ""
    })
    const { withTransaction } = client
    const committed = Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (found) =>
      Option.isSome(found) && found.value[1] === 0 ? attempt(() => database.exec("commit")) : Effect.void)
    return Object.assign(client, {
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        withTransaction(Effect.zipLeft(effect, committed))
    })
  })

/**
 * The client of a file.
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.scoped(SqlClient.SqlClient, make(options)), Reactivity.layer)

/** Whoever comes while it runs shares the next run with all others that do. */
const sharing = <E>(work: Effect.Effect<void, E>): Effect.Effect<void, E> => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let next: Deferred.Deferred<void, E> | undefined
  return Effect.suspend(() => {
    if (next !== undefined) return Deferred.await(next)
    const run = Deferred.unsafeMake<void, E>(FiberId.none)
    next = run
    const begun = Effect.suspend(() => {
      next = undefined
      return work
    })
    return Effect.zipRight(
      Effect.uninterruptible(Effect.intoDeferred(turn.withPermits(1)(begun), run)),
      Deferred.await(run)
    )
  })
}

/**
 * The log of a file of SQLite, written to the disk beside the thread of the program, and once for all changes that wait for it.
 * SQLite itself would hold up every request for each of them. Its connection is to say `synchronous = normal`, and to stay open
 * from before the first change until after the last.
 *
 * @category layers
 */
export const layerLasting = (file: string): Layer.Layer<never, never, FileSystem.FileSystem> =>
  Layer.scoped(
    SqlDatabase.Lasting,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const scope = yield* Effect.scope
      let log: FileSystem.File | undefined
      // It is there from the first change on, for as long as anybody has a connection: with its last one, SQLite removes it, and
      // has all of it in the database then.
      const opened = Effect.suspend(() =>
        log === undefined
          ? Effect.tap(Scope.extend(fs.open(`${file}-wal`, { flag: "r+" }), scope), (found) =>
            Effect.sync(() => {
              log = found
            }))
          : Effect.succeed(log)
      )
      return sharing(
        Effect.flatMap(opened, ({ sync }) => sync).pipe(
          Effect.catchIf(
            (error) => error._tag === "SystemError" && error.reason === "NotFound",
            () => Effect.void
          ),
          Effect.mapError((cause) => new SqlError({ message: "The log of the database cannot be written", cause }))
        )
      )
    })
  )

/**
 * Has a file for this process alone until the scope closes, or the process ends, however it does: it is for nothing else.
 * Fails with `SQLITE_BUSY` if another one has it.
 *
 * @category constructors
 */
export const hold = (file: string): Effect.Effect<void, SqlError, Scope.Scope> =>
  Effect.flatMap(connected(file), (database) =>
    Effect.acquireRelease(
      attempt(() => database.exec("begin exclusive")),
      () => Effect.sync(() => database.exec("rollback"))
    ))
