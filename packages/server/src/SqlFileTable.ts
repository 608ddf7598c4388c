/**
 * The table of files in SQL: in PostgreSQL for any number of instances, or in SQLite for one.
 *
 * Every change is one statement that says in which state it may happen, so no transaction is open while anybody waits for
 * the store. The events are written by the database itself, in the statement that changes the state.
 */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Metadata from "@stevedore/core/Metadata"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { FileRow, FileState, FileTableService } from "./FileTable.js"
import { FileTable, SECOND_LOOK_MILLIS, TableFailed } from "./FileTable.js"
import { waitingForOthers } from "./internal/sqlite.js"

const isPostgres = (sql: SqlClient.SqlClient): boolean => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

// Sizes and times are whole numbers that every driver gives as a number, which it does not for BIGINT.
const tables = [
  `create table stevedore_file (
    id text primary key,
    tenant text not null,
    owner_id text not null,
    owner_name text not null,
    name text not null,
    media_type text,
    size double precision not null,
    kind text not null check (kind in ('single', 'multipart')),
    key text not null unique,
    upload_id text,
    etag text,
    reason text,
    state text not null check (state in
      ('opening', 'waiting', 'completing', 'inspecting', 'finalized', 'failed', 'removing', 'removed')),
    created_at double precision not null,
    expires_at double precision not null,
    settled_at double precision not null default 0,
    lease_owner text,
    lease_until double precision not null default 0
  )`,
  "create index stevedore_file_listed on stevedore_file (tenant, created_at, id) where state = 'finalized'",
  `create index stevedore_file_unfinished on stevedore_file (expires_at)
    where state not in ('finalized', 'failed')`,
  `create table stevedore_event (
    id text primary key,
    file_id text not null,
    kind text not null,
    attempts integer not null default 0,
    due_at double precision not null
  )`,
  "create index stevedore_event_due on stevedore_event (due_at)",
  `create table stevedore_token (
    hash text primary key,
    id text not null unique,
    tenant text not null,
    owner_id text not null,
    owner_name text not null,
    scopes text not null,
    created_at double precision not null,
    expires_at double precision
  )`
]

const event = `insert into stevedore_event (id, file_id, kind, due_at)
  values (new.id || '/' || case new.state when 'finalized' then 'completed' else 'removed' end, new.id,
    case new.state when 'finalized' then 'completed' else 'removed' end, new.settled_at)`

const happened = "new.state in ('finalized', 'removed') and old.state <> new.state"

const triggers = {
  postgres: [
    `create function stevedore_happened() returns trigger language plpgsql as $$
      begin ${event}; return new; end $$`,
    `create trigger stevedore_file_happened after update of state on stevedore_file
      for each row when (${happened}) execute function stevedore_happened()`
  ],
  sqlite: [
    `create trigger stevedore_file_happened after update of state on stevedore_file when ${happened}
      begin ${event}; end`
  ]
}

const first = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const statements = [...tables, ...(isPostgres(sql) ? triggers.postgres : triggers.sqlite)]
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})

const versions = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("alter table stevedore_file add column version_id text")
)

// what is lost with a crash is the count of a window
const rates = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql.unsafe(`create ${isPostgres(sql) ? "unlogged " : ""}table stevedore_rate (
      tenant text primary key,
      ends_at double precision not null,
      used double precision not null
    )`)
)

const metadata = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("alter table stevedore_file add column metadata text")
)

// What counts towards the quota of a tenant. Bytes that were discarded do no longer, those of an upload that has expired do
// until they are removed: a sweep changes one row of it at a time.
const counts = (row: string) =>
  `(${row}.state in ('opening', 'waiting', 'completing', 'inspecting', 'finalized')
    or (${row}.state = 'removing' and ${row}.settled_at = 0))`

// All bits of it are set
const lastShard = 15

// One row of a tenant would let only one of its uploads open at a time, for as long as the disk takes to keep it.
const shardOf = {
  postgres: (row: string) => `(hashtext(${row}.id) & ${lastShard})`,
  // one writes at a time in any case
  sqlite: () => "0"
}

const usedBy = (shard: (row: string) => string) => ({
  opened: `insert into stevedore_usage (tenant, shard, bytes, files) values (new.tenant, ${shard("new")}, new.size, 1)
    on conflict (tenant, shard) do update
    set bytes = stevedore_usage.bytes + excluded.bytes, files = stevedore_usage.files + 1`,
  ended: `update stevedore_usage set bytes = bytes - old.size, files = files - 1
    where tenant = old.tenant and shard = ${shard("old")}`
})

const ended = `${counts("old")} and not ${counts("new")}`

