import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { nameOf } from "../base/thrown.js"

/** The name of the database, unless another is given. */
export const defaultName = "stevedore"

/** What went wrong, by the browser's name for it, such as `QuotaExceededError`. */
export interface DatabaseFailure {
  readonly _tag: "DatabaseFailure"
  readonly name: string
}

export type StoreName = "values" | "handles"

export interface Database {
  /** Runs one request in its own transaction, and completes when the transaction does. */
  readonly run: <A>(
    store: StoreName,
    mode: "readonly" | "readwrite",
    request: (store: IDBObjectStore) => IDBRequest<A>
  ) => Effect.Effect<A, DatabaseFailure>
}

const failure = (cause: unknown): DatabaseFailure => ({ _tag: "DatabaseFailure", name: nameOf(cause) })

const timedOut: DatabaseFailure = { _tag: "DatabaseFailure", name: "TimeoutError" }

const opened = (name: string, onClose: () => void): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      const stores: ReadonlyArray<StoreName> = ["values", "handles"]
      for (const store of stores) request.result.createObjectStore(store)
    }
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      const database = request.result
      database.onclose = onClose
      // another tab deletes the database or opens a later version of it: this connection must not block that
      database.onversionchange = () => {
        database.close()
        onClose()
      }
      resolve(database)
    }
  })

interface Connection {
  readonly opening: Promise<IDBDatabase>
  database: IDBDatabase | undefined
  /** A request has already timed out waiting for it. Until it is open, no other request waits. */
  isLate: boolean
  /** No one will use it any more. */
  isOver: boolean
}

const connect = (name: string, onClose: (connection: Connection) => void): Connection => {
  const onEnd = () => onClose(connection)
  const connection: Connection = {
    opening: opened(name, onEnd),
    database: undefined,
    isLate: false,
    isOver: false
  }
  connection.opening.then((database) => {
    if (connection.isOver) database.close()
    else connection.database = database
  }, onEnd)
  return connection
}

// A database that another tab is about to delete opens only when that tab releases it, which may be never.
const openLimit = "3 seconds"

/**
 * A database of keys and values. It is opened by the first request, reopened if it was closed, and closed with the
 * scope. In a page without IndexedDB, every request fails. The same holds for a database that does not open in time,
 * until it does.
 */
export const make = (name = defaultName): Effect.Effect<Database, never, Scope.Scope> =>
  Effect.gen(function*() {
    let current: Connection | undefined
    const forget = (connection: Connection) => {
      if (current === connection) current = undefined
    }
    const connected: Effect.Effect<IDBDatabase, DatabaseFailure> = Effect.suspend(() => {
      const connection = current ??= connect(name, forget)
      if (connection.database !== undefined) return Effect.succeed(connection.database)
      if (connection.isLate) return Effect.fail(timedOut)
      return Effect.timeoutFail(Effect.tryPromise({ try: () => connection.opening, catch: failure }), {
        duration: openLimit,
        onTimeout: () => {
          connection.isLate = true
          return timedOut
        }
      })
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (current === undefined) return
        current.isOver = true
        current.database?.close()
      })
    )
    return {
      run: <A>(store: StoreName, mode: IDBTransactionMode, request: (store: IDBObjectStore) => IDBRequest<A>) =>
        Effect.flatMap(connected, (database) =>
          Effect.async<A, DatabaseFailure>((resume) => {
            try {
              const transaction = database.transaction(store, mode)
              const asked = request(transaction.objectStore(store))
              // otherwise it ends only when this tab is next able to run, and until then no other tab can write
              transaction.commit()
              transaction.oncomplete = () => resume(Effect.succeed(asked.result))
              transaction.onabort = () => resume(Effect.fail(failure(transaction.error ?? asked.error)))
            } catch (cause) {
              if (current?.database === database) current = undefined
              resume(Effect.fail(failure(cause)))
            }
          }))
    }
  })
