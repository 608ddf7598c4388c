import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"

/**
 * The ledger in force, for one upload, which forgets the upload only when told to. Until then, if the process is killed
 * after Complete, the record shows that the file is up; without it, and before that is recorded elsewhere, the file
 * would be uploaded twice. The scope holds the upload's lock just as long.
 */
export interface HeldLedger {
  readonly ledger: UploadLedger.Service
  /** Forgets what the upload no longer needs. */
  readonly settle: Effect.Effect<void>
  /** Keeps what the upload no longer needs: nothing is left to settle. */
  readonly keep: Effect.Effect<void>
}

export const make: Effect.Effect<HeldLedger, never, Scope.Scope> = Effect.gen(function*() {
  const ledger = yield* UploadLedger.UploadLedger
  const scope = yield* Effect.scope
  let done = Option.none<UploadRecord>()
  const settle = Effect.suspend(() => {
    const record = done
    done = Option.none()
    return Option.match(record, { onNone: () => Effect.void, onSome: ledger.forget })
  })
  return {
    ledger: {
      ...ledger,
      lock: (id) => Scope.extend(ledger.lock(id), scope),
      // a new session of the upload replaces a dead one
      begin: (record) => Effect.zipRight(settle, ledger.begin(record)),
      forget: (record) =>
        Effect.sync(() => {
          done = Option.some(record)
        })
    },
    settle,
    keep: Effect.sync(() => {
      done = Option.none()
    })
  }
})

/**
 * Forgets the uploads that ended with these files: a stopped command had recorded that they are up, but had no time to
 * forget the uploads. Another upload of the same file, for example through another link, is left alone.
 */
export const forgetDone = (fileIds: ReadonlySet<string>): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (fileIds.size === 0) return
    const ledger = yield* UploadLedger.UploadLedger
    for (const { record } of yield* ledger.unfinished) {
      if (!fileIds.has(record.session.fileId)) continue
      yield* Effect.scoped(Effect.whenEffect(ledger.forget(record), ledger.lock(record.id)))
    }
  })