const used = { postgres: usedBy(shardOf.postgres), sqlite: usedBy(shardOf.sqlite) }

const counting = {
  postgres: [
    `create function stevedore_opened() returns trigger language plpgsql as $$
      begin ${used.postgres.opened}; return new; end $$`,
    `create function stevedore_ended() returns trigger language plpgsql as $$
      begin ${used.postgres.ended}; return new; end $$`,
    `create trigger stevedore_file_opened after insert on stevedore_file
      for each row execute function stevedore_opened()`,
    `create trigger stevedore_file_ended after update of state on stevedore_file
      for each row when (${ended}) execute function stevedore_ended()`
  ],
  sqlite: [
    `create trigger stevedore_file_opened after insert on stevedore_file begin ${used.sqlite.opened}; end`,
    `create trigger stevedore_file_ended after update of state on stevedore_file when ${ended} begin ${used.sqlite.ended}; end`
  ]
}

// the database counts, so an instance of the version before counts too
const usage = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const shard = isPostgres(sql) ? shardOf.postgres : shardOf.sqlite
  const statements = [
    `create table stevedore_usage (
      tenant text not null,
      shard integer not null,
      bytes double precision not null,
      files double precision not null,
      primary key (tenant, shard)
    )`,
    ...(isPostgres(sql) ? counting.postgres : counting.sqlite),
    // the triggers first: from then on nobody writes until all is there
    `insert into stevedore_usage (tenant, shard, bytes, files)
      select tenant, ${shard("stevedore_file")}, sum(size), count(*) from stevedore_file
      where ${counts("stevedore_file")} group by 1, 2`
  ]
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})

const migrating = Migrator.make({})({
  table: "stevedore_migrations",
  loader: Migrator.fromRecord({
    "0001_files": first,
    "0002_versions": versions,
    "0003_rates": rates,
    "0004_metadata": metadata,
    "0005_usage": usage
  })
})

// of several that begin at once on an empty database, one makes the tables, and the others find them
const inPostgres = Effect.retry(migrating, { schedule: Schedule.spaced("200 millis"), times: 5 })

/**
 * In a file of SQLite, with one write to the disk for a statement instead of several, which the file remembers. A transaction
 * waits for others that write: refused, it could not be tried again, because a client of `@effect/sql-libsql` answers
 * nothing more after a transaction that could not begin.
 */
const inSqlite = (sql: SqlClient.SqlClient) =>
  sql.unsafe("pragma journal_mode = wal").pipe(
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 25 }),
    Effect.zipRight(waitingForOthers(sql)),
    Effect.zipRight(migrating),
    // of a connection: after a transaction, the client has another one
    Effect.zipRight(waitingForOthers(sql))
  )

// its statements would be those of SQLite
const unknownDialect = (name: string) =>
  new Migrator.MigrationError({
    reason: "failed",
    message: `The database is ${name}: only PostgreSQL and SQLite can be used`
  })

/**
 * Makes the tables that are missing: all begin with `stevedore_`. Safe to run by several instances at once.
 *
 * @category migrations
 */
export const migrate: Effect.Effect<void, Migrator.MigrationError | SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.asVoid(sql.onDialectOrElse({
      pg: () => inPostgres,
      sqlite: () => inSqlite(sql),
      mysql: () => unknownDialect("MySQL"),
      mssql: () => unknownDialect("Microsoft SQL Server"),
      clickhouse: () => unknownDialect("ClickHouse"),
      orElse: () => unknownDialect("of an unknown kind")
    }))
)

interface Row {
  readonly id: string
  readonly tenant: string
  readonly owner_id: string
  readonly owner_name: string
  readonly name: string
  readonly media_type: string | null
  readonly size: number
  readonly kind: "single" | "multipart"
  readonly key: string
  readonly upload_id: string | null
  readonly etag: string | null
  readonly version_id: string | null
  readonly reason: string | null
  readonly state: FileState
  readonly created_at: number
  readonly settled_at: number
  readonly expires_at: number
  readonly metadata: string | null
}

const KeptMetadata = Schema.parseJson(Metadata.Metadata)

const toFile = (row: Row): FileRow => ({
  id: row.id,
  tenant: row.tenant,
  owner: { id: row.owner_id, name: row.owner_name },
  name: row.name,
  mediaType: row.media_type ?? undefined,
  size: row.size,
  metadata: row.metadata === null ? undefined : Schema.decodeSync(KeptMetadata)(row.metadata),
  kind: row.kind,
  key: row.key,
  uploadId: row.upload_id ?? undefined,
  etag: row.etag ?? undefined,
  versionId: row.version_id ?? undefined,
  reason: row.reason ?? undefined,
  state: row.state,
  createdAt: row.created_at,
  settledAt: row.settled_at === 0 ? undefined : row.settled_at,
  expiresAt: row.expires_at
})

