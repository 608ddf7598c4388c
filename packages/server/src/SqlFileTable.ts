/**
 * The table of files in SQL: in PostgreSQL for any number of instances, or in SQLite for one.
 *
 * Every change is one statement that says in which state it may happen, so no transaction is open while anybody waits for
 * the store. The events are written by the database itself, in the statement that changes the state.
 */
import type { MigrationError } from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { FileEvent, FileTableService, Measures, NewFile, Quota } from "./FileTable.js"
import { FileTable, MOST_DELIVERIES, SECOND_LOOK_MILLIS } from "./FileTable.js"
import * as Ages from "./life/ages.js"
import * as Lifecycle from "./life/lifecycle.js"
import { counts, firstOf, KeptChecksum, KeptMetadata, type Row, to, toFile } from "./sql/fileRow.js"
import {
  float,
  freeing as freeingBy,
  isPostgres,
  Lasting,
  migrate as migrating,
  now,
  Reserve,
  run
} from "./SqlDatabase.js"

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
    checksum text,
    reason text,
    state text not null check (state in
      ('opening', 'waiting', 'completing', 'inspecting', 'finalized', 'failed', 'removing', 'removed')),
    created_at double precision not null,
    expires_at double precision not null,
    settled_at double precision not null default 0,
    lease_owner text,
    lease_until double precision not null default 0,
    version_id text,
    metadata text
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
  "create table stevedore_receiver (kind text primary key)",
  `create table stevedore_token (
    hash text primary key,
    id text not null unique,
    tenant text not null,
    owner_id text not null,
    owner_name text not null,
    scopes text not null,
    created_at double precision not null,
    expires_at double precision
  )`,
  "create table stevedore_clock (id integer primary key, since double precision not null, at double precision not null)"
]

// what is lost with a crash is the count of a window
const rates = (sql: SqlClient.SqlClient) => [
  `create ${isPostgres(sql) ? "unlogged " : ""}table stevedore_rate (
    tenant text primary key,
    ends_at double precision not null,
    used double precision not null
  )`
]

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

const usage = (sql: SqlClient.SqlClient) => [
  `create table stevedore_usage (
    tenant text not null,
    shard integer not null,
    bytes double precision not null,
    files double precision not null,
    primary key (tenant, shard)
  )`,
  ...(isPostgres(sql) ? counting.postgres : counting.sqlite)
]

const settled = "new.state in ('finalized', 'removed', 'failed') and old.state <> new.state"

const kind = "case new.state when 'finalized' then 'completed' else new.state end"

const eventOfAll = `insert into stevedore_event (id, file_id, kind, due_at)
  select new.id || '/' || kind, new.id, kind, new.settled_at from stevedore_receiver where kind = ${kind}`

const telling = (sql: SqlClient.SqlClient) =>
  isPostgres(sql)
    ? [
      `create function stevedore_happened() returns trigger language plpgsql as $$
        begin ${eventOfAll}; return new; end $$`,
      `create trigger stevedore_file_happened after update of state on stevedore_file
        for each row when (${settled}) execute function stevedore_happened()`
    ]
    : [
      `create trigger stevedore_file_happened after update of state on stevedore_file when ${settled}
        begin ${eventOfAll}; end`
    ]

/**
 * Makes the tables that are missing: all begin with `stevedore_`. Safe to run by several instances at once.
 *
 * @category migrations
 */
export const migrate: Effect.Effect<void, MigrationError | SqlError, SqlClient.SqlClient> = migrating({
  table: "stevedore_migrations",
  migrations: {
    "0001_files": run((sql) => [...tables, ...rates(sql), ...usage(sql), ...telling(sql)])
  }
})

const isNotEmpty = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

/** The statements of a database, and the fragments that they are made of. */
interface State {
  readonly sql: SqlClient.SqlClient
  readonly now: Fragment
  readonly nothing: Fragment
  /** Instances that look for what is due at once do not wait for each other. */
  readonly skipping: Fragment
  readonly locked: Fragment
  readonly shards: Fragment
  /** Kinds of events that this instance has asked for. */
  readonly asked: Set<FileEvent["kind"]>
}

const stateOf = (sql: SqlClient.SqlClient): State => {
  const nothing = sql.literal("")
  const same = { sql, now: now(sql), nothing, asked: new Set<FileEvent["kind"]>() }
  return isPostgres(sql)
    ? {
      ...same,
      skipping: sql.literal("for update skip locked"),
      locked: sql.literal("for update"),
      shards: sql.literal(`generate_series(0, ${lastShard}) as shard`)
    }
    : { ...same, skipping: nothing, locked: nothing, shards: sql.literal("(select 0 as shard)") }
}

