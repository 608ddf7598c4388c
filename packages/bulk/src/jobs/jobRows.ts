import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import type { Proof } from "@stevedore/core/UploadedFile"
import { isPostgres, now } from "@stevedore/server/SqlDatabase"
import * as Effect from "effect/Effect"
import { chunkStates } from "./chunkRows.js"
import { answered, queueOf, queueTable, rowsOf } from "./statements.js"

export interface JobRow {
  readonly id: number
  readonly name: string
  readonly state: "loading" | "running" | "paused" | "cancelled" | "done"
  readonly queue: string
  readonly location: string
  readonly epoch: number
  readonly total: number
  readonly chunks: number
  readonly bytes: number
  /** Milliseconds since its first file began; null before. */
  readonly elapsed: number | null
}

export interface SumsRow {
  readonly uploaded: number
  readonly failed: number
  readonly bytes: number
  /** How many of its chunks a runner works on. */
  readonly held: number
  /** What the rate limit lets pass, in calls for each millisecond; null without a limit. */
  readonly pace: number | null
}

export interface Working {
  readonly runner: string
  readonly job: string
  readonly chunk: number
  readonly uploaded: number
  readonly failed: number
  /** How long ago it said that it lives. */
  readonly silentMillis: number
}

export interface EntryRow {
  readonly seq: number
  readonly path: string
  readonly size: number
  readonly media_type: string | null
  readonly modified: string | null
  readonly changed: string | null
}

/** A job that runs. */
export interface RunningRow {
  readonly id: number
  /** When it was submitted: with its number, what no other job ever has. */
  readonly since: number
  readonly queue: string
  /** How many of its chunks are in the queue, or taken from it. */
  readonly fed: number
}

export interface FedRow {
  readonly n: number
  readonly pass: number
}

export interface SilentRow extends FedRow {
  readonly job: number
}

/** What a manifest says of a file. */
const described = { path: "text", size: "float8", media_type: "text", modified: "text", changed: "text" } as const

const overStates = ["done", "cancelled"]