const firstOf = (rows: ReadonlyArray<Row>): Option.Option<FileRow> => Option.map(Option.fromNullable(rows[0]), toFile)

const isNotEmpty = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

const to = (operation: string) => <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, TableFailed, R> =>
  Effect.mapError(effect, (cause) => new TableFailed({ operation, cause }))

/**
 * The table over a database that has the tables.
 *
 * @category constructors
 */
export const make: Effect.Effect<FileTableService, never, SqlClient.SqlClient> = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const now: Fragment = isPostgres(sql)
    ? sql.literal("(extract(epoch from clock_timestamp()) * 1000)::float8")
    : sql.literal("(unixepoch('subsec') * 1000.0)")
  // instances that look for what is due at once do not wait for each other
  const skipping = isPostgres(sql) ? sql.literal("for update skip locked") : sql.literal("")
  const locked = isPostgres(sql) ? sql.literal("for update") : sql.literal("")
  const shards = sql.literal(isPostgres(sql) ? `generate_series(0, ${lastShard}) as shard` : "(select 0 as shard)")
  const float = (value: number) => isPostgres(sql) ? sql`${value}::float8` : sql`${value}`
  const held = (id: string, owner: string) => sql`id = ${id} and lease_owner = ${owner}`
  const nobody = sql.literal("lease_owner = null")

  return {
    open: (file, quota) =>
      Effect.gen(function*() {
        if (quota !== undefined) {
          yield* sql`insert into stevedore_usage (tenant, shard, bytes, files)
            select ${file.tenant}, shard, 0, 0 from ${shards} where true on conflict (tenant, shard) do nothing`
        }
        const { bytes, files } = quota ?? {}
        // two that come at once wait for each other here: the second reads what the first has left
        const room = quota === undefined ? sql.literal("") : sql`from (
            select sum(bytes) as bytes, sum(files) as files from (
              select bytes, files from stevedore_usage where tenant = ${file.tenant} order by shard ${locked}
            ) as held
          ) as used where true
          ${bytes === undefined ? sql.literal("") : sql`and bytes + ${float(file.size)} <= ${float(bytes)}`}
          ${files === undefined ? sql.literal("") : sql`and files + 1 <= ${float(files)}`}`
        const rows = yield* sql`insert into stevedore_file (id, tenant, owner_id, owner_name, name, media_type, size,
            metadata, kind, key, state, created_at, expires_at)
          select ${file.id}, ${file.tenant}, ${file.owner.id}, ${file.owner.name}, ${file.name},
            ${file.mediaType ?? null}, ${float(file.size)},
            ${file.metadata === undefined ? null : Schema.encodeSync(KeptMetadata)(file.metadata)}, ${file.kind},
            ${file.key}, ${file.state}, ${now}, ${now} + ${float(file.lifetimeMillis)}
          ${room} returning id`
        return isNotEmpty(rows)
      }).pipe(to("hold a new file")),
    opened: (id, uploadId) =>
      sql`update stevedore_file set state = 'waiting', upload_id = ${uploadId}
        where id = ${id} and state = 'opening' returning id`.pipe(to("open an upload"), Effect.map(isNotEmpty)),
    find: (tenant, id) =>
      sql<Row & { readonly expired: number | boolean }>`select *,
        (state in ('opening', 'waiting') and expires_at <= ${now}) as expired
        from stevedore_file where id = ${id} and tenant = ${tenant}`.pipe(
        to("find a file"),
        Effect.map(([row]) =>
          firstOf(row === undefined ? [] : [{ ...row, state: Boolean(row.expired) ? "removing" : row.state }])
        )
      ),
    claim: (tenant, id, owner, leaseMillis) =>
      sql<Row>`update stevedore_file
        set state = 'completing', lease_owner = ${owner}, lease_until = ${now} + ${float(leaseMillis)}
        where id = ${id} and tenant = ${tenant} and (
          (state = 'waiting' and expires_at > ${now}) or (state = 'completing' and lease_until <= ${now})
        ) returning *`.pipe(to("claim a file"), Effect.map(firstOf)),
    renew: (id, owner, leaseMillis) =>
      sql`update stevedore_file set lease_until = ${now} + ${float(leaseMillis)}
        where ${held(id, owner)} and state in ('completing', 'inspecting', 'removing', 'removed')
        returning id`.pipe(to("renew a lease"), Effect.map(isNotEmpty)),
    release: (id, owner) =>
      sql`update stevedore_file set state = 'waiting', ${nobody}
        where ${held(id, owner)} and state = 'completing' returning id`.pipe(
        to("release a file"),
        Effect.map(isNotEmpty)
      ),
    settle: (id, owner, outcome) =>
      sql<Row>`update stevedore_file set state = ${outcome.state}, settled_at = ${now}, lease_until = ${now}, ${nobody},
        ${
        outcome.state === "failed"
          ? sql`reason = ${outcome.reason}`
          : sql`etag = ${outcome.etag ?? null}, version_id = ${outcome.versionId ?? null}`
      } where ${held(id, owner)} and state in ('completing', 'inspecting') returning *`.pipe(
        to("settle a file"),
        Effect.map(firstOf)
      ),
    due: (owner, leaseMillis, limit) =>
      sql<Row>`update stevedore_file set
        state = case when state in ('opening', 'waiting') then 'removing' else state end,
        lease_owner = ${owner}, lease_until = ${now} + ${float(leaseMillis)}
        where id in (
          select id from stevedore_file where state not in ('finalized', 'failed') and (
            (state in ('opening', 'waiting') and expires_at <= ${now})
            or (state in ('completing', 'inspecting', 'removing') and lease_until <= ${now})
            or (state = 'removed' and settled_at <= ${now} - ${float(SECOND_LOOK_MILLIS)} and lease_until <= ${now}
              and not exists (select 1 from stevedore_event where file_id = stevedore_file.id))
          ) order by expires_at limit ${limit} ${skipping}
        ) returning *`.pipe(to("find what is due"), Effect.map((rows) => rows.map(toFile))),
    removed: (id, owner) =>
      Effect.gen(function*() {
        const forgotten = yield* sql`delete from stevedore_file
          where ${held(id, owner)} and state = 'removed' returning id`
        if (forgotten.length > 0) return true
        const rows = yield* sql`update stevedore_file
          set state = 'removed', settled_at = ${now}, lease_until = ${now}, ${nobody}
          where ${held(id, owner)} and state = 'removing' returning id`
        return isNotEmpty(rows)
      }).pipe(to("remove a file")),
    discard: (tenant, id) =>
      sql`update stevedore_file set state = 'removing', lease_until = ${now}, ${nobody}
        where id = ${id} and tenant = ${tenant} and state = 'finalized' returning id`.pipe(
        to("discard a file"),
        Effect.map(isNotEmpty)
      ),
    page: (tenant, { after, direction, limit }) =>
      sql<Row>`select * from stevedore_file where tenant = ${tenant} and state = 'finalized' ${
        after === undefined
          ? sql.literal("")
          : sql`and (created_at, id) ${sql.literal(direction === "asc" ? ">" : "<")} (${
            float(after.createdAt)
          }, ${after.id})`
      } order by created_at ${sql.literal(direction)}, id ${sql.literal(direction)} limit ${limit}`.pipe(
        to("list files"),
        Effect.map((rows) => rows.map(toFile))
      ),
    count: (tenant) =>
      sql<{ readonly files: number | string }>`select count(*) as files from stevedore_file
        where tenant = ${tenant} and state = 'finalized'`.pipe(
        to("count files"),
        Effect.map(([row]) => Number(row?.files ?? 0))
      ),
    events: (leaseMillis, limit) =>
      Effect.gen(function*() {
        const taken = yield* sql<
          { readonly id: string; readonly file_id: string; readonly kind: "completed" | "removed"; attempts: number }
        >`update stevedore_event set attempts = attempts + 1, due_at = ${now} + ${float(leaseMillis)}
          where id in (select id from stevedore_event where due_at <= ${now} order by due_at limit ${limit} ${skipping})
          returning *`
        if (taken.length === 0) return []
        const rows = yield* sql<Row>`select * from stevedore_file where ${
          sql.in("id", taken.map((one) => one.file_id))
        }`
        const files = new Map(rows.map((row) => [row.id, toFile(row)]))
        return taken.flatMap(({ attempts, file_id, id, kind }) => {
          const file = files.get(file_id)
          return file === undefined ? [] : [{ id, kind, file, attempts: attempts - 1 }]
        })
      }).pipe(to("find events")),
    delivered: (id) => sql`delete from stevedore_event where id = ${id}`.pipe(to("end an event"), Effect.asVoid)
  }
})

/**
 * The table over a database, whose tables are made first.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileTable, Migrator.MigrationError | SqlError, SqlClient.SqlClient> = Layer.effect(
  FileTable,
  Effect.zipRight(migrate, make)
)
