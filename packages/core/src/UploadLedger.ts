/**
 * Records unfinished uploads, so that a later process can continue them from what storage already has. It never holds a
 * token, and holds part URLs only if the store is private.
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Crc32 from "./base/crc32.js"
import { hidden } from "./base/effect.js"
import type { Aside } from "./base/fibers.js"
import type { TextStore } from "./ledger/jsonStore.js"
import { jsonStore } from "./ledger/jsonStore.js"
import type { Receipts } from "./ledger/receiptsByKey.js"
import { receiptsByKey } from "./ledger/receiptsByKey.js"
import { UploadRecord } from "./ledger/record.js"
import type { StoreError, StoreFailure } from "./ledger/storeFailure.js"
import { makeTell, orThrown } from "./ledger/storeFailure.js"
import { PartReceipt } from "./UploadSession.js"
import type { UploadSource } from "./UploadSource.js"

export type {
  /**
   * How a key-value store fails.
   *
   * @category errors
   */
  StoreError
} from "./ledger/storeFailure.js"

/**
 * A lock that is released with the scope, and when the process dies; `false` if somebody else holds it.
 *
 * @category models
 */
export type Lock = (id: string) => Effect.Effect<boolean, never, Scope.Scope>

/**
 * An unfinished upload, with the parts that storage has confirmed: all that another process needs to take it over. Its
 * encoded form has the part URLs with their signatures, so keep it only in a private store.
 *
 * @category models
 */
export const Unfinished = /* #__PURE__ */ Schema.Struct({
  record: UploadRecord,
  receipts: /* #__PURE__ */ Schema.Array(PartReceipt)
}).annotations({ identifier: "Unfinished", message: hidden })

/**
 * An unfinished upload, with the parts that storage has confirmed.
 *
 * @category models
 */
export interface Unfinished extends Schema.Schema.Type<typeof Unfinished> {}

export type {
  /**
   * Where the receipts of unfinished uploads are kept.
   *
   * @category models
   */
  Receipts
}

/**
 * A ledger. Its operations do not fail: what cannot be read or written is logged, and the upload starts over, or goes on
 * without being resumable. An upload awaits each, `completing` before it sends Complete; only `forget` may come late.
 *
 * @category models
 */
export interface Service {
  /** Whether part URLs are kept. */
  readonly keepUrls: boolean
  /**
   * How long an upload waits for an operation before it goes on without the ledger. Defaults to ten seconds. A ledger
   * without whose record nothing may be completed has `Duration.infinity`: an upload then waits as long as it takes. An
   * interruption ends the wait for `completing`, but not that for `begin` or `forget`: these should end by themselves.
   */
  readonly patience?: Duration.DurationInput | undefined
  /**
   * Where the operations of one upload run, so that one that hangs can be left behind. If omitted, each has a fiber.
   *
   * @internal
   */
  readonly aside?: ((scope: Scope.Scope) => Effect.Effect<Aside>) | undefined
  /** Takes the lock of an upload for the lifetime of the scope. */
  readonly lock: Lock
  /**
   * Whether this process still has the lock of an upload that it has taken. For a lock that can be lost before its scope
   * closes, such as a lease that ran out while the process was frozen or its connection was gone: an upload then changes
   * nothing any more and fails with `UploadLocked`. An upload waits for the answer. Whoever lost a lock may take it again
   * only after the scope of the lost one has closed. If omitted, a lock is held until then.
   */
  readonly isHeld?: ((id: string) => Effect.Effect<boolean>) | undefined
  /** What is known about an upload; none if there is nothing, or nothing readable. */
  readonly find: (id: string) => Effect.Effect<Option.Option<Unfinished>>
  /** Records the start of a session, replacing whatever was there. */
  readonly begin: (record: UploadRecord) => Effect.Effect<void>
  /** One small write for each part that storage has. */
  readonly receive: (record: UploadRecord, receipt: PartReceipt) => Effect.Effect<void>
  /** Complete is about to be sent. */
  readonly completing: (record: UploadRecord) => Effect.Effect<void>
  /** The session is done or dead: deletes everything about it. */
  readonly forget: (record: UploadRecord) => Effect.Effect<void>
  /** All unfinished uploads, the earliest first. */
  readonly unfinished: Effect.Effect<ReadonlyArray<Unfinished>>
}

/**
 * The ledger that records nothing, which is asked for nothing.
 *
 * @internal
 */
export const nothing: Service = {
  keepUrls: false,
  lock: () => Effect.succeed(true),
  find: () => Effect.succeedNone,
  begin: () => Effect.void,
  receive: () => Effect.void,
  completing: () => Effect.void,
  forget: () => Effect.void,
  unfinished: Effect.succeed([])
}

/**
 * The ledger in force. The default records nothing: an upload then lives and ends with its process.
 *
 * @category references
 */
export class UploadLedger extends Context.Reference<UploadLedger>()<"@stevedore/core/UploadLedger", Service>(
  "@stevedore/core/UploadLedger",
  { defaultValue: () => nothing }
) {}

/**
 * The options of a ledger.
 *
 * @category models
 */
