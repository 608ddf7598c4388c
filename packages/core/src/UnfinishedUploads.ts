/**
 * The uploads that a ledger has and that are not finished.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { UploadLocked } from "./UploadError.js"
import * as UploadLedger from "./UploadLedger.js"

/**
 * An upload that an earlier process left, or that is running: to go on with it, upload the same source again.
 *
 * @since 0.1.0
 * @category models
 */
export interface UnfinishedUpload {
  /** What the ledger calls it. */
  readonly id: string
  /** The service's base URL. */
  readonly service: string
  readonly name: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** `completing` from when all parts were in storage and the service was about to be told. */
  readonly phase: "uploading" | "completing"
  /** What storage has confirmed, in bytes. */
  readonly confirmed: number
  readonly parts: { readonly total: number; readonly confirmed: number }
  readonly startedAt: Date
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
  startedAt: new Date(record.startedAt)
})

/**
 * The uploads of the ledger in force that are not finished, in the order in which they began. No URL is in them.
 *
 * @since 0.1.0
 * @category unfinished
 */
export const unfinished: Effect.Effect<ReadonlyArray<UnfinishedUpload>> = Effect.flatMap(
  UploadLedger.UploadLedger,
  (ledger) => Effect.map(ledger.unfinished, (uploads) => uploads.map(unfinishedOf))
)

/**
 * Deletes an unfinished upload from the ledger in force: it begins anew when its source is uploaded again. `false` when
 * the ledger has none of this id. One that is running is not deleted: `UploadLocked`.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const forgetAll = Effect.flatMap(
 *   Uploads.unfinished,
 *   Effect.forEach(({ id }) => Uploads.forget(id), { discard: true })
 * )
 *
 * @since 0.1.0
 * @category unfinished
 */
export const forget = (id: string): Effect.Effect<boolean, UploadLocked> =>
  Effect.gen(function*() {
    const ledger = yield* UploadLedger.UploadLedger
    const found = yield* ledger.find(id)
    if (Option.isNone(found)) return false
    if (!(yield* ledger.lock(id))) return yield* new UploadLocked({ name: found.value.record.name })
    yield* ledger.forget(found.value.record)
    return true
  }).pipe(Effect.scoped)
