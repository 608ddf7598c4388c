import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { filesOf, ledgerAt, recordOf } from "../../support/internal/journaledStore.js"
import * as Temporary from "../../support/temporary.js"

describe("the journal of uploads", () => {
  it.scopedLive("does not grow with the uploads that have ended", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "state")
      const ledger = yield* ledgerAt(directory)
      const upload = (id: string, inside: Effect.Effect<void> = Effect.void) =>
        Effect.scoped(Effect.gen(function*() {
          yield* ledger.lock(id)
          yield* ledger.begin(recordOf(id, 200_000))
          yield* inside
          yield* ledger.forget(recordOf(id))
        }))
      let longest = 0
      const many = Effect.forEach(Array.from({ length: 60 }, (_, index) => `many-${index}`), (id) =>
        Effect.tap(upload(id), () =>
          Effect.map(filesOf(directory, "journals"), (texts) => {
            longest = Math.max(
              longest,
              ...texts.map((text) =>
                text.length
              )
            )
          })), { discard: true })
      yield* upload("long", many)
      assert.isAbove(longest, 2_000_000)
      assert.isBelow(longest, 5_000_000)
    }))
})
