import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Proof } from "@stevedore/core/UploadedFile"
import { isPostgres, now } from "@stevedore/server/SqlDatabase"
import * as Effect from "effect/Effect"
import { patient, rowsOf } from "./statements.js"

/** A chunk that a runner has claimed. Whoever claims it next has a higher epoch, and no write of this one counts then. */
export interface Fence {
  readonly job: number
  readonly n: number
  readonly epoch: number
}

/** A claim, with how often the chunk was claimed and neither finished nor given back. */
export interface Claim extends Fence {
  readonly tries: number
  readonly name: string
  readonly queue: string
  readonly location: string
  readonly chunkSize: number
  /** The span that submitted the job. */
  readonly trace: string | null
}

export interface FileRow {
  readonly seq: number
  readonly path: string
  readonly size: number
  readonly mediaType: string | null
  readonly attempts: number
  /** Of a file that was uploaded before, with this size and date: what it was, as JSON. */
  readonly checksum: string | null
  readonly fileId: string | null
  readonly proof: Proof | null
  /** What the ledger has of its upload, if another runner has begun it. */
  readonly record: string | null
}

/** How a file ended, as its row has it. */
export interface OutcomeRow {
  readonly seq: number
  readonly state: 1 | 2
  readonly file_id: string | null
  /** How its content was proven, if it was uploaded. */
  readonly proof: Proof | null
  /** Of its content, as JSON, if it is known. */
  readonly checksum: string | null
  readonly error: string | null
  /** 1 if the ledger keeps its record, because only that can tell later whether the file is there. */
  readonly kept: 0 | 1
}

export interface LedgerRow {
  readonly seq: number
  readonly record: string
  readonly receipts: string | null
}

const waiting = 0
const fed = 1
const done = 2

/** Whether a statement under a fence was carried out. */
const isHeld = Effect.map((rows: ReadonlyArray<{ readonly held: number }>) => rows.some(({ held }) => held > 0))

export const chunkStates = { waiting, fed, done } as const

