import { assert, describe, it } from "@effect/vitest"
import {
  Lists,
  PresignedUrl,
  ServiceApi,
  ServiceProfile,
  UploadError,
  UploadPlan,
  Uploads,
  UploadSession
} from "@stevedore/core"
import { Effect, Either, FastCheck, Option, Schema, Stream } from "effect"
import { Arbitraries, FaultScript, Sandbox, SandboxLayer, VirtualTime } from "../src/index.js"
import { runs } from "./support/runs.js"

const isUploadError = Schema.is(UploadError.UploadError)

const { limits } = ServiceProfile.standard

describe("Arbitraries", () => {
  it.effect.prop(
    "source and faultScript: an upload stores its source or fails with an `UploadError`, without a breach",
    {
      source: Arbitraries.source({ largest: 60 }),
      script: Arbitraries.faultScript({ rules: 5, parts: 3, bytes: 30 }),
      strategy: FastCheck.constantFrom(...UploadPlan.Strategy.literals),
      backOff: FastCheck.boolean()
    },
    ({ backOff, script, source, strategy }) =>
      Effect.gen(function*() {
        const outcome = yield* VirtualTime.run(Effect.either(Uploads.upload(source, { strategy, maxSessions: 2 })))
        yield* Sandbox.expectNoBreach
        if (Either.isRight(outcome)) {
          yield* Sandbox.expectStored(source)
        } else {
          assert.isTrue(isUploadError(outcome.left), String(outcome.left))
        }
        const { requests } = yield* Sandbox.report
        assert.isTrue(requests.every(({ outcome }) => outcome !== "open"), "nothing is left open")
      }).pipe(
        Effect.provide(
          SandboxLayer.memory({ faults: script, backOff, minimumPartSize: 10, recommendedPartSize: 20 })
        )
      ),
    { fastCheck: { numRuns: runs(25) } }
  )

  it.effect.prop(
    "plan: its parts cover the file without gaps or overlaps and respect the size limits",
    { plan: Arbitraries.plan() },
    ({ plan }) =>
      Effect.sync(() => {
        assert.isTrue(plan.size >= 1 && plan.size <= limits.multipartSize)
        if (plan._tag === "SinglePlan") {
          assert.isAtMost(plan.size, limits.singleSize)
          return
        }
        const count = Option.getOrElse(plan.parts, () => UploadPlan.fewestParts(plan.size, limits))
        const ranges = Either.getOrThrow(UploadPlan.ranges(plan.size, count, limits))
        assert.lengthOf(ranges, count)
        assert.strictEqual(ranges.reduce((end, { length, offset }) => offset === end ? end + length : -1, 0), plan.size)
        assert.isTrue(ranges.slice(0, -1).every(({ length }) => length >= limits.minimumPartSize))
      })
  )

  it("plan: generates both single and multipart plans", () => {
    const plans = FastCheck.sample(Arbitraries.plan(), { seed: 1, numRuns: 200 })
    assert.deepStrictEqual(new Set(plans.map(({ _tag }) => _tag)).size, 2)
  })

  it.effect.prop(
    "session: survives encoding and decoding, and its URLs carry its expiry and part numbers",
    { session: Arbitraries.session() },
    ({ session }) =>
      Effect.gen(function*() {
        const written = yield* Schema.encode(UploadSession.UploadSession)(session)
        assert.deepStrictEqual(yield* Schema.decode(UploadSession.UploadSession)(written), session)
        const urls = session._tag === "SingleSession" ? [session.url] : session.urls
        assert.isTrue(urls.every((url) => !PresignedUrl.hasEnded(url, session.openedAt)))
        assert.isTrue(urls.every((url) => PresignedUrl.hasEnded(url, session.openedAt + 10_800_000)))
        assert.deepStrictEqual(
          urls.map(({ partNumber }) => Option.getOrUndefined(partNumber)),
          session._tag === "SingleSession" ? [undefined] : urls.map((_, index) => index + 1)
        )
      })
  )

  it.effect.prop(
    "pages: listing a changing list yields every lasting record, and no record twice",
    { walk: Arbitraries.pages() },
    ({ walk }) => {
      const cursors = [undefined, ...walk.pages.map(({ page }) => page.next_cursor)]
      const api = ServiceApi.layerNoop({
        listPage: ({ cursor }) => {
          const page = walk.pages[cursors.indexOf(Option.getOrUndefined(cursor))]
          return page === undefined ? Effect.dieMessage("a cursor that no page gave") : Effect.succeed(page)
        }
      })
      return Effect.gen(function*() {
        const seen = Array.from(yield* Stream.runCollect(Lists.projects()), ({ id }) => id)
        const steady = new Set(walk.steady)
        assert.deepStrictEqual(seen.filter((id) => id !== undefined && steady.has(id)).sort(), [...walk.steady].sort())
        assert.strictEqual(new Set(seen).size, seen.length)
      }).pipe(Effect.provide(api))
    }
  )

  it("faultScript: a counterexample is printed as the code that builds it", () => {
    const holds = FastCheck.property(
      Arbitraries.faultScript({ targets: ["put"] }),
      ({ rules }) => rules.every(({ fault }) => fault._tag !== "Expire")
    )
    const { counterexample, failed } = FastCheck.check(holds, { seed: 1, numRuns: 1000 })
    assert.isTrue(failed)
    const [script] = counterexample ?? [FaultScript.empty]
    assert.strictEqual(FastCheck.stringify(script), "FaultScript.on(\"put\").expire()")
  })
})
