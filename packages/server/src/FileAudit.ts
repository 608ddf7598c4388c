/**
 * Whether rows and store say the same, both ways: after a restore, they may not.
 *
 * It needs `@effect/sql`. It is therefore not in the package's index: import it from `@stevedore/server/FileAudit`.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as Checksum from "@stevedore/core/Checksum"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { FileRow, TableFailed } from "./FileTable.js"
import { ObjectStore } from "./ObjectStore.js"
import { counts, type Row, to, toFile } from "./sql/fileRow.js"
import * as NativeChecksum from "./storage/nativeChecksum.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * What is not as it should be.
 *
 * - `missing`: a final file whose bytes are not in the store. `unreadable`: they are there, and cannot be read.
 * - `changed`: they have another size, etag or checksum than when the file was completed.
 * - `unknown`: an object that no row names.
 * - `usage`: what a tenant has is counted wrongly. It is the only one that can be repaired without losing anything.
 *
 * @category models
 */
export interface Finding {
  readonly what: "missing" | "unreadable" | "changed" | "unknown" | "usage"
  /** The id of a file, the key of an object, or the name of a tenant. */
  readonly subject: string
  readonly why: string
  readonly repaired: boolean
}

/**
 * How to read what is stored.
 *
 * @category models
 */
export interface Reading {
  /** The id of the last file that was read before: goes on after it. */
  readonly after?: string | undefined
  readonly bytesPerSecond?: number | undefined
  /** Called with each file that was read: its id, and its bytes. */
  readonly onRead?: ((id: string, bytes: number) => Effect.Effect<void>) | undefined
}

/**
 * The service tag of the comparison.
 *
 * @category tags
 */
export class FileAudit extends Context.Tag("@stevedore/server/FileAudit")<FileAudit, {
  /** Compares all files of all tenants, while the service runs or not. What is wrong comes as it is found. */
  readonly verify: (options: {
    readonly repair: boolean
    /** Reads the bytes too, file by file by their ids, and compares them with the checksums that they came with. */
    readonly bytes?: Reading | undefined
  }) => Stream.Stream<Finding, TableFailed | StorageRefused.StorageRefused>
}>() {}

/** What a store may have told the checksum by. */
const algorithms = [NativeChecksum.crc32, Checksum.crc64nvme]

const ROWS_AT_ONCE = 500
const ASKED_AT_ONCE = 16

const found = (what: Finding["what"], subject: string, why: string, repaired = false): Finding => ({
  what,
  subject,
  why,
  repaired
})