/** When an event may happen to a row: the transitions of the event, as a condition. */
const may = ({ nothing, now, sql }: State, event: Lifecycle.Event, owner: string, until?: number): Fragment => {
  const met: { readonly [C in Lifecycle.Condition]: () => Fragment } = {
    always: () => sql.literal("true"),
    alive: () => sql`expires_at > ${now}`,
    expired: () =>
      sql`expires_at <= ${now} ${until === undefined ? nothing : sql`and expires_at <= ${float(sql, until)}`}`,
    held: () => sql`lease_owner = ${owner}`,
    free: () => sql`lease_until <= ${now}`,
    rested: () =>
      sql`settled_at <= ${now} - ${float(sql, SECOND_LOOK_MILLIS)} and lease_until <= ${now}
        and not exists (select 1 from stevedore_event where file_id = stevedore_file.id)`
  }
  return sql.or(
    Lifecycle.waysOf(event).map(({ froms, when }) =>
      sql`(state in (${sql.literal(froms.map((from) => `'${from}'`).join(", "))}) and ${met[when]()})`
    )
  )
}

/** What an event makes of a row. */
const becomes = ({ now, sql }: State, event: Lifecycle.Event, owner: string, leaseMillis: number): Fragment => {
  const changes = Lifecycle.changesOf(event)
  const cases = changes.map(([from, to]) => `when '${from}' then '${to}'`).join(" ")
  const { settles, takesLease } = Lifecycle.events[event]
  return sql.csv([
    ...(changes.length === 0 ? [] : [`state = case state ${cases} else state end`]),
    ...(settles === true ? [sql`settled_at = ${now}`] : []),
    ...(takesLease === true
      ? [sql`lease_owner = ${owner}`, sql`lease_until = ${now} + ${float(sql, leaseMillis)}`]
      : ["lease_owner = null", sql`lease_until = ${now}`])
  ])
}

interface Change {
  readonly owner?: string
  readonly leaseMillis?: number
  readonly until?: number
  /** What else is then known. */
  readonly known?: Fragment
}

/** Makes an event happen to the rows where it may, in one statement. */
const happen = (
  state: State,
  event: Lifecycle.Event,
  where: Fragment,
  { known, leaseMillis = 0, owner = "", until }: Change
) =>
  state.sql<Row>`update stevedore_file set ${becomes(state, event, owner, leaseMillis)}${
    known === undefined ? state.nothing : state.sql`, ${known}`
  } where ${where} and (${may(state, event, owner, until)}) returning *`

const open = ({ locked, nothing, now, shards, sql }: State, file: NewFile, quota: Quota | undefined) =>
  Effect.gen(function*() {
    if (quota !== undefined) {
      yield* sql`insert into stevedore_usage (tenant, shard, bytes, files)
        select ${file.tenant}, shard, 0, 0 from ${shards} where true on conflict (tenant, shard) do nothing`
    }
    const { bytes, files } = quota ?? {}
    // two that come at once wait for each other here: the second reads what the first has left
    const room = quota === undefined ? nothing : sql`from (
        select sum(bytes) as bytes, sum(files) as files from (
          select bytes, files from stevedore_usage where tenant = ${file.tenant} order by shard ${locked}
        ) as held
      ) as used where true
      ${bytes === undefined ? nothing : sql`and bytes + ${float(sql, file.size)} <= ${float(sql, bytes)}`}
      ${files === undefined ? nothing : sql`and files + 1 <= ${float(sql, files)}`}`
    const rows = yield* sql`insert into stevedore_file (id, tenant, owner_id, owner_name, name, media_type, size,
        metadata, kind, key, state, created_at, expires_at)
      select ${file.id}, ${file.tenant}, ${file.owner.id}, ${file.owner.name}, ${file.name},
        ${file.mediaType ?? null}, ${float(sql, file.size)},
        ${file.metadata === undefined ? null : Schema.encodeSync(KeptMetadata)(file.metadata)}, ${file.kind},
        ${file.key}, ${file.state}, ${now}, ${now} + ${float(sql, file.lifetimeMillis)}
      ${room} returning id`
    return isNotEmpty(rows)
  })

interface EventRow {
  readonly id: string
  readonly file_id: string
  readonly kind: FileEvent["kind"]
  readonly attempts: number
}

