import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy, ServiceApi, UploadLedger, type UploadOptions, Uploads } from "@stevedore/core"
import type { SandboxReport } from "@stevedore/testing"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { type Duration, Effect, Either, FastCheck, Layer, TestClock } from "effect"
import { distinct, openLock, openStore, recognizable } from "../../fixtures/ledgers.js"
import { inTime, tiny } from "../../fixtures/uploads.js"

/** What an upload waits for, and a moment in the middle of that wait. */
interface Wait {
  readonly what: string
  readonly lostAfter: Duration.DurationInput
  readonly faults?: FaultScript.FaultScript
  /** An operation of the ledger that takes six seconds. */
  readonly slow?: "begin" | "receive" | "completing"
  readonly isSingle?: boolean
  /** The upload is paused in the first second, and resumed after the lock was lost. */
  readonly isPaused?: boolean
  /** Another call of the client, which the service asks to wait with, after so many milliseconds. */
  readonly limitedAfter?: number
}

const source = recognizable(distinct(30))

const isChange = ({ operation }: SandboxReport.SeenRequest): boolean => /^(initiate|put|complete)/.test(operation)

const changes = Effect.map(Sandbox.report, ({ requests }) => requests.filter(isChange).length)

const passed = (duration: Duration.DurationInput) =>
  Effect.zipRight(TestClock.adjust(duration), Effect.repeatN(Effect.yieldNow(), 200))

/** How an upload ends that has lost its lock, or not, after some time, and how much it changes after that. */
const history = (
  { isPaused, isSingle, limitedAfter, lostAfter, slow }: Omit<Wait, "what">,
  { isLost }: { readonly isLost: boolean }
) =>
  Effect.gen(function*() {
    const { store, writes } = openStore()
    let held = true
    const ledger = yield* UploadLedger.make({
      store,
      lock: openLock().lock,
      keepUrls: true,
      isHeld: () => Effect.sync(() => held)
    })
    const slowly = slow === undefined ? undefined : {
      [slow]: (...[record, receipt]: Parameters<UploadLedger.Service["receive"]>) =>
        Effect.zipRight(Effect.sleep("6 seconds"), ledger[slow](record, receipt))
    }
    const options: UploadOptions.UploadOptions = isSingle === true
      ? { strategy: "single" }
      : { strategy: "multipart", parts: 3, concurrency: 1 }
    if (limitedAfter !== undefined) {
      const { file } = yield* ServiceApi.ServiceApi
      yield* Effect.fork(Effect.delay(Effect.ignore(file("another")), limitedAfter))
      if (limitedAfter === 0) yield* passed(0)
    }
    const upload = yield* Effect.provideService(Uploads.start(source, options), UploadLedger.UploadLedger, {
      ...ledger,
      ...slowly
    })
    if (isPaused === true) yield* upload.pause
    for (let step = 0; step < 10; step++) yield* passed(Math.floor(Number(lostAfter) / 10))
    held = !isLost
    const before = { changes: yield* changes, writes: writes() }
    yield* upload.resume
    const end = yield* inTime(Effect.either(upload.await))
    return { end, changes: (yield* changes) - before.changes, writes: writes() - before.writes }
  }).pipe(Effect.scoped)

const waits: ReadonlyArray<Wait> = [
  {
    what: "the turn of an initiate at the rate limit",
    faults: FaultScript.on("file").retryAfter(30),
    limitedAfter: 0,
    lostAfter: 10_000
  },
  { what: "the repeat of an initiate", faults: FaultScript.on("initiateLarge").retryAfter(30), lostAfter: 10_000 },
  { what: "a new session", faults: FaultScript.on("initiateLarge").loseAnswer(), lostAfter: 10_000 },
  { what: "the ledger, which takes the session", slow: "begin", lostAfter: 3000 },
  { what: "the turn of a part", faults: FaultScript.on("putPart").part(1).delay("20 seconds"), lostAfter: 10_000 },
  { what: "the repeat of a part", faults: FaultScript.on("putPart").part(3).retryAfter(30), lostAfter: 10_000 },
  { what: "the end of a part that stalls", faults: FaultScript.on("putPart").part(3).stall("body"), lostAfter: 20_000 },
  {
    what: "the repeat of a PUT",
    faults: FaultScript.on("putSingle").retryAfter(30),
    isSingle: true,
    lostAfter: 10_000
  },
  { what: "the end of a pause", isPaused: true, lostAfter: 10_000 },
  { what: "the ledger, which takes a receipt", slow: "receive", lostAfter: 15_000 },
  { what: "the ledger, which takes that Complete comes", slow: "completing", lostAfter: 3000 },
  {
    what: "the turn of a Complete at the rate limit",
    faults: FaultScript.all([
      FaultScript.on("putPart").part(3).delay("10 seconds"),
      FaultScript.on("file").retryAfter(30)
    ]),
    limitedAfter: 5000,
    lostAfter: 20_000
  },
  { what: "the repeat of a Complete", faults: FaultScript.on("completeLarge").retryAfter(30), lostAfter: 10_000 },
  {
    what: "the repeat of the Complete of a PUT",
    faults: FaultScript.on("completeSingle").retryAfter(30),
    isSingle: true,
    lostAfter: 10_000
  }
]

const steady = Effect.withRandomFixed([0.9])
const slowly = RetryPolicy.layer({ base: "20 seconds" })

describe("an upload whose lock is lost while it waits for", () => {
  for (const { faults, what, ...wait } of waits) {
    const tried = (isLost: boolean) =>
      history(wait, { isLost }).pipe(
        Effect.provide(Layer.merge(tiny(faults === undefined ? {} : { faults }), slowly)),
        steady
      )
    it.effect(`${what} changes nothing any more: not at the service, in storage or in the ledger`, () =>
      Effect.gen(function*() {
        const control = yield* tried(false)
        assert.isTrue(Either.isRight(control.end))
        assert.isAbove(control.changes, 0, "nothing was left to be done: that was no wait")
        const { changes, end, writes } = yield* tried(true)
        assert.deepStrictEqual({ changes, writes }, { changes: 0, writes: 0 })
        assert.strictEqual(Either.isLeft(end) ? end.left._tag : "Uploaded", "UploadLocked")
      }))
  }
})

describe("an upload whose lock is lost at any moment", () => {
  it.effect.prop(
    "changes nothing after it, whatever goes wrong",
    [FaultScript.arbitrary({ parts: 3, bytes: 10 }), FastCheck.integer({ min: 0, max: 90_000 })],
    ([faults, lostAfter]) =>
      Effect.gen(function*() {
        const { changes, writes } = yield* history({ lostAfter }, { isLost: true })
        assert.deepStrictEqual({ changes, writes }, { changes: 0, writes: 0 })
      }).pipe(Effect.provide(tiny({ faults }))),
    { fastCheck: { numRuns: 20 } }
  )
})
