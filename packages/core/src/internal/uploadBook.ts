import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Checksum from "../Checksum.js"
import { ServiceApi } from "../ServiceApi.js"
import type { Journal } from "../SessionTransfer.js"
import type * as UploadLedger from "../UploadLedger.js"
import type { UploadRecord } from "../UploadRecord.js"
import type { UploadSession } from "../UploadSession.js"
import { uploadIdOf, urlsOf } from "../UploadSession.js"
import type { UploadSource } from "../UploadSource.js"

/** Where a source's upload is recorded; without an id, it is not. */
export interface Book {
  readonly id: Option.Option<string>
  readonly ledger: UploadLedger.Service
}

/** What is recorded about a session before anything is sent. */
export const recordOf = (
  source: UploadSource,
  id: string,
  session: UploadSession
): Effect.Effect<UploadRecord, never, ServiceApi> =>
  Effect.gen(function*() {
    const { clockOffset, fileId, openedAt } = session
    const urls = urlsOf(session)
    return {
      version: 1,
      id,
      service: (yield* ServiceApi).baseUrl,
      name: source.name,
      mediaType: source.mediaType,
      fingerprint: source.fingerprint,
      checksumAlgorithm: (yield* Checksum.Algorithm).name,
      session: {
        fileId,
        clockOffset,
        openedAt,
        parts: urls.length,
        urls,
        uploadId: uploadIdOf(session)
      },
      phase: "uploading",
      startedAt: yield* Clock.currentTimeMillis
    }
  })

export interface SessionJournal extends Journal {
  readonly forget: Effect.Effect<void>
}

export const noJournal: SessionJournal = { received: () => Effect.void, completing: Effect.void, forget: Effect.void }

export const journalOf = (ledger: UploadLedger.Service, record: UploadRecord): SessionJournal => ({
  received: (receipt) => ledger.receive(record, receipt),
  completing: ledger.completing(record),
  forget: ledger.forget(record)
})
