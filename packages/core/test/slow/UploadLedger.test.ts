import { assert, describe, it } from "@effect/vitest"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { Effect, Option, TestClock } from "effect"
import { openLock, openStore } from "../fixtures/ledgers.js"
import { recordOf } from "../fixtures/uploadLedger.js"

describe("UploadLedger", () => {
  it.effect("waits while another process writes to the index, but not forever", () =>
    Effect.gen(function*() {
      const { store } = openStore()
      const { lock, locked } = openLock()
      const ledger = yield* UploadLedger.make({ store, lock, keepUrls: true })
      locked.add("uploads")
      const waiting = yield* Effect.fork(ledger.begin(recordOf("a")))
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(Option.isNone(yield* waiting.poll))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Option.isSome(yield* waiting.poll))
      assert.isTrue(Option.isSome(yield* ledger.find("a")))
    }))
})
