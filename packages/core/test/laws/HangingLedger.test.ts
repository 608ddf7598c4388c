import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { FaultScript, Recorder, Sandbox } from "@stevedore/testing"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import { distinct, openLedger, recognizable } from "../fixtures/ledgers.js"
import { inTime, requestsOf, tiny } from "../fixtures/uploads.js"

const source = recognizable(distinct(100))

const upload = (ledger: UploadLedger.Service) =>
  Uploads.upload(source, { strategy: "multipart", parts: 10, concurrency: 2 }).pipe(
    Effect.provideService(UploadLedger.UploadLedger, ledger)
  )

const hanging = {
  lock: { lock: () => Effect.never },
  find: { find: () => Effect.never },
  begin: { begin: () => Effect.never },
  receive: { receive: () => Effect.never },
  completing: { completing: () => Effect.never },
  forget: { forget: () => Effect.never }
} satisfies Readonly<Record<string, Partial<UploadLedger.Service>>>

// that of the disk has its operations run in fibers that are used again
const ways = [["", undefined], [", in fibers that are used again", UploadLedger.aside]] as const

describe("a ledger that does not answer", () => {
  for (const [operation, service] of Object.entries(hanging)) {
    for (
      const [how, change] of [["", (one: Effect.Effect<never>) => one], [
        " and cannot be interrupted",
        Effect.uninterruptible
      ]] as const
    ) {
      it.effect.each(ways)(
        `in ${operation}${how} is waited for once, and the upload goes on without it%s`,
        ([, aside]) =>
          Effect.gen(function*() {
            const { ledger } = yield* openLedger()
            const stuck = change(Effect.never)
            const began = yield* Clock.currentTimeMillis
            const changed = Object.keys(service).map((name) => [name, () => stuck] as const)
            const file = yield* inTime(upload({ ...ledger, aside, ...Object.fromEntries(changed) }))
            assert.strictEqual(file.sent.bytes, 100)
            assert.isAtMost((yield* Clock.currentTimeMillis) - began, 15_000)
            const said = (yield* Recorder.logs).filter(({ message }) => message.includes("has not answered for 10s"))
            assert.lengthOf(said, 1)
          }).pipe(Effect.provide(Layer.provideMerge(tiny(), Recorder.layer)))
      )
    }
  }

  it.effect("is waited for as long as its patience says: nothing is completed without its record", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const fiber = yield* Effect.fork(
        upload({ ...ledger, completing: () => Effect.never, patience: Duration.infinity })
      )
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(requestsOf(yield* Sandbox.report, "completeLarge"), 0)
      assert.lengthOf(requestsOf(yield* Sandbox.report, "putPart"), 10)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
    }).pipe(Effect.provide(tiny())))

  it.effect.each(ways)(
    "holds up an interruption only as long as what was decided may take%s",
    ([, aside]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        const fiber = yield* Effect.fork(upload({ ...ledger, aside, begin: () => Effect.never }))
        yield* TestClock.adjust("1 second")
        const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(interruption)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
      }).pipe(Effect.provide(tiny()))
  )
})

describe("an interruption while a part is refused for good", () => {
  it.effect("does not come before the ledger has forgotten the session", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const stop = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(upload({
        ...ledger,
        // the upload is interrupted just before it forgets
        forget: (record) =>
          Deferred.succeed(stop, undefined).pipe(
            Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 10)),
            Effect.zipRight(ledger.forget(record))
          )
      }))
      yield* Effect.fork(Effect.zipRight(Deferred.await(stop), Fiber.interruptFork(fiber)))
      yield* inTime(Fiber.await(fiber))
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.isAbove(requestsOf(yield* Sandbox.report, "putPart").length, 0)
    }).pipe(
      Effect.provide(tiny({ faults: FaultScript.on("putPart").part(1).answer(404, "NoSuchUpload") }))
    ))
})