const takeEvents = (
  { asked, now, skipping, sql }: State,
  ...[leaseMillis, limit, kinds]: Parameters<FileTableService["events"]>
) =>
  Effect.gen(function*() {
    const first = kinds.filter((kind) => !asked.has(kind))
    if (Arr.isNonEmptyReadonlyArray(first)) {
      yield* sql`insert into stevedore_receiver ${sql.insert(Arr.map(first, (kind) => ({ kind })))}
        on conflict (kind) do nothing`
      first.forEach((kind) => asked.add(kind))
    }
    const due = sql`select id from stevedore_event where due_at <= ${now} and attempts < ${MOST_DELIVERIES}
      and ${sql.in("kind", kinds)} order by due_at limit ${limit} ${skipping}`
    const taken = yield* sql<EventRow>`update stevedore_event set attempts = attempts + 1,
        due_at = ${now} + ${float(sql, leaseMillis)} * (1 << case when attempts < 6 then attempts else 6 end)
      where id in (${due}) returning *`
    if (taken.length === 0) return []
    const rows = yield* sql<Row>`select * from stevedore_file where ${sql.in("id", taken.map((one) => one.file_id))}`
    const files = new Map(rows.map((row) => [row.id, toFile(row)]))
    return taken.flatMap(({ attempts, file_id, id, kind }) => {
      const file = files.get(file_id)
      return file === undefined ? [] : [{ id, kind, file, attempts: attempts - 1 }]
    })
  })

type Measured = { readonly [M in keyof Measures]: number | string | null }

/** One look at all of it: none of it is a row a file. */
const measures = (state: State) => {
  const { now, sql } = state
  return sql<Measured>`with held as (
      select sum(bytes) as bytes, sum(files) as files from stevedore_usage group by tenant having sum(files) > 0
    )
    select (select sum(bytes) from held) as bytes, (select sum(files) from held) as files,
      (select count(*) from held) as tenants, (select max(bytes) from held) as "largestBytes",
      (select max(files) from held) as "largestFiles",
      (select count(*) from stevedore_event where attempts < ${MOST_DELIVERIES}) as waiting,
      (select count(*) from stevedore_event where attempts >= ${MOST_DELIVERIES}) as resting,
      (select (${now} - min(settled_at)) / 1000 from stevedore_event
        join stevedore_file on stevedore_file.id = file_id where attempts < ${MOST_DELIVERIES}) as "oldestSeconds",
      (select count(*) from stevedore_file where state not in ('finalized', 'failed') and (${
    may(state, "sweep", "")
  })) as due`.pipe(
    Effect.filterOrFail(Arr.isNonEmptyReadonlyArray, () => new Cause.NoSuchElementException()),
    Effect.map(([row]): Measures => Record.map(row, (value) => Number(value ?? 0)))
  )
}

const agesOf = ({ now, sql }: State) =>
  Ages.make(
    sql<Ages.Looked>`select ${now} as now, since, at from (select 1) as one left join stevedore_clock on true`.pipe(
      Effect.map(([row = { now: 0 }]) => row)
    ),
    ({ at, since }) =>
      sql`insert into stevedore_clock (id, since, at) values (1, ${float(sql, since)}, ${float(sql, at)})
        on conflict (id) do update set since = excluded.since, at = excluded.at`
  )

/**
 * The table over a database that has the tables.
 *
 * @category constructors
 */
