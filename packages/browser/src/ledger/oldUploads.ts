/** Forgets uploads that began too long ago. Loaded where there are any. */
import * as Ages from "@stevedore/core/parts/ages"
import type * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Those that are found, which began before a time: unless they were not as old a day ago, when a clock may have been wrong. */
export const forget = (
  ledger: UploadLedger.Service,
  store: Parameters<typeof Ages.lookIn>[0],
  found: ReadonlyArray<UploadLedger.Unfinished>,
  before: number
) =>
  Effect.gen(function*() {
    if (!(yield* Ages.lookIn(store, "30 days"))) return
    for (const { record: { id } } of found) {
      yield* Effect.scoped(Effect.gen(function*() {
        if (!(yield* ledger.lock(id))) return
        const left = yield* ledger.find(id)
        // it may have been started again before it was locked
        if (Option.isSome(left) && left.value.record.startedAt < before) yield* ledger.forget(left.value.record)
      }))
    }
  })
