import type { SqlError } from "@effect/sql/SqlError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { PartReceipt } from "@stevedore/core/UploadSession"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ChunkRows, Fence, LedgerRow } from "../jobs/chunkRows.js"
import { patient } from "../jobs/statements.js"

/** The ledger of one file, with what decides about its record when the file has its outcome. */
export interface FileLedger {
  readonly service: UploadLedger.Service
  /** Whether the upload has given up its session, so that nothing is left to remember. */
  readonly isForgotten: () => boolean
}

/** The ledgers of the files of one claimed chunk. */
export interface ChunkLedger {
  readonly of: (seq: number) => FileLedger
}

type UploadRecord = UploadLedger.Unfinished["record"]

const RecordJson = Schema.parseJson(UploadLedger.Unfinished.fields.record)
const ReceiptsJson = Schema.parseJson(Schema.Array(PartReceipt))
const ReceiptJson = Schema.parseJson(PartReceipt)
// What an upload gives is what the schemas describe, and so can be encoded
const recordText: (record: UploadRecord) => string = Schema.encodeSync(RecordJson)
/** What a row of the ledger says of an upload; none if it has nothing, or what a later version wrote. */
export const decodeRecord = Schema.decodeOption(RecordJson)
const receiptsText: (receipts: ReadonlyArray<PartReceipt>) => string = Schema.encodeSync(ReceiptsJson)
const decodeReceipts = Schema.decodeOption(ReceiptsJson)
const receiptText: (receipt: PartReceipt) => string = Schema.encodeSync(ReceiptJson)
const decodeReceipt = Schema.decodeOption(ReceiptJson)

/** How long the records of several files are gathered for one statement. */
const gathered = Duration.millis(4)

/** Longer than a database takes that works: what is not worth waiting for is left out then. */
const worthwhile = Duration.seconds(8)

interface Gathered extends LedgerRow {
  readonly written: Deferred.Deferred<void>
}

/** The records of a few milliseconds in one statement, in the order in which they came. */
const makeGroup = (write: (records: ReadonlyArray<LedgerRow>) => Effect.Effect<boolean>) =>
  Effect.map(Effect.scope, (scope) => {
    let group: Array<Gathered> = []
    const flush = Effect.delay(
      Effect.suspend(() => {
        const records = group
        group = []
        return Effect.flatMap(
          write(records.map(({ written: _, ...record }) => record)),
          (held) =>
            held
              ? Effect.forEach(records, ({ written }) => Deferred.succeed(written, undefined), { discard: true })
              // whoever waits is interrupted with the chunk
              : Effect.void
        )
      }),
      gathered
    )
    return (record: LedgerRow): Effect.Effect<void> =>
      Effect.gen(function*() {
        const written = yield* Deferred.make<void>()
        group.push({ ...record, written })
        if (group.length === 1) yield* Effect.forkIn(flush, scope)
        yield* Deferred.await(written)
      })
  })

/**
 * A ledger in the database, for the files of a claimed chunk. It has no lock, so there is no dead owner: the epoch of the
 * chunk fences, and a runner that was replaced is told by `lost`. Nothing is completed without its record: `completing`
 * waits until the database has it, and does not return to a runner that was replaced. The record ends with the outcome,
 * not with `forget`: a process that dies in between leaves what its successor completes.
 */
export const make = (
  { fence, isHeld, keepUrls, lost, rows }: {
    readonly rows: ChunkRows
    readonly fence: Fence
    readonly isHeld: Effect.Effect<boolean>
    readonly lost: Deferred.Deferred<void>
    readonly keepUrls: boolean
  }
) =>
  Effect.gen(function*() {
    const told = (held: boolean) => Effect.as(held ? Effect.void : Deferred.succeed(lost, undefined), held)
    const record = yield* makeGroup((records) =>
      Effect.flatMap(patient("take records of uploads", rows.record(fence, records)), told)
    )

    // An upload cannot be interrupted here, and goes on without: another machine then starts this file over
    const ifWorthwhile = (statement: Effect.Effect<boolean | void, SqlError>) =>
      patient("take records of uploads", statement).pipe(
        Effect.timeoutOption(worthwhile),
        Effect.flatMap(Option.match({ onNone: () => Effect.void, onSome: (held) => told(held !== false) })),
        Effect.asVoid
      )

    const receiptsOf = (seq: number, found: { readonly receipts: string | null }, { session }: UploadRecord) =>
      found.receipts !== null
        ? Effect.succeed(Option.getOrElse(decodeReceipts(found.receipts), () => []))
        : Effect.map(
          patient("answer", rows.receiptsOf(fence, seq, session.fileId)),
          (receipts) => receipts.flatMap(({ receipt }) => Option.toArray(decodeReceipt(receipt)))
        )

    const find = (seq: number): Effect.Effect<Option.Option<UploadLedger.Unfinished>> =>
      Effect.gen(function*() {
        const [found] = yield* patient("answer", rows.recorded(fence, seq))
        const record = Option.flatMap(Option.fromNullable(found), ({ record }) => decodeRecord(record))
        if (found === undefined || Option.isNone(record)) return Option.none()
        return Option.some({ record: record.value, receipts: yield* receiptsOf(seq, found, record.value) })
      })

    const isMultipart = ({ session }: UploadRecord) => session.uploadId !== undefined

    const of = (seq: number): FileLedger => {
      let completing = false
      let forgotten = false
      let single: ReadonlyArray<PartReceipt> | undefined
      const service: UploadLedger.Service = {
        keepUrls,
        patience: Duration.infinity,
        lock: () => Effect.succeed(true),
        isHeld: () => isHeld,
        find: () =>
          Effect.tap(find(seq), (found) =>
            Effect.sync(() => completing = Option.exists(found, ({ record }) => record.phase === "completing"))),
        // A small file has one write in all, with everything in it: before Complete
        begin: (begun) =>
          Effect.suspend(() => {
            completing = false
            forgotten = false
            single = undefined
            const kept = keepUrls ? begun : UploadLedger.withoutUrls(begun)
            return isMultipart(begun)
              ? ifWorthwhile(rows.record(fence, [{ seq, record: recordText(kept), receipts: null }]))
              : Effect.void
          }),
        receive: (begun, receipt) =>
          Effect.suspend(() => {
            if (isMultipart(begun)) {
              const { session: { fileId } } = begun
              const part = { seq, fileId, part: receipt.partNumber, receipt: receiptText(receipt) }
              return ifWorthwhile(rows.receipt(fence, part))
            }
            single = [receipt]
            return Effect.void
          }),
        completing: (begun) =>
          Effect.suspend(() => {
            completing = true
            return record({
              seq,
              record: recordText({ ...UploadLedger.withoutUrls(begun), phase: "completing" }),
              receipts: single === undefined ? null : receiptsText(single)
            })
          }),
        forget: (begun) =>
          Effect.suspend(() => {
            forgotten = true
            return completing || !isMultipart(begun) ? Effect.void : ifWorthwhile(rows.forget(fence, seq))
          }),
        unfinished: Effect.succeed([])
      }
      return {
        service,
        isForgotten: () =>
          forgotten
      }
    }

    const ledger: ChunkLedger = { of }
    return ledger
  })