/** The statements about jobs. */
export const make = Effect.map(SqlClient.SqlClient, (client) => {
  const sql = client.withoutTransforms()
  const clock = now(sql)
  const postgres = isPostgres(sql)
  const { done, fed, waiting } = chunkStates

  const first = <A>(rows: Effect.Effect<ReadonlyArray<A>, SqlError>): Effect.Effect<A | undefined, SqlError> =>
    answered(Effect.map(rows, ([row]) => row))

  const loaded = (job: number, epoch: number) =>
    sql`exists (select 1 from bulk_job where id = ${job} and epoch = ${epoch} and state = 'loading' ${
      postgres ? sql.literal("for share") : sql.literal("")
    })`

  const cleared = (job: number, condition: Fragment) =>
    Effect.forEach(
      ["bulk_file", "bulk_chunk", "bulk_ledger", "bulk_receipt"],
      (table) => sql`delete from ${sql(table)} where job = ${job} and ${condition}`,
      { discard: true }
    )

  return {
    find: (name: string) =>
      first(sql<JobRow>`
          select id, name, state, queue, source as location, epoch, total, bytes, (total + chunk_size - 1) / chunk_size as chunks,
            coalesce(done_at, ${clock}) - started_at as elapsed
          from bulk_job where name = ${name}`),

    all: answered(sql<{ readonly name: string }>`select name from bulk_job order by id`),

    working: answered(sql<Working>`
        select runner, name as job, n as chunk, uploaded, failed, ${clock} - seen_at as ${sql("silentMillis")}
        from bulk_chunk join bulk_job on bulk_job.id = job where bulk_chunk.state < 2 and runner is not null
        order by runner, job, n`),

    /** The job is made if there is none, and its loading begins, again if an earlier one did not come to its end. */
    beginLoading: (
      job: {
        readonly name: string
        readonly queue: string
        readonly location: string
        readonly chunkSize: number
        readonly trace: string | undefined
      }
    ) =>
      first(sql<{ readonly id: number; readonly epoch: number }>`
          insert into bulk_job (id, name, state, source, queue, epoch, chunk_size, created_at, trace)
          values ((select coalesce(max(id), 0) + 1 from bulk_job), ${job.name}, 'loading', ${job.location},
            ${job.queue}, 1, ${job.chunkSize}, ${clock}, ${job.trace ?? null})
          on conflict (name) do update set epoch = bulk_job.epoch + 1, source = excluded.source,
            queue = excluded.queue, chunk_size = excluded.chunk_size, trace = excluded.trace
          where bulk_job.state = 'loading'
          returning id, epoch`),

    /** Deletes what an earlier loading has left, unless another process loads the job meanwhile, or has loaded it. */
    clear: (job: number, epoch: number) => cleared(job, loaded(job, epoch)),

    /**
     * The files of a manifest; whether this is still the loading that counts. None is there already: a later loading
     * begins when the statements of an earlier one are done, and deletes what they have written.
     */
    load: (job: number, epoch: number, entries: ReadonlyArray<EntryRow>): Effect.Effect<boolean, SqlError> => {
      const rows = rowsOf(sql, entries, { seq: "integer", ...described })
      const insert = sql`insert into bulk_file (job, seq, path, size, media_type, modified, changed)`
      const columns = sql.literal("x.seq, x.path, x.size, x.media_type, x.modified, x.changed")
      return Effect.map(
        postgres
          ? sql<{ readonly held: number }>`
              with fence as (select 1 where ${loaded(job, epoch)}),
              written as (${insert} select ${job}::integer, ${columns} from fence cross join ${rows})
              select count(*)::integer as held from fence`
          : sql<{ readonly held: number }>`
              ${insert} select ${job}, ${columns} from ${rows} where ${loaded(job, epoch)} returning 1 as held`,
        (written) => written.some(({ held }) => held > 0)
      )
    },

    /** The chunks of a loaded job, which runs from here on. */
    finishLoading: (
      job: number,
      epoch: number,
      sums: { readonly total: number; readonly bytes: number; readonly chunks: number }
    ): Effect.Effect<void, SqlError> =>
      Effect.asVoid(Effect.zipRight(
        postgres
          ? sql`insert into bulk_chunk (job, n) select ${job}::integer, generate_series(0, ${sums.chunks - 1}::integer)
                where ${loaded(job, epoch)} on conflict do nothing`
          : sql`insert into bulk_chunk (job, n)
                with recursive c(n) as (select 0 union all select n + 1 from c where n < ${sums.chunks - 1})
                select ${job}, n from c where n < ${sums.chunks} and ${loaded(job, epoch)} on conflict do nothing`,
        sql`update bulk_job set state = 'running', total = ${sums.total}, bytes = ${sums.bytes}
            where id = ${job} and epoch = ${epoch} and state = 'loading'`
      )),

    /**
     * Those of these files that a loaded job does not have, by path: none of that path waits, and none that has an outcome
     * had this size, date, and what else its file system knows of it.
     */
    unknown: (
      job: number,
      entries: ReadonlyArray<Omit<EntryRow, "seq">>
    ): Effect.Effect<ReadonlyArray<string>, SqlError> => {
      const given = rowsOf(sql, entries, described)
      const ofJob = sql`from bulk_file where job = ${job}`
      return answered(Effect.map(
        sql<{ readonly path: string }>`
            select path from (
              select x.path, x.size, x.modified, x.changed from ${given}
              except select path, size, modified, changed ${ofJob}
            ) as y
            except select path ${ofJob} and state = 0`,
        (rows) => rows.map(({ path }) => path)
      ))
    },

    /**
     * More files for a loaded job, which runs again if it was done: all of them, or none if somebody else has added some
     * meanwhile, or cancelled it.
     */
    add: (
      job: number,
      total: number,
      entries: ReadonlyArray<Omit<EntryRow, "seq">>
    ): Effect.Effect<boolean, SqlError> => {
      const bytes = entries.reduce((sum, { size }) => sum + size, 0)
      const rows = rowsOf(
        sql,
        entries.map((entry, index) => ({ ...entry, seq: total + index })),
        { seq: "integer", ...described }
      )
      const of = sql`bulk_job.id = ${job}`
      // SQLite has every parameter as a float
      const first = sql`cast(${total} as integer)`
      return sql.withTransaction(Effect.gen(function*() {
        const changed = yield* sql`update bulk_job set total = total + ${entries.length}, bytes = bytes + ${bytes},
              state = case when state = 'done' then 'running' else state end, done_at = null
            where ${of} and total = ${total} and ${sql.in("state", ["running", "paused", "done"])} returning 1 as held`
        if (changed.length === 0) return false
        // where size and date agree, whoever uploads it compares its content with what was uploaded
        yield* sql`insert into bulk_file (job, seq, path, size, media_type, modified, changed, checksum, file_id, proof)
            select cast(${job} as integer), x.seq, x.path, x.size, x.media_type, x.modified, x.changed,
              p.checksum, p.file_id, p.proof
            from ${rows}
            left join (
              select path, max(seq) as seq from bulk_file where job = ${job} and state = 1 group by path
            ) as y on y.path = x.path
            left join bulk_file p on p.job = ${job} and p.seq = y.seq and p.size = x.size and p.modified = x.modified`
        // the last chunk was perhaps not full
        yield* sql`update bulk_chunk set state = ${waiting}, pass = pass + 1, tries = 0
            where job = ${job} and state = ${done} and n = ${first} / (select chunk_size from bulk_job where ${of})`
        yield* sql`insert into bulk_chunk (job, n)
            with recursive c(n) as (
              select ${first} / chunk_size from bulk_job where ${of}
              union all select n + 1 from c where n < (select (total - 1) / chunk_size from bulk_job where ${of})
            )
            select cast(${job} as integer), n from c where true on conflict do nothing`
        return true
      }))
    },

    sums: (job: number) =>
      answered(Effect.map(
        sql<SumsRow>`
            select ${
          postgres
            ? sql.literal(
              "coalesce(sum(uploaded), 0)::float8 as uploaded, coalesce(sum(failed), 0)::float8 as failed, " +
                "coalesce(sum(bytes), 0) as bytes, count(runner)::float8 as held"
            )
            : sql.literal(
              "coalesce(sum(uploaded), 0) as uploaded, coalesce(sum(failed), 0) as failed, " +
                "coalesce(sum(bytes), 0) as bytes, count(runner) as held"
            )
        },
              (select min(calls / window_millis) from bulk_rate where ends_at + window_millis > ${clock}) as pace
            from bulk_chunk where job = ${job}`,
        ([row]): SumsRow => row ?? { uploaded: 0, failed: 0, bytes: 0, held: 0, pace: null }
      )),

    failures: (job: number, after: number) =>
      answered(sql<{ readonly seq: number; readonly path: string; readonly error: string | null }>`
          select seq, path, error from bulk_file where job = ${job} and state = 2 and seq > ${after}
          order by seq limit 500`),

    files: (job: number, after: number) =>
      answered(sql<{ readonly seq: number; readonly path: string; readonly fileId: string; readonly proof: Proof }>`
          select seq, path, file_id as ${sql("fileId")}, proof from bulk_file
          where job = ${job} and state = 1 and seq > ${after} order by seq limit 500`),

    /** A change of state, from any of those named. */
    change: (job: number, from: ReadonlyArray<JobRow["state"]>, to: JobRow["state"]) =>
      answered(sql`update bulk_job set state = ${to} where id = ${job} and ${sql.in("state", from)}`),

    /** Failed files wait again, with their chunks: one statement, of which SQLite's trigger does the rest. */
    retry: (job: number): Effect.Effect<void, SqlError> =>
      Effect.asVoid(
        postgres
          ? sql`
              with retried as (
                update bulk_file f set state = 0, attempts = 0, error = null, kept = 0
                from bulk_job j where j.id = ${job} and f.job = j.id and f.state = 2
                returning f.seq / j.chunk_size as n
              ),
              counted as (select n, count(*)::integer as files from retried group by n),
              chunk as (
                update bulk_chunk c set state = ${waiting}, pass = pass + 1, tries = 0, failed = failed - counted.files
                from counted where c.job = ${job} and c.n = counted.n
              )
              update bulk_job set state = 'running', done_at = null where id = ${job} and state in ('done', 'paused')`
          : sql`
              update bulk_chunk set state = ${waiting}, pass = pass + 1, tries = 0, failed = 0
              where job = ${job} and failed > 0`
      ),

    /** Deletes a job that has ended, with what is left of it in the queue. */
    forget: (job: number) => {
      const over = sql`exists (select 1 from bulk_job where id = ${job} and ${sql.in("state", overStates)})`
      return Effect.all([
        postgres
          ? sql`delete from ${sql(queueTable)} where queue_name = ${queueOf(job)} and ${over}`
          : Effect.void,
        cleared(job, over),
        sql`delete from bulk_job where id = ${job} and ${sql.in("state", overStates)}`
      ], { discard: true })
    },

    /** The jobs that run, of queues that this process can serve: so many of them, the oldest first. */
    running: (queues: ReadonlyArray<string>, most: number): Effect.Effect<ReadonlyArray<RunningRow>, SqlError> =>
      queues.length === 0
        ? Effect.succeed([])
        : answered(sql<RunningRow>`
            select id, created_at as since, queue, ${
          postgres ? sql.literal("(select count(*)::integer") : sql.literal("(select count(*)")
        } from bulk_chunk where job = bulk_job.id and state = ${fed}) as fed
            from bulk_job where state = 'running' and ${sql.in("queue", queues)} order by id limit ${most}`),

    /** What a runner must have to find the files of a job; undefined if there is no such job. */
    queueOf: (job: number) =>
      Effect.map(
        sql<{ readonly queue: string }>`select queue from bulk_job where id = ${job}`,
        ([found]) => found?.queue
      ),

    /** A job whose chunks are all done is done. */
    finish: (queues: ReadonlyArray<string>) =>
      queues.length === 0
        ? Effect.void
        : answered(sql`update bulk_job set state = 'done', done_at = ${clock}
            where state = 'running' and ${sql.in("queue", queues)}
              and not exists (select 1 from bulk_chunk where job = bulk_job.id and state < ${done})`),

    /** Chunks that wait, in order. */
    toFeed: (job: number, most: number) =>
      answered(
        sql<FedRow>`select n, pass from bulk_chunk where job = ${job} and state = ${waiting} order by n limit ${most}`
      ),

    /** Marks a chunk as fed. */
    fed: (job: number, { n, pass }: FedRow) =>
      answered(sql`update bulk_chunk set state = ${fed}, seen_at = ${clock}
          where job = ${job} and n = ${n} and state = ${waiting} and pass = ${pass}`),

    /** The lease of an element that this process works on begins again. */
    renew: (element: string) =>
      sql`update ${sql(queueTable)} set acquired_at = now() where id = ${element} and not completed`,

    /** All that was fed waits again under another pass. */
    feedAllAgain: sql`update bulk_chunk set state = ${waiting}, pass = pass + 1, runner = null where state = ${fed}`,

    /**
     * A chunk whose runner has been silent for this long, if there is one, under another pass: what the queue delivers of
     * it does nothing any more, and nobody else is given it here until this one is as silent.
     */
    takeSilent: (queues: ReadonlyArray<string>, silentMillis: number): Effect.Effect<SilentRow | undefined, SqlError> =>
      queues.length === 0
        ? Effect.succeed(undefined)
        : first(sql<SilentRow>`
            update bulk_chunk set pass = pass + 1, seen_at = ${clock}
            where (job, n) = (
              select c.job, c.n from bulk_chunk c join bulk_job j on j.id = c.job
              where j.state = 'running' and ${sql.in("j.queue", queues)} and c.state = ${fed}
                and c.runner is not null and c.seen_at < ${clock} - ${silentMillis}
              order by c.seen_at limit 1 for update of c skip locked
            )
            returning job, n, pass`),

    /** Chunks that were fed, and that no runner has shown for this long, wait again under another pass. */
    feedAgain: (job: number, silentMillis: number) =>
      answered(sql`update bulk_chunk set state = ${waiting}, pass = pass + 1
          where job = ${job} and state = ${fed} and seen_at < ${clock} - ${silentMillis}`)
  }
})

export type JobRows = Effect.Effect.Success<typeof make>
