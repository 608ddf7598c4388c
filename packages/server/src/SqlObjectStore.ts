/**
 * A store whose bytes are files of a directory, and whose index is in a database of SQLite: a start reads none of it, however
 * many objects there are. Bytes and what is known of them are on the disk before a write succeeds, wherever the process dies.
 *
 * One process at a time may use a directory. What no record names is removed by a job in the background, when it was found so an
 * hour before, whatever the clock says; what a record names and is not there is told as `unreadable`.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { MigrationError } from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ObjectStore from "./ObjectStore.js"
import * as BlobStore from "./parts/blobStore.js"
import * as SqlDatabase from "./SqlDatabase.js"
import * as Disk from "./storage/disk.js"
import * as NativeChecksum from "./storage/nativeChecksum.js"
import { roomIn } from "./storage/room.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * Where the store keeps its files, and the options of any store.
 *
 * @category models
 */
export interface Options extends ObjectStore.Options {
  /** Created if it does not exist, for its owner alone. */
  readonly directory: string
}

const tables = [
  `create table stevedore_object (
    key text primary key,
    size double precision not null,
    etag text not null,
    content_type text,
    last_modified double precision not null,
    blobs text not null,
    checksum text,
    upload_id text,
    sealed integer not null default 0,
    problem text
  ) without rowid`,
  "create index stevedore_object_problem on stevedore_object (key) where problem is not null",
  "create table stevedore_upload (id text primary key, key text not null, content_type text) without rowid",
  "create index stevedore_upload_key on stevedore_upload (key)",
  `create table stevedore_part (
    upload_id text not null,
    number integer not null,
    etag text not null,
    blob text not null,
    size double precision not null,
    checksum text,
    primary key (upload_id, number)
  ) without rowid`,
  // an upload ends in the statement that makes an object of it
  `create trigger stevedore_object_made after insert on stevedore_object when new.upload_id is not null
    begin delete from stevedore_upload where id = new.upload_id; end`,
  `create trigger stevedore_object_remade after update of upload_id on stevedore_object when new.upload_id is not null
    begin delete from stevedore_upload where id = new.upload_id; end`,
  `create trigger stevedore_upload_ended after delete on stevedore_upload
    begin delete from stevedore_part where upload_id = old.id; end`
]

const Blobs = Schema.parseJson(Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.Number })))

interface ObjectRow {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly content_type: string | null
  readonly last_modified: number
  readonly blobs: string
  readonly checksum: string | null
  readonly sealed: number
  readonly problem: string | null
}

interface PartRow {
  readonly number: number
  readonly etag: string
  readonly blob: string
  readonly size: number
  readonly checksum: string | null
}

const blobOf = ({ name, size }: BlobStore.Blob) => ({ name: name ?? "", size })

const encodeBlobs = (blobs: ReadonlyArray<BlobStore.Blob>): string => Schema.encodeSync(Blobs)(blobs.map(blobOf))

const stated = <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.mapError(effect, Disk.failed)

