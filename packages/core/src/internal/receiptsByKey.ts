import type { PlatformError } from "@effect/platform/Error"
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import type { UploadRecord } from "../UploadRecord.js"
import { PartReceipt } from "../UploadSession.js"

export interface Receipts {
  /** One more of a session: it takes the place of an earlier one of its part. */
  readonly add: (
    record: UploadRecord,
    receipt: PartReceipt
  ) => Effect.Effect<void, PlatformError | ParseResult.ParseError>
  /** All of a session by their parts, one a part, but for those that cannot be read. */
  readonly all: (record: UploadRecord) => Effect.Effect<ReadonlyArray<PartReceipt>>
  /** Those of a session are gone after it. */
  readonly remove: (record: UploadRecord) => Effect.Effect<void, PlatformError>
}

// By the session's own file id: receipts of one session can never be taken for another's.
const keyOf = (record: UploadRecord, partNumber: number): string =>
  `${record.id}/${record.session.fileId}-${partNumber}`

const partNumbers = (record: UploadRecord) => Arr.range(1, record.session.parts)

/** A key each: a store of keys and values cannot add to what it holds. */
export const receiptsByKey = (store: KeyValueStore.KeyValueStore): Receipts => {
  const receipts = store.forSchema(PartReceipt)
  return {
    add: (record, receipt) => receipts.set(keyOf(record, receipt.partNumber), receipt),
    all: (record) =>
      Effect.map(
        Effect.forEach(partNumbers(record), (number) =>
          receipts.get(keyOf(record, number)).pipe(
            Effect.map(Option.filter((receipt) => receipt.partNumber === number)),
            Effect.orElseSucceed(Option.none)
          )),
        Arr.getSomes
      ),
    remove: (record) =>
      Effect.forEach(partNumbers(record), (number) => store.remove(keyOf(record, number)), { discard: true })
  }
}
