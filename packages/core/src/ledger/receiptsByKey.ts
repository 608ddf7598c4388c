import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { PartReceipt } from "../UploadSession.js"
import type { TextStore } from "./jsonStore.js"
import { jsonStore } from "./jsonStore.js"
import type { UploadRecord } from "./record.js"
import type { RecordFailure, StoreError } from "./storeFailure.js"

export interface Receipts {
  /** Adds one to a session, replacing an earlier receipt for the same part. */
  readonly add: (
    record: UploadRecord,
    receipt: PartReceipt
  ) => Effect.Effect<void, RecordFailure>
  /** All receipts of a session, one per part, except those that cannot be read. */
  readonly all: (record: UploadRecord) => Effect.Effect<ReadonlyArray<PartReceipt>>
  /** Removes those of a session. */
  readonly remove: (record: UploadRecord) => Effect.Effect<void, StoreError>
}

const ReceiptJson = /* #__PURE__ */ Schema.parseJson(PartReceipt)

// The key contains the session's own file id, so receipts of one session can never be mistaken for another's.
const keyOf = (record: UploadRecord, partNumber: number): string =>
  `${record.id}/${record.session.fileId}-${partNumber}`

const partNumbers = (record: UploadRecord) => Arr.range(1, record.session.parts)

/** One key per receipt, because a key-value store cannot append. */
export const receiptsByKey = (store: TextStore): Receipts => {
  const receipts = jsonStore(store, ReceiptJson)
  return {
    add: (record, receipt) => receipts.set(keyOf(record, receipt.partNumber), receipt),
    all: (record) =>
      Effect.map(
        Effect.forEach(partNumbers(record), (number) =>
          receipts.get(keyOf(record, number)).pipe(
            Effect.map(Option.filter((receipt) => receipt.partNumber === number)),
            Effect.catchAll(() => Effect.succeedNone)
          )),
        Arr.getSomes
      ),
    remove: (record) =>
      Effect.forEach(partNumbers(record), (number) => store.remove(keyOf(record, number)), { discard: true })
  }
}