export const make: Effect.Effect<FileTableService, never, SqlClient.SqlClient> = Effect.map(
  Effect.all([SqlClient.SqlClient, Lasting, Effect.map(Reserve, freeingBy)]),
  ([client, lasting, freeing]) => {
    const state = stateOf(client.withoutTransforms())
    const { nothing, now, skipping, sql } = state
    const ages = agesOf(state)
    // not a lease, and what follows from one: it ends with the machine
    const kept = <A, R>(change: Effect.Effect<A, SqlError, R>) => Effect.zipLeft(change, lasting)
    const ofId = (id: string) => sql`id = ${id}`
    const ofTenant = (tenant: string, id: string) => sql`id = ${id} and tenant = ${tenant}`

    return {
      open: (file, quota) => open(state, file, quota).pipe(kept, to("hold a new file")),
      opened: (id, uploadId) =>
        happen(state, "open", ofId(id), { known: sql`upload_id = ${uploadId}` }).pipe(
          kept,
          to("open an upload"),
          Effect.map(isNotEmpty)
        ),
      find: (tenant, id) =>
        sql<Row & { readonly now: number }>`select *, ${now} as now from stevedore_file where ${ofTenant(tenant, id)}`
          .pipe(
            to("find a file"),
            Effect.map(([row]) =>
              Option.map(Option.fromNullable(row), (row) => {
                const file = toFile(row)
                return { ...file, state: Lifecycle.stateAt(file, row.now) }
              })
            )
          ),
      claim: (tenant, id, owner, leaseMillis) =>
        happen(state, "claim", ofTenant(tenant, id), { owner, leaseMillis }).pipe(
          to("claim a file"),
          Effect.map(firstOf)
        ),
      renew: (id, owner, leaseMillis) =>
        happen(state, "renew", ofId(id), { owner, leaseMillis }).pipe(to("renew a lease"), Effect.map(isNotEmpty)),
      release: (id, owner) =>
        happen(state, "release", ofId(id), { owner }).pipe(to("release a file"), Effect.map(isNotEmpty)),
      settle: (id, owner, outcome) =>
        happen(state, Lifecycle.eventOf[outcome.state], ofId(id), {
          owner,
          known: outcome.state === "failed"
            ? sql`reason = ${outcome.reason}`
            : sql`etag = ${outcome.etag ?? null}, version_id = ${outcome.versionId ?? null}, checksum = ${
              outcome.checksum === undefined ? null : Schema.encodeSync(KeptChecksum)(outcome.checksum)
            }`
        }).pipe(kept, to("settle a file"), Effect.map(firstOf)),
      ages: ages.pipe(to("look at its clock")),
      due: (owner, leaseMillis, limit) =>
        Effect.flatMap(Effect.map(ages, Ages.until), (until) =>
          happen(
            state,
            "sweep",
            // its index has no others
            sql`id in (select id from stevedore_file where state not in ('finalized', 'failed') and (${
              may(state, "sweep", owner, until)
            }) order by expires_at limit ${limit} ${skipping})`,
            { owner, leaseMillis, until }
          )).pipe(freeing, to("find what is due"), Effect.map((rows) => rows.map(toFile))),
      removed: (id, owner) =>
        Effect.gen(function*() {
          const forgotten = yield* sql`delete from stevedore_file
            where ${ofId(id)} and (${may(state, "forget", owner)}) returning id`
          return isNotEmpty(forgotten) || isNotEmpty(yield* happen(state, "remove", ofId(id), { owner }))
        }).pipe(freeing, kept, to("remove a file")),
      discard: (tenant, id) =>
        happen(state, "discard", ofTenant(tenant, id), {}).pipe(
          freeing,
          kept,
          to("discard a file"),
          Effect.map(isNotEmpty)
        ),
      page: (tenant, { after, direction, limit }) =>
        sql<Row>`select * from stevedore_file where tenant = ${tenant} and state = 'finalized' ${
          after === undefined
            ? nothing
            : sql`and (created_at, id) ${sql.literal(direction === "asc" ? ">" : "<")} (${
              float(sql, after.createdAt)
            }, ${after.id})`
        } order by created_at ${sql.literal(direction)}, id ${sql.literal(direction)} limit ${limit}`.pipe(
          to("list files"),
          Effect.map((rows) => rows.map(toFile))
        ),
      tenants: sql<
        { readonly tenant: string }
      >`select tenant from stevedore_usage group by tenant having sum(files) > 0`.pipe(
        to("list tenants"),
        Effect.map((rows) => rows.map(({ tenant }) => tenant))
      ),
      measures: measures(state).pipe(to("count what it has")),
      count: (tenant, before) =>
        sql<{ readonly files: number | string }>`select count(*) as files from stevedore_file
          where tenant = ${tenant} and state = 'finalized' ${
          before === undefined ? nothing : sql`and created_at < ${float(sql, before)}`
        }`.pipe(
          to("count files"),
          Effect.map(([row]) => Number(row?.files ?? 0))
        ),
      events: (...asked) => takeEvents(state, ...asked).pipe(to("find events")),
      delivered: (...events) =>
        sql`delete from stevedore_event where ${sql.in("id", events)}`.pipe(to("end events"), Effect.asVoid)
    }
  }
)

/**
 * The table over a database, whose tables are made first.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileTable, MigrationError | SqlError, SqlClient.SqlClient> = Layer.effect(
  FileTable,
  Effect.zipRight(migrate, make)
)