/** The statements about one chunk. Each is one statement: no process can stop in the middle and hold up the others. */
export const make = Effect.map(SqlClient.SqlClient, (client) => {
  const sql = client.withoutTransforms()
  const clock = now(sql)
  const postgres = isPostgres(sql)

  const row = ({ job, n }: Pick<Fence, "job" | "n">) => sql`job = ${job} and n = ${n}`
  const mine = (fence: Fence) => sql`${row(fence)} and epoch = ${fence.epoch}`
  // A claim waits until the statement is done, or the statement sees the claim
  const fenced = (fence: Fence) => sql`with fence as (select 1 from bulk_chunk where ${mine(fence)} for share)`
  const exists = (fence: Fence) => sql`exists (select 1 from bulk_chunk where ${mine(fence)})`

  const claim = (
    { job, n, pass }: { readonly job: number; readonly n: number; readonly pass: number | undefined },
    runner: string
  ) =>
    sql<{ readonly epoch: number; readonly tries: number }>`
        update bulk_chunk set epoch = epoch + 1, tries = tries + 1, runner = ${runner}, seen_at = ${clock}
        where ${row({ job, n })} and state < ${done}
          and ${pass === undefined ? sql.literal("true") : sql`pass = ${pass}`}
          and exists (select 1 from bulk_job where id = ${job} and state = 'running')
        returning epoch, tries`

  const jobOf = (job: number) =>
    sql<Pick<Claim, "name" | "queue" | "location" | "chunkSize" | "trace">>`
        update bulk_job set started_at = coalesce(started_at, ${clock}) where id = ${job}
        returning name, queue, source as location, chunk_size as ${sql("chunkSize")}, trace`

  return {
    claim: (
      chunk: { readonly job: number; readonly n: number; readonly pass: number | undefined },
      runner: string
    ): Effect.Effect<Claim | undefined, SqlError> =>
      Effect.gen(function*() {
        const [claimed] = yield* claim(chunk, runner)
        if (claimed === undefined) return undefined
        const [job] = yield* jobOf(chunk.job)
        return job === undefined ? undefined : { ...chunk, ...claimed, ...job }
      }),

    /** Gives a chunk back that was not begun: its element is spent, and it is fed again under another. */
    refuse: ({ job, n, pass }: { readonly job: number; readonly n: number; readonly pass: number }) =>
      patient(
        "take chunks back",
        sql`update bulk_chunk set state = ${waiting}, pass = pass + 1
          where ${row({ job, n })} and state = ${fed} and pass = ${pass}`
      ),

    /** The files of a claimed chunk that have no outcome. */
    files: ({ chunkSize, job, n }: Claim) =>
      sql<FileRow>`
          select f.seq, f.path, f.size, f.media_type as ${sql("mediaType")}, f.attempts, f.checksum,
            f.file_id as ${sql("fileId")}, f.proof, l.record
          from bulk_file f left join bulk_ledger l on l.job = f.job and l.seq = f.seq
          where f.job = ${job} and f.seq >= ${n * chunkSize} and f.seq < ${(n + 1) * chunkSize} and f.state = 0
          order by f.seq`,

    /** Tells the others that the runner is alive. */
    see: (fence: Fence): Effect.Effect<boolean, SqlError> =>
      isHeld(
        sql<{ readonly held: number }>`
            update bulk_chunk set seen_at = ${clock} where ${mine(fence)} returning 1 as held`
      ),

    /** Counts a try of a file before it begins, in case that it does not end, or takes it back. */
    countAlone: (fence: Fence, seq: number, by: 1 | -1): Effect.Effect<boolean, SqlError> =>
      isHeld(
        sql<{ readonly held: number }>`
            update bulk_file set attempts = attempts + ${by} where job = ${fence.job} and seq = ${seq} and ${
          exists(fence)
        }
            returning 1 as held`
      ),

    /** The end of a chunk: done if each of its files has an outcome, and otherwise to be fed again. */
    release: ({ chunkSize, ...fence }: Claim): Effect.Effect<"done" | "released" | undefined, SqlError> => {
      const open = sql`exists (select 1 from bulk_file where job = ${fence.job}
          and seq >= ${fence.n * chunkSize} and seq < ${(fence.n + 1) * chunkSize} and state = 0)`
      return Effect.map(
        sql<{ readonly state: number }>`
            update bulk_chunk set runner = null, tries = 0, pass = pass + 1,
              state = case when ${open} then ${sql.literal(`${waiting}`)} else ${sql.literal(`${done}`)} end
            where ${mine(fence)} returning state`,
        ([ended]) => ended === undefined ? undefined : ended.state === done ? "done" : "released"
      )
    },

    /** Outcomes, with all that follows from them. A second time, it changes nothing. */
    settle: (fence: Fence, outcomes: ReadonlyArray<OutcomeRow>): Effect.Effect<boolean, SqlError> => {
      const rows = rowsOf(sql, outcomes, {
        seq: "integer",
        state: "integer",
        file_id: "text",
        proof: "text",
        checksum: "text",
        error: "text",
        kept: "integer"
      })
      return isHeld(
        postgres
          ? sql<{ readonly held: number }>`
              with fence as (select 1 from bulk_chunk where ${mine(fence)} for update),
              outcome as (select x.* from fence cross join ${rows}),
              filed as (
                update bulk_file f set state = o.state, file_id = o.file_id, proof = o.proof, checksum = o.checksum, error = o.error,
                  kept = o.kept
                from outcome o where f.job = ${fence.job} and f.seq = o.seq and f.state = 0
                returning f.state, f.size
              ),
              gone as (
                delete from bulk_ledger l using outcome o where l.job = ${fence.job} and l.seq = o.seq and o.kept = 0
              ),
              spent as (
                delete from bulk_receipt r using outcome o where r.job = ${fence.job} and r.seq = o.seq and o.kept = 0
              )
              update bulk_chunk set seen_at = ${clock},
                uploaded = uploaded + (select count(*)::integer from filed where state = 1),
                failed = failed + (select count(*)::integer from filed where state = 2),
                bytes = bytes + (select coalesce(sum(size), 0) from filed where state = 1)
              where ${mine(fence)} returning 1 as held`
          : sql<{ readonly held: number }>`
              update bulk_file set state = o.state, file_id = o.file_id, proof = o.proof, checksum = o.checksum, error = o.error,
                kept = o.kept
              from (select x.* from ${rows}) as o
              where bulk_file.job = ${fence.job} and bulk_file.seq = o.seq and ${exists(fence)}
              returning 1 as held`
      )
    },

    /** Records of uploads. What is late, because the file has its outcome, is not written. */
    record: (fence: Fence, records: ReadonlyArray<LedgerRow>): Effect.Effect<boolean, SqlError> => {
      const rows = rowsOf(sql, records, { seq: "integer", record: "text", receipts: "text" })
      const open = sql`exists (select 1 from bulk_file f where f.job = ${fence.job} and f.seq = x.seq and f.state = 0)`
      const insert = sql`insert into bulk_ledger (job, seq, record, receipts)`
      const replace = sql`on conflict (job, seq) do update set record = excluded.record, receipts = excluded.receipts`
      return isHeld(
        postgres
          ? sql<{ readonly held: number }>`
              ${fenced(fence)}, written as (
                ${insert} select ${fence.job}::integer, x.seq, x.record, x.receipts from fence cross join ${rows}
                where ${open} ${replace}
              )
              select count(*)::integer as held from fence`
          : sql<{ readonly held: number }>`
              ${insert} select ${fence.job}, x.seq, x.record, x.receipts from ${rows}
              where ${exists(fence)} ${replace} returning 1 as held`
      )
    },

    /** The receipt of a part. */
    receipt: (
      fence: Fence,
      part: { readonly seq: number; readonly fileId: string; readonly part: number; readonly receipt: string }
    ): Effect.Effect<boolean, SqlError> => {
      const insert = sql`insert into bulk_receipt (job, seq, file_id, part, receipt)`
      const values = sql`${part.seq}, ${part.fileId}, ${part.part}, ${part.receipt}`
      const replace = sql`on conflict (job, seq, file_id, part) do update set receipt = excluded.receipt`
      return isHeld(
        postgres
          ? sql<{ readonly held: number }>`
              ${fenced(fence)}, written as (
                ${insert} select ${fence.job}::integer, ${part.seq}::integer, ${part.fileId}, ${part.part}::integer,
                  ${part.receipt}
                from fence
                where exists (select 1 from bulk_file where job = ${fence.job} and seq = ${part.seq} and state = 0)
                ${replace}
              )
              select count(*)::integer as held from fence`
          : sql<{ readonly held: number }>`
              ${insert} select ${fence.job}, ${values} where ${exists(fence)} ${replace} returning 1 as held`
      )
    },

    /** What the ledger has of a file. */
    recorded: ({ job }: Fence, seq: number) =>
      sql<{ readonly record: string; readonly receipts: string | null }>`
          select record, receipts from bulk_ledger where job = ${job} and seq = ${seq}`,

    receiptsOf: ({ job }: Fence, seq: number, fileId: string) =>
      sql<{ readonly receipt: string }>`
          select receipt from bulk_receipt where job = ${job} and seq = ${seq} and file_id = ${fileId} order by part`,

    /** Deletes what the ledger has of a file that has no outcome. */
    forget: (fence: Fence, seq: number): Effect.Effect<void, SqlError> => {
      const file = sql`job = ${fence.job} and seq = ${seq} and ${exists(fence)}`
      return Effect.asVoid(
        Effect.zipRight(sql`delete from bulk_receipt where ${file}`, sql`delete from bulk_ledger where ${file}`)
      )
    },

    stateOf: (job: number): Effect.Effect<string, SqlError> =>
      Effect.map(
        sql<{ readonly state: string }>`select state from bulk_job where id = ${job}`,
        ([found]) => found?.state ?? "cancelled"
      )
  }
})

export type ChunkRows = Effect.Effect.Success<typeof make>