/**
 * The comparison over a database that has the tables, and a store.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileAudit, never, SqlClient.SqlClient | ObjectStore> = Layer.effect(
  FileAudit,
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const store = yield* ObjectStore

    const rows = (from = "") =>
      Stream.suspend(() => {
        let after = from
        const page = Effect.suspend(() =>
          sql<Row>`select * from stevedore_file where state = 'finalized' and id > ${after}
        order by id limit ${ROWS_AT_ONCE}`
        ).pipe(
          to("list files"),
          Effect.mapError(Option.some),
          Effect.filterOrFail(Arr.isNonEmptyReadonlyArray, () => Option.none()),
          Effect.map((page) => {
            after = Arr.lastNonEmpty(page).id
            return page.map(toFile)
          })
        )
        return Stream.flatMap(Stream.repeatEffectOption(page), Stream.fromIterable)
      })
    const wrongOf = ({ etag, id, key, size, versionId }: FileRow) =>
      Effect.flatMap(
        Effect.either(store.head(key, { versionId })),
        (object): Effect.Effect<ReadonlyArray<Finding>, StorageRefused.StorageRefused> => {
          if (Either.isLeft(object)) {
            const { code, message, status } = object.left
            return code === "ObjectUnreadable"
              ? Effect.succeed([found("unreadable", id, message)])
              : status === 404
              ? Effect.succeed([found("missing", id, `the store has no ${key}`)])
              : Effect.fail(object.left)
          }
          const now = object.right
          return Effect.succeed(
            now.size !== size
              ? [found("changed", id, `${now.size} bytes are stored, and it has ${size}`)]
              : etag !== undefined && now.etag !== etag
              ? [found("changed", id, `the etag is ${now.etag}, and was ${etag}`)]
              : []
          )
        }
      )
    // it may have been deleted meanwhile
    const isStill = ({ id }: FileRow) =>
      sql`select id from stevedore_file where id = ${id} and state = 'finalized'`.pipe(
        to("find a file"),
        Effect.map(Arr.isNonEmptyReadonlyArray)
      )
    const ofRows = Stream.mapEffect(
      rows(),
      (row) =>
        Effect.flatMap(wrongOf(row), (wrong) =>
          wrong.length === 0
            ? Effect.succeed(wrong)
            : Effect.map(isStill(row), (still) => still ? wrong : [])),
      { concurrency: ASKED_AT_ONCE }
    ).pipe(Stream.flatMap(Stream.fromIterable))

    const comparedBytes = (limit: BandwidthLimit.Service, {
      onRead = () => Effect.void
    }: Reading) =>
    (row: FileRow) => {
      const { checksum, id, size } = row
      const algorithm = algorithms.find(({ name }) => name === checksum?.algorithm)
      if (checksum === undefined || algorithm === undefined) return Effect.succeed([])
      return NativeChecksum.valueOf(algorithm, store.get(row.key, undefined, row), limit.take).pipe(
        Effect.map((value) =>
          value === checksum.value
            ? []
            : [found("changed", id, `its ${checksum.algorithm} is ${value}, and was ${checksum.value}`)]
        ),
        // what is gone or cannot be read is told by its row
        Effect.catchIf(({ code, status }) => code === "ObjectUnreadable" || status === 404, () => Effect.succeed([])),
        Effect.zipLeft(onRead(id, size))
      )
    }
    // one limit for all files: a small one takes no share of its own
    const ofBytes = (reading: Reading) =>
      Stream.unwrap(Effect.map(
        BandwidthLimit.make({ rate: reading.bytesPerSecond ?? Infinity }),
        (limit) => Stream.mapEffect(rows(reading.after), comparedBytes(limit, reading))
      )).pipe(Stream.flatMap(Stream.fromIterable))

    // its row is there before anything is stored, and until nothing is any more
    const ofObjects = Stream.grouped(store.keys ?? Stream.empty, ROWS_AT_ONCE).pipe(
      Stream.mapEffect((chunk) => {
        const keys = Array.from(chunk)
        return Effect.map(
          to("find files")(
            sql<{ readonly key: string }>`select key from stevedore_file where ${sql.in("key", keys)}`
          ),
          (named) => {
            const known = new Set(named.map(({ key }) => key))
            return keys.filter((key) => !known.has(key))
          }
        )
      }),
      Stream.flatMap(Stream.fromIterable),
      Stream.map((key) => found("unknown", key, "no row names it"))
    )

    const differences = sql`select tenant, 0 as shard, sum(bytes) as bytes, sum(files) as files from (
        select tenant, size as bytes, 1 as files from stevedore_file where ${sql.literal(counts("stevedore_file"))}
        union all select tenant, -bytes, -files from stevedore_usage
      ) as counted where true group by tenant having sum(bytes) <> 0 or sum(files) <> 0`
    interface Difference {
      readonly tenant: string
      readonly bytes: number
      readonly files: number
    }
    const ofUsage = (repair: boolean) =>
      Stream.unwrap(
        Effect.gen(function*() {
          const wrong = yield* sql<Difference>`${differences}`
          // added: what is counted at the same time stays counted
          if (repair && wrong.length > 0) {
            yield* sql`insert into stevedore_usage (tenant, shard, bytes, files) ${differences}
              on conflict (tenant, shard) do update
              set bytes = stevedore_usage.bytes + excluded.bytes, files = stevedore_usage.files + excluded.files`
          }
          return Stream.fromIterable(
            wrong.map(({ bytes, files, tenant }) =>
              found("usage", tenant, `its quota lacks ${bytes} bytes and ${files} files`, repair)
            )
          )
        }).pipe(to("sum up what tenants have"))
      )

    return {
      verify: ({ bytes, repair }) =>
        Stream.concat(Stream.concat(ofRows, ofObjects), ofUsage(repair)).pipe(
          Stream.concat(bytes === undefined ? Stream.empty : ofBytes(bytes))
        )
    }
  })
)