const indexOver = (
  sql: SqlClient.SqlClient,
  blobs: BlobStore.KeptBlobs,
  lasting: Effect.Effect<void, SqlError>,
  freeing: ReturnType<typeof SqlDatabase.freeing>
): ObjectStore.ObjectIndex => {
  // before any blob goes that it is about; a seal is kept with what is settled by it
  const kept = <A>(change: Effect.Effect<A, SqlError>) => stated(Effect.zipLeft(change, lasting))
  const inserted = (object: ObjectStore.HeldObject, uploadId: string | undefined) =>
    sql`insert into stevedore_object (key, size, etag, content_type, last_modified, blobs, checksum, upload_id)
      values (${object.key}, ${object.size}, ${object.etag}, ${object.contentType ?? null}, ${object.lastModified},
        ${encodeBlobs(object.blobs)}, ${object.checksum?.value ?? null}, ${uploadId ?? null})`
  const heldOf = (row: ObjectRow) =>
    row.problem === null
      ? Effect.mapBoth(Schema.decode(Blobs)(row.blobs), {
        onFailure: Disk.unreadable,
        onSuccess: (pieces): ObjectStore.HeldObject => ({
          key: row.key,
          size: row.size,
          etag: row.etag,
          contentType: row.content_type ?? undefined,
          lastModified: row.last_modified,
          checksum: NativeChecksum.valued(row.checksum),
          blobs: pieces.map(blobs.open),
          isSealed: row.sealed !== 0
        })
      })
      : Effect.fail(Disk.unreadable(row.problem))
  const held = (rows: Effect.Effect<ReadonlyArray<ObjectRow>, SqlError>) =>
    Effect.flatMap(stated(rows), ([row]) => Effect.transposeMapOption(Option.fromNullable(row), heldOf))
  return {
    object: (key) => held(sql<ObjectRow>`select * from stevedore_object where key = ${key}`),
    add: (object, uploadId) =>
      Effect.map(
        stated(sql`${inserted(object, uploadId)} on conflict (key) do nothing returning key`),
        Arr.isNonEmptyReadonlyArray
      ),
    lasting: stated(lasting),
    store: (object, uploadId) =>
      kept(sql`${inserted(object, uploadId)}
        on conflict (key) do update set size = excluded.size, etag = excluded.etag, content_type = excluded.content_type,
          last_modified = excluded.last_modified, blobs = excluded.blobs, checksum = excluded.checksum,
          upload_id = excluded.upload_id`),
    // what cannot be read may still be replaced
    seal: (key) =>
      held(sql<ObjectRow>`update stevedore_object set sealed = (problem is null) where key = ${key} returning *`),
    remove: (key) => kept(freeing(sql`delete from stevedore_object where key = ${key}`)),
    upload: (uploadId) =>
      stated(
        sql<{ readonly key: string; readonly content_type: string | null }>`select key, content_type
          from stevedore_upload where id = ${uploadId}`
      ).pipe(
        Effect.map(([row]) =>
          Option.map(Option.fromNullable(row), ({ content_type, key }) => ({
            key,
            contentType: content_type ?? undefined
          }))
        )
      ),
    uploads: (key) =>
      stated(sql<{ readonly id: string }>`select id from stevedore_upload where key = ${key}`).pipe(
        Effect.map((rows) => rows.map(({ id }) => id))
      ),
    open: (uploadId, { contentType, key }) =>
      kept(
        sql`insert into stevedore_upload (id, key, content_type) values (${uploadId}, ${key}, ${contentType ?? null})`
      ),
    parts: (uploadId, partNumber) =>
      stated(
        sql<PartRow>`select number, etag, blob, size, checksum from stevedore_part where upload_id = ${uploadId} ${
          partNumber === undefined ? sql.literal("") : sql`and number = ${partNumber}`
        }`
      ).pipe(
        Effect.map((rows) =>
          rows.map(({ blob, checksum, etag, number, size }) => ({
            partNumber: number,
            etag,
            size,
            checksum: NativeChecksum.valued(checksum),
            blob: blobs.open({ name: blob, size })
          }))
        )
      ),
    storePart: (uploadId, { blob, etag, partNumber }) =>
      kept(sql`insert or replace into stevedore_part (upload_id, number, etag, blob, size, checksum)
        values (${uploadId}, ${partNumber}, ${etag}, ${blobOf(blob).name}, ${blob.size},
          ${blob.checksum?.value ?? null})`),
    abort: (uploadId) => kept(freeing(sql`delete from stevedore_upload where id = ${uploadId}`))
  }
}

const LOOKED_AT_ONCE = 1000

interface Naming {
  readonly key: string
  /** None where they cannot be read: nobody knows then which are in use. */
  readonly names: Option.Option<ReadonlyArray<string>>
}

const Names = Schema.parseJson(Schema.Array(Schema.Struct({ name: Schema.String })))

/** Every record and the names of its blobs. Other requests are answered in between. */
const namings = (sql: SqlClient.SqlClient): Stream.Stream<Naming, SqlError> => {
  interface Row {
    readonly place: string
    readonly blobs: string
    readonly problem: string | null
  }
  const pages = (page: (after: string) => Effect.Effect<ReadonlyArray<Row>, SqlError>) =>
    Stream.paginateChunkEffect("", (after) =>
      Effect.map(
        Effect.zipLeft(page(after), Effect.sleep(0)),
        (rows) => [Chunk.fromIterable(rows), Option.map(Arr.last(rows), ({ place }) => place)] as const
      ))
  const objects = pages((after) =>
    sql<Row>`select key as place, blobs, problem from stevedore_object where key > ${after}
      order by key limit ${LOOKED_AT_ONCE}`
  )
  const uploads = pages((after) =>
    sql<Row>`select upload_id as place, json_group_array(json_object('name', blob)) as blobs, null as problem
      from stevedore_part where upload_id > ${after} group by upload_id order by upload_id limit ${LOOKED_AT_ONCE}`
  )
  // the parts first: they are those of an object from one moment to the next, and never the other way round
  return Stream.mapEffect(
    Stream.concat(uploads, objects),
    ({ blobs, place, problem }) =>
      Effect.map(Effect.option(Schema.decode(Names)(blobs)), (found) => ({
        key: place,
        names: problem === null ? Option.map(found, Arr.map(({ name }) => name)) : Option.none()
      }))
  )
}

