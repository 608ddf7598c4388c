/** The unfinished uploads of a ledger. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Metadata } from "../Metadata.js"
import { UploadLocked } from "../UploadError.js"
import * as UploadLedger from "../UploadLedger.js"

/** An upload that an earlier process left behind, or that is running. To continue it, upload the same source again. */
export interface UnfinishedUpload {
  /** Its id in the ledger. */
  readonly id: string
  /** The service's base URL. */
  readonly service: string
  readonly name: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** `completing` from when all parts were in storage and Complete was about to be sent. */
  readonly phase: "uploading" | "completing"
  /** What storage has confirmed, in bytes. */
  readonly confirmed: number
  readonly parts: { readonly total: number; readonly confirmed: number }
  readonly startedAt: Date
  /** What travels with it; none if nothing was given. */
  readonly metadata?: Metadata | undefined
}

const unfinishedOf = ({ receipts, record }: UploadLedger.Unfinished): UnfinishedUpload => ({
  id: record.id,
  service: record.service,
  name: record.name,
  mediaType: record.mediaType,
  size: record.fingerprint.size,
  phase: record.phase,
  confirmed: receipts.reduce((bytes, { size }) => bytes + size, 0),
  parts: { total: record.session.parts, confirmed: receipts.length },
  startedAt: new Date(record.startedAt),
  ...(record.metadata && { metadata: record.metadata })
})

/** The unfinished uploads of the ledger in force, in the order in which they started. They contain no URLs. */
export const unfinished: Effect.Effect<ReadonlyArray<UnfinishedUpload>> = Effect.flatMap(
  UploadLedger.UploadLedger,
  (ledger) => Effect.map(ledger.unfinished, (uploads) => uploads.map(unfinishedOf))
)

/**
 * Deletes an unfinished upload from the ledger in force, so that its source starts over when it is uploaded again.
 * Returns `false` if the ledger has no upload with this id. Fails with `UploadLocked` if it is running.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const forgetAll = Effect.flatMap(
 *   Uploads.unfinished,
 *   Effect.forEach(({ id }) => Uploads.forget(id), { discard: true })
 * )
 */
export const forget = (id: string): Effect.Effect<boolean, UploadLocked> =>
  Effect.gen(function*() {
    const ledger = yield* UploadLedger.UploadLedger
    const found = yield* ledger.find(id)
    if (Option.isNone(found)) return false
    if (!(yield* ledger.lock(id))) return yield* new UploadLocked({ fileName: found.value.record.name })
    yield* ledger.forget(found.value.record)
    return true
  }).pipe(Effect.scoped)
