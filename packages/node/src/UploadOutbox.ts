/**
 * What `StevedoreHttpApp` remembers of each upload: whose it is, until its hooks have heard of it, and that they have.
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import { Metadata } from "@stevedore/core/Metadata"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { NumericIds } from "@stevedore/core/UploadSession"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const Complete = Schema.Struct({
  fileId: Schema.String,
  numericIds: Schema.optional(NumericIds),
  /** Absent for a single PUT. */
  uploadId: Schema.optional(Schema.String),
  etag: Schema.optional(Schema.String),
  size: Schema.optional(Schema.JsonNumber),
  name: Schema.optional(Schema.String),
  mediaType: Schema.optional(Schema.String),
  parts: Schema.optional(Schema.Array(Schema.Struct({ partNumber: Schema.Int, etag: Schema.String })))
})

/**
 * What the service is told when an upload is complete, so that it can be told again.
 *
 * @category models
 */
export interface Complete extends Schema.Schema.Type<typeof Complete> {}

const fields = {
  fileId: Schema.String,
  file: Schema.optional(Schema.Struct({ name: Schema.String, mediaType: Schema.String, size: Schema.JsonNumber })),
  metadata: Metadata,
  phase: Schema.Literal("opened", "completing", "completed", "failed"),
  complete: Schema.optional(Complete),
  answer: Schema.optional(Schema.String)
}

/**
 * An upload. Its `phase` is `completing` from before the service is told that it is complete until the hook has been
 * called; `complete` is what the service is told, and `answer` what the page is told once all is done.
 *
 * @category models
 */
export interface Entry<User> extends Schema.Struct.Type<typeof fields> {
  /** Who opened it, or, if that is not known, who asked to complete it. */
  readonly user: User
}

/**
 * A store of entries.
 *
 * @category models
 */
export interface UploadOutbox<User> {
  /** What is known of a file's upload; none if that is nothing, or cannot be read. */
  readonly find: (fileId: string) => Effect.Effect<Option.Option<Entry<User>>, UploadLedger.StoreError>
  readonly put: (entry: Entry<User>) => Effect.Effect<void, UploadLedger.StoreError | ParseResult.ParseError>
  /** The files whose entries are `completing`: a process that starts takes them up. */
  readonly completing: Effect.Effect<ReadonlyArray<string>, UploadLedger.StoreError>
  /** Taken while the service is asked and the hook is called. `false` if another process has it. */
  readonly lock: UploadLedger.Lock
  /** Whether two are the same user. Defaults to {@link sameUser}. */
  readonly isSame?: ((one: User, other: User) => boolean) | undefined
}

const hasFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) &&
  (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)))

/**
 * Whether two values are equal, as `Equal` has it, or are arrays or plain objects of equal fields. Objects of a class that
 * does not implement `Equal` are the same only if they are one: what is private in them cannot be compared.
 *
 * @category predicates
 */
export const sameUser = (one: unknown, other: unknown): boolean => {
  if (Equal.equals(one, other)) return true
  if (!hasFields(one) || !hasFields(other) || Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameUser(one[name], other[name]))
}

const mostEntries = 10_000

/**
 * An outbox of this process, which a restart empties. It knows the last 10,000 uploads: of an older one, the metadata is
 * gone, and the hook is called again if it is completed again.
 *
 * @category constructors
 */
export const inMemory = <User>(): UploadOutbox<User> => {
  const entries = new Map<string, Entry<User>>()
  return {
    find: (fileId) => Effect.sync(() => Option.fromNullable(entries.get(fileId))),
    put: (entry) =>
      Effect.sync(() => {
        entries.delete(entry.fileId)
        entries.set(entry.fileId, entry)
        for (const fileId of entries.keys()) {
          if (entries.size <= mostEntries) return
          entries.delete(fileId)
        }
      }),
    // its process is this one, which has them in hand
    completing: Effect.succeed([]),
    lock: () => Effect.succeed(true)
  }
}

/**
 * Where and how entries are kept.
 *
 * @category models
 */
export interface Options<User, I> {
  /** Such as a `KeyValueStore` over a directory or a database. An entry is read and written as a whole. */
  readonly store: Pick<KeyValueStore.KeyValueStore, "get" | "set">
  /** How a user is written: what `authorize` gives may hold more than the hooks need. */
  readonly user: Schema.Schema<User, I>
  /**
   * A lock that all processes on this store share, released when its process dies, such as an advisory lock of the
   * database. May be omitted if only one process at a time uses the store.
   */
  readonly lock?: UploadLedger.Lock | undefined
}

const indexKey = "completing"

const keyOf = (fileId: string): string => `upload/${fileId}`

const Index = Schema.parseJson(Schema.Array(Schema.String))

/**
 * An outbox in a store, for several processes or for one that restarts. Entries are not removed: the store may drop
 * those that are older than the longest time in which a page may come back.
 *
 * @example
 * import { KeyValueStore } from "@effect/platform"
 * import { NodeKeyValueStore } from "@effect/platform-node"
 * import { StevedoreHttpApp, UploadOutbox } from "@stevedore/node"
 * import { Effect, Schema } from "effect"
 *
 * const app = Effect.map(KeyValueStore.KeyValueStore, (store) =>
 *   StevedoreHttpApp.make({
 *     authorize: () => Effect.succeed("Ada"),
 *     completed: (user, file, metadata) => Effect.log(`${user} uploaded ${file.id}`, metadata),
 *     outbox: UploadOutbox.make({ store, user: Schema.String })
 *   })).pipe(Effect.provide(NodeKeyValueStore.layerFileSystem("/var/lib/uploads")))
 *
 * @category constructors
 */
export const make = <User, I>(
  { lock = () => Effect.succeed(true), store, user }: Options<User, I>
): UploadOutbox<User> => {
  const Entries = Schema.parseJson(Schema.Struct({ ...fields, user }))
  const index = Effect.map(
    store.get(indexKey),
    Option.flatMap(Schema.decodeUnknownOption(Index))
  ).pipe(Effect.map(Option.getOrElse((): ReadonlyArray<string> => [])))
  const inTurn = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const changeIndex = (isCompleting: boolean, fileId: string) =>
    Effect.flatMap(index, (before) => {
      if (before.includes(fileId) === isCompleting) return Effect.void
      const after = isCompleting ? [...before, fileId] : Arr.filter(before, (one) => one !== fileId)
      return store.set(indexKey, JSON.stringify(after))
    })
  const indexed = (isCompleting: boolean, fileId: string) =>
    inTurn(
      Effect.scoped(
        Effect.zipRight(UploadLedger.waitForLock(lock, indexKey, "20 millis"), changeIndex(isCompleting, fileId))
      )
    )
  return {
    find: (fileId) => Effect.map(store.get(keyOf(fileId)), Option.flatMap(Schema.decodeUnknownOption(Entries))),
    put: (entry) => {
      const written = Effect.flatMap(
        Schema.encode(Entries)(entry),
        (text) => store.set(keyOf(entry.fileId), text)
      )
      // in the index before and longer than the entry says so
      return entry.phase === "completing"
        ? Effect.zipRight(indexed(true, entry.fileId), written)
        : entry.phase === "opened"
        ? written
        : Effect.zipRight(written, indexed(false, entry.fileId))
    },
    completing: index,
    lock,
    // as they are written: what `authorize` gives may hold more
    isSame: (one, other) =>
      Option.exists(
        Option.all([Schema.encodeOption(user)(one), Schema.encodeOption(user)(other)]),
        ([one, other]) => sameUser(one, other)
      )
  }
}