/**
 * Compares the records with what is in the directory, and removes what none of them names, nor did when it was compared before,
 * unless a record cannot be read: whoever has written it may be about to say what it is. Answers the keys of objects that are not
 * all there.
 */
const compared = (
  sql: SqlClient.SqlClient,
  blobs: BlobStore.KeptBlobs,
  isWhole: (key: string) => Effect.Effect<boolean>
) => {
  let before: ReadonlySet<string> = new Set()
  return Effect.gen(function*() {
    const there = new Set(yield* blobs.names)
    const unnamed = new Set(there)
    const suspects: Array<string> = []
    let isCertain = true
    yield* Stream.runForEach(namings(sql), ({ key, names }) =>
      Effect.sync(() => {
        isCertain &&= Option.isSome(names)
        const found = Option.getOrElse(names, () => [])
        for (const name of found) unnamed.delete(name)
        if (Option.isNone(names) || found.some((name) => !there.has(name))) suspects.push(key)
      }))
    const found = isCertain ? [...unnamed].filter((name) => before.has(name)) : []
    before = unnamed
    const removed = yield* Effect.filter(found, blobs.remove)
    if (removed.length > 0) yield* Effect.logInfo(`Removed ${removed.length} files that no record names`)
    return yield* Effect.filter(suspects, (key) => Effect.map(isWhole(key), (whole) => !whole))
  })
}

/** What is read back when it is sealed, in bytes: at 200 MB/s it takes 5 seconds, for which a client waits. */
const READ_BACK_BYTES = 1024 * 1024 * 1024

/**
 * Reads what came in parts, which may have lain there for days, and compares it with what came. One PUT is sealed right after
 * it was answered.
 */
const readBack = (store: ObjectStore.ObjectStoreService, { checksum, etag, key, size }: ObjectStore.StoredObject) =>
  checksum === undefined || size > READ_BACK_BYTES || !etag.includes("-")
    ? Effect.void
    : Effect.filterOrFail(
      NativeChecksum.valueOf(NativeChecksum.crc32, store.get(key)),
      (value) => value === checksum.value,
      () => StorageRefused.make("BadDigest")
    )

/** Makes the tables that are missing. */
const migrating = SqlDatabase.migrate({
  table: "stevedore_store_migrations",
  migrations: { "0001_objects": SqlDatabase.run(() => tables) }
})

/**
 * The store. Fails if the directory or the database cannot be used.
 *
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<
  ObjectStore.ObjectStore,
  StorageRefused.StorageRefused | MigrationError | SqlError,
  FileSystem.FileSystem | Path.Path | SqlClient.SqlClient
> =>
  Layer.scoped(
    ObjectStore.ObjectStore,
    Effect.gen(function*() {
      const sql = (yield* SqlClient.SqlClient).withoutTransforms()
      const { join } = yield* Path.Path
      yield* migrating
      yield* Effect.mapError(Disk.directory(options.directory), Disk.failed)
      // what was made before 0.1.0 removes whatever it does not know from `blobs`
      const blobs = yield* BlobStore.kept(join(options.directory, "bytes"), NativeChecksum.crc32)
      const freeing = SqlDatabase.freeing(yield* SqlDatabase.Reserve)
      const store = ObjectStore.make(blobs, options, indexOver(sql, blobs, yield* SqlDatabase.Lasting, freeing))

      const known = new Set<string>()
      const tell = (keys: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          const found = keys.filter((key) => !known.has(key))
          known.clear()
          for (const key of keys) known.add(key)
          return Effect.forEach(found, (key) => Effect.logError(`The object ${key} cannot be read`), { discard: true })
        })
      const broken = yield* sql<{ readonly key: string }>`select key from stevedore_object where problem is not null`
      yield* tell(broken.map(({ key }) => key))
      const isWhole = (key: string) =>
        Effect.match(store.head(key), {
          onFailure: ({ code }) => code !== "ObjectUnreadable",
          onSuccess: () => true
        })
      yield* compared(sql, blobs, isWhole).pipe(
        Effect.flatMap(tell),
        Effect.catchAllCause((cause) => Effect.logWarning("The store cannot be compared with its records", cause)),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.delay("1 minute"),
        Effect.forkScoped
      )
      const keys = namings(sql).pipe(
        Stream.map(({ key }) => key),
        Stream.filter((key) => key.startsWith("files/")),
        Stream.mapError(Disk.failed)
      )
      return {
        ...store,
        seal: (key) => Effect.tap(store.seal(key), (object) => readBack(store, object)),
        keys,
        unreadable: Effect.sync(() => [...known]),
        room: yield* Effect.cachedWithTTL(roomIn(options.directory), "1 second")
      }
    })
  )