export interface Options {
  /** Such as a `KeyValueStore`. An upload waits ten seconds for an operation at most, then goes on without the ledger. */
  readonly store: Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove">
  readonly lock: Lock
  /** Whether the lock of an upload is still held, for one that can be lost. Each write of the store asks it. */
  readonly isHeld?: Service["isHeld"]
  /** Whether part URLs are kept. Only for a store that nobody else can read. */
  readonly keepUrls: boolean
  /**
   * Removes all keys under a prefix and a slash, for a store that can do so at once, such as a directory. If omitted,
   * the keys of an upload are removed one by one.
   */
  readonly removeAll?: ((prefix: string) => Effect.Effect<void, StoreError>) | undefined
  /**
   * The prefixes of all keys up to the first slash, or names that the store takes for them, for a store that can list
   * its keys, such as a directory. If omitted, the ledger keeps an index of its uploads.
   */
  readonly prefixes?: Effect.Effect<ReadonlyArray<string>, StoreError> | undefined
  /** Where receipts are kept, for a store that can append, such as a file. If omitted, each receipt has its own key. */
  readonly receipts?: Receipts | undefined
}

const RecordJson = /* #__PURE__ */ Schema.parseJson(UploadRecord)
const IndexJson = /* #__PURE__ */ Schema.parseJson(/* #__PURE__ */ Schema.Array(Schema.String))
const decodeIndex = /* #__PURE__ */ Schema.decodeUnknownOption(IndexJson)
const indexKey = "uploads"

/**
 * Where the record of an upload lies in a store.
 *
 * @internal
 */
export const recordKey = (id: string): string => `${id}/record`

/**
 * Waits for a lock that is never held for long: whether it was taken, after this pause between tries, and after so many.
 *
 * @internal
 */
export const waitForLock = (
  lock: Lock,
  id: string,
  pause: Duration.DurationInput,
  triesLeft = Infinity
): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.flatMap(
    lock(id),
    (taken) =>
      taken || triesLeft === 0
        ? Effect.succeed(taken)
        : Effect.delay(waitForLock(lock, id, pause, triesLeft - 1), pause)
  )

// All uploads of a store share the index. Its lock is held only for one small write, so waiting for it is fine.
const lockIndex = (lock: Lock) => waitForLock(lock, indexKey, "20 millis", 250)

/**
 * A record without what lets anybody who reads it send parts.
 *
 * @internal
 */
export const withoutUrls = ({ session: { urls: _, ...session }, ...record }: UploadRecord): UploadRecord => ({
  ...record,
  session
})

/**
 * A ledger over a key-value store: one record per upload, one receipt per part, and an index if the store needs one. A
 * record that a later version wrote, or that cannot be read, counts as absent and is left alone until something new
 * replaces it.
 *
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service> =>
  Effect.map(Effect.makeSemaphore(1), (indexTurn) => {
    const { isHeld } = options
    const ifHeld = <E>(id: string, write: Effect.Effect<void, E>): Effect.Effect<void, E> =>
      isHeld === undefined ? write : Effect.asVoid(Effect.whenEffect(write, isHeld(id)))
    // Each write asks by itself: a process may be frozen between two, and lose the lock. A key begins with the id.
    const guarded = <E>(key: string, write: Effect.Effect<void, E>): Effect.Effect<void, E> =>
      key === indexKey ? write : ifHeld(key.slice(0, key.indexOf("/")), write)
    const store: TextStore = {
      get: options.store.get,
      set: (key, text) => guarded(key, options.store.set(key, text)),
      remove: (key) => guarded(key, options.store.remove(key))
    }
    const records = jsonStore(store, RecordJson)
    const receipts = options.receipts ?? receiptsByKey(store)
    const index = jsonStore(store, IndexJson)
    const tell = makeTell()

    const written = (write: () => Effect.Effect<void, StoreFailure>): Effect.Effect<void> =>
      Effect.catchAll(orThrown(write), tell("written"))

    const readIndex = Effect.map(
      Effect.suspend(() => store.get(indexKey)),
      (text) => Option.getOrElse(Option.flatMap(text, decodeIndex), (): ReadonlyArray<string> => [])
    )

    const changeIndex = (
      record: UploadRecord,
      change: (ids: ReadonlyArray<string>) => ReadonlyArray<string>
    ): Effect.Effect<void, StoreFailure> => {
      if (options.prefixes !== undefined) return Effect.void
      const changed = Effect.flatMap(readIndex, (ids) => ifHeld(record.id, index.set(indexKey, change(ids))))
      return indexTurn.withPermits(1)(Effect.scoped(Effect.zipRight(lockIndex(options.lock), changed)))
    }

    const foundAt = (
      prefix: string,
      isWanted: (record: UploadRecord) => boolean
    ): Effect.Effect<Option.Option<Unfinished>> =>
      Effect.catchAll(
        orThrown(() =>
          Effect.flatMap(records.get(recordKey(prefix)), (found) =>
            Effect.transposeMapOption(
              Option.filter(found, isWanted),
              (record) => Effect.map(receipts.all(record), (receipts) => ({ record, receipts }))
            ))
        ),
        (error) => Effect.as(tell("read")(error), Option.none())
      )

    // The record is removed last: as long as it is there, the next run finds what is left and removes it.
    const remove = (record: UploadRecord) =>
      options.removeAll === undefined
        ? Effect.zipRight(receipts.remove(record), store.remove(recordKey(record.id)))
        : ifHeld(record.id, options.removeAll(record.id))

    return {
      keepUrls: options.keepUrls,
      lock: options.lock,
      isHeld,
      find: (id) => foundAt(id, (record) => record.id === id),
      begin: (record) =>
        written(() =>
          Effect.zipRight(
            changeIndex(record, (ids) => Arr.dedupe([...ids, record.id])),
            records.set(recordKey(record.id), options.keepUrls ? record : withoutUrls(record))
          )
        ),
      receive: (record, receipt) => written(() => ifHeld(record.id, receipts.add(record, receipt))),
      completing: (record) =>
        written(() => records.set(recordKey(record.id), { ...withoutUrls(record), phase: "completing" })),
      forget: (record) =>
        written(() => Effect.zipRight(remove(record), changeIndex(record, Arr.filter((id) => id !== record.id)))),
      unfinished: orThrown(() => options.prefixes ?? readIndex).pipe(
        Effect.catchAll((error) => Effect.as(tell("read")(error), Arr.empty<string>())),
        Effect.flatMap(Effect.forEach((prefix) => foundAt(prefix, () => true))),
        Effect.map((found) => Arr.getSomes(found).sort((one, other) => one.record.startedAt - other.record.startedAt))
      )
    }
  })

/**
 * A lock within this process, for a store that no other process writes to.
 *
 * @example
 * import { KeyValueStore } from "@effect/platform"
 * import { UploadLedger } from "@stevedore/core"
 * import { Effect, Layer } from "effect"
 *
 * const ledger = Layer.effect(
 *   UploadLedger.UploadLedger,
 *   Effect.gen(function*() {
 *     const store = yield* KeyValueStore.KeyValueStore
 *     return yield* UploadLedger.make({ store, lock: yield* UploadLedger.makeLock, keepUrls: false })
 *   })
 * )
 *
 * @category constructors
 */
