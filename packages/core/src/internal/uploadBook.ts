import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Journal } from "../SessionTransfer.js"
import type * as UploadLedger from "../UploadLedger.js"
import type { UploadRecord } from "../UploadRecord.js"

/** Where a source's upload is recorded; without an id, it is not. */
export interface Book {
  readonly id: Option.Option<string>
  readonly ledger: UploadLedger.Service
}

export interface SessionJournal extends Journal {
  readonly forget: Effect.Effect<void>
}

export const noJournal: SessionJournal = { received: () => Effect.void, completing: Effect.void, forget: Effect.void }

export const journalOf = (ledger: UploadLedger.Service, record: UploadRecord): SessionJournal => ({
  received: (receipt) => ledger.receive(record, receipt),
  // a ledger may be anybody's code: what it does when it is called must not be done before
  completing: Effect.suspend(() => ledger.completing(record)),
  forget: Effect.suspend(() => ledger.forget(record))
})
