/** The tables of bulk jobs, in PostgreSQL and in SQLite. */
import type { MigrationError } from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlPersistedQueue from "@effect/sql/SqlPersistedQueue"
import * as SqlDatabase from "@stevedore/server/SqlDatabase"
import * as Effect from "effect/Effect"
import { queueTable } from "./jobs/statements.js"

// A job is a number, so that the row of a file stays small. Times are milliseconds of the database's clock, and sizes
// are bytes: whole numbers that every driver gives as a number, which it does not for BIGINT.
const tables = [
  `create table bulk_job (
    id integer primary key,
    name text not null unique,
    trace text,
    state text not null,
    source text not null,
    queue text not null,
    epoch integer not null,
    chunk_size integer not null,
    total integer not null default 0,
    bytes double precision not null default 0,
    created_at double precision not null,
    started_at double precision,
    done_at double precision
  )`,
  `create table bulk_chunk (
    job integer not null,
    n integer not null,
    state integer not null default 0,
    epoch integer not null default 0,
    pass integer not null default 0,
    tries integer not null default 0,
    runner text,
    uploaded integer not null default 0,
    failed integer not null default 0,
    bytes double precision not null default 0,
    seen_at double precision,
    primary key (job, n)
  )`,
  "create index bulk_chunk_open on bulk_chunk (job, state, n) where state < 2",
  `create table bulk_file (
    job integer not null,
    seq integer not null,
    path text not null,
    size double precision not null,
    media_type text,
    modified text,
    changed text,
    checksum text,
    state integer not null default 0,
    attempts integer not null default 0,
    file_id text,
    proof text,
    error text,
    kept integer not null default 0,
    primary key (job, seq)
  )`,
  "create index bulk_file_failed on bulk_file (job, seq) where state = 2",
  `create table bulk_ledger (
    job integer not null,
    seq integer not null,
    record text not null,
    receipts text,
    primary key (job, seq)
  )`,
  `create table bulk_receipt (
    job integer not null,
    seq integer not null,
    file_id text not null,
    part integer not null,
    receipt text not null,
    primary key (job, seq, file_id, part)
  )`,
  `create table bulk_rate (
    token text primary key,
    ends_at double precision not null,
    used integer not null,
    calls integer not null,
    window_millis double precision not null
  )`
]

// What PostgreSQL does in one statement, SQLite does in one statement with a trigger: an outcome, the end of what the
// ledger has of the file, and the sums of the chunk are one change.
const settling = `create trigger bulk_file_settled after update of state on bulk_file
  when old.state = 0 and new.state > 0
  begin
    delete from bulk_ledger where job = new.job and seq = new.seq and new.kept = 0;
    delete from bulk_receipt where job = new.job and seq = new.seq and new.kept = 0;
    update bulk_chunk set
      uploaded = uploaded + (new.state = 1),
      failed = failed + (new.state = 2),
      bytes = bytes + (case when new.state = 1 then new.size else 0 end)
    where job = new.job and n = new.seq / (select chunk_size from bulk_job where id = new.job);
  end`

// Each row lives for a moment: without this, the tables grow by what is dead until a fifth of them is
const vacuumed = ["bulk_ledger", "bulk_receipt"].map((table) =>
  `alter table ${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`
)

// Whatever of a chunk's files has failed waits again, in the statement that says so of the chunk
const retrying = `create trigger bulk_chunk_retried after update of failed on bulk_chunk
  when old.failed > 0 and new.failed = 0
  begin
    update bulk_file set state = 0, attempts = 0, error = null, kept = 0
    where job = new.job and state = 2 and seq / (select chunk_size from bulk_job where id = new.job) = new.n;
    update bulk_job set state = 'running', done_at = null where id = new.job and state in ('done', 'paused');
  end`

const jobs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const postgres = SqlDatabase.isPostgres(sql)
  yield* SqlDatabase.run(() => postgres ? [...tables, ...vacuumed] : [...tables, settling, retrying])
  // the queue makes its own table, but two processes that do so at once get in each other's way
  if (postgres) yield* Effect.scoped(SqlPersistedQueue.make({ tableName: queueTable }))
})

/**
 * Makes the tables that are missing, and does nothing if none is. The names of all of them begin with `bulk_`. Safe to
 * run anywhere, any number of times, and by several processes at once. The ledger's table holds pre-signed URLs while
 * files are uploaded: each is the right to send one part, for as long as the service says (three hours by its contract).
 * Let nobody but the runners read it.
 *
 * @category migrations
 */
export const migrate: Effect.Effect<void, MigrationError | SqlError, SqlClient.SqlClient> = SqlDatabase.migrate({
  table: "bulk_migrations",
  migrations: { "0001_jobs": jobs }
})