export const makeLock: Effect.Effect<Lock> = /* #__PURE__ */ Effect.sync(() => {
  const held = new Set<string>()
  const take = (id: string): boolean => {
    if (held.has(id)) return false
    held.add(id)
    return true
  }
  return (id) =>
    Effect.acquireRelease(
      Effect.sync(() => take(id)),
      (taken) => Effect.sync(() => taken && held.delete(id))
    )
})

/**
 * A ledger in memory, for tests and for processes that restart their uploads themselves. Part URLs are kept.
 *
 * @category constructors
 */
export const makeMemory = (options: { readonly keepUrls: boolean } = { keepUrls: true }): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const store = yield* KeyValueStore.KeyValueStore
    return yield* make({ store, lock: yield* makeLock, ...options })
  }).pipe(Effect.provide(KeyValueStore.layerMemory))

/**
 * A ledger in memory, as a layer.
 *
 * @category layers
 */
export const layerMemory: Layer.Layer<never> = /* #__PURE__ */ Layer.effect(
  UploadLedger,
  /* #__PURE__ */ makeMemory()
)

/**
 * Records nothing, for an application or for a single effect.
 *
 * @category layers
 */
export const none: Layer.Layer<never> = /* #__PURE__ */ Layer.succeed(UploadLedger, nothing)

/**
 * A ledger for tests that records nothing, except through the operations that it is given.
 *
 * @example
 * import { UploadLedger } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const inUseElsewhere = UploadLedger.layerNoop({ lock: () => Effect.succeed(false) })
 *
 * @category layers
 */
export const layerNoop = (service: Partial<Service>): Layer.Layer<never> =>
  Layer.succeed(UploadLedger, { ...nothing, ...service })

/**
 * The id of an upload: short, safe as a file name, and the same for the same source and service. None for a source that
 * cannot be recognized again because it has no identity besides its name.
 *
 * @category constructors
 */
export const idOf = (service: string, source: Pick<UploadSource, "name" | "fingerprint">): Option.Option<string> =>
  Option.map(Option.fromNullable(source.fingerprint.identity), (identity) => {
    const text = JSON.stringify([service, source.name, source.fingerprint.kind, identity])
    const words = [Hash.string(text) >>> 0, Crc32.update(0, new TextEncoder().encode(text))]
    return words.map((word) => word.toString(16).padStart(8, "0")).join("")
  })

export {
  /**
   * The session of an upload in progress, as the ledger keeps it.
   *
   * @category models
   */
  SessionRecord,
  /**
   * What the ledger keeps of an upload: of which source it is, its session, and how far it has got.
   *
   * @category models
   */
  UploadRecord
} from "./ledger/record.js"

export {
  /**
   * Runs the operations of one upload in a fiber that is used again, until its scope closes.
   *
   * @internal
   */
  aside
} from "./base/fibers.js"
