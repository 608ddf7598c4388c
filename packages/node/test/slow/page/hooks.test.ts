import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Deferred, Effect, FastCheck, Fiber, TestClock } from "effect"
import {
  ask,
  aWhile,
  type Called,
  content,
  described,
  kinds,
  losses,
  metadata,
  noting,
  put,
  quietly,
  sent
} from "../../support/uploadHooks.js"

import { runs } from "../../../../testing/test/support/runs.js"
import { listening } from "../../support/listening.js"

describe("the hooks of StevedoreHttpApp", () => {
  it.effect.prop(
    "are called once, whatever is lost on the way and whoever leaves, asks twice or in two tabs",
    {
      kind: FastCheck.constantFrom(...kinds),
      lost: FastCheck.array(FastCheck.constantFrom(...Object.values(losses)), { maxLength: 4 }),
      pages: FastCheck.array(
        FastCheck.record({
          leavesAfter: FastCheck.option(FastCheck.nat(40)),
          waits: FastCheck.constantFrom(0, 1, 30, 600)
        }),
        { minLength: 1, maxLength: 4 }
      ),
      failing: FastCheck.nat(2)
    },
    ({ failing, kind, lost, pages }) =>
      Effect.gen(function*() {
        const called: Array<Called> = []
        let failures = failing
        const app = noting(called, {
          hook: () =>
            failures-- > 0 ? Effect.zipRight(Effect.sync(() => called.pop()), Effect.fail("full")) : Effect.void
        })
        const { body, fileId, path } = yield* sent(app, kind)
        for (const { leavesAfter, waits } of pages) {
          const page = yield* Effect.fork(ask(app, path, body))
          if (leavesAfter !== null) {
            yield* Effect.repeatN(Effect.yieldNow(), leavesAfter)
            yield* Fiber.interruptFork(page)
          }
          yield* TestClock.adjust(`${waits} seconds`)
        }
        yield* aWhile
        const once: Called = ["completed", "Ada", fileId, metadata]
        // a page may have left before its request was read
        const { requests } = yield* Sandbox.report
        assert.deepStrictEqual(called, requests.some(({ operation }) => operation.startsWith("complete")) ? [once] : [])
        yield* Effect.fork(ask(app, path, body))
        yield* aWhile
        assert.strictEqual((yield* ask(app, path, body)).status, 200)
        assert.deepStrictEqual(called, [once])
        assert.deepStrictEqual(yield* Sandbox.stored(fileId), content)
      }).pipe(quietly, Effect.provide(SandboxLayer.memory({ minimumPartSize: 1, faults: FaultScript.all(lost) }))),
    { fastCheck: { numRuns: runs(20) } }
  )

  it.live.each(Object.entries(losses).slice(0, 3))(
    "over HTTP, are called once although the page is closed while %s",
    ([, faults]) =>
      Effect.gen(function*() {
        const called: Array<Called> = []
        const heard = yield* Deferred.make<void>()
        const app = noting(called, { hook: () => Effect.asVoid(Deferred.succeed(heard, undefined)) })
        const origin = yield* listening(yield* NodeHttpServer.makeHandler(app))
        const post = (path: string, body: unknown, signal: AbortSignal) =>
          fetch(`${origin}${path}`, {
            method: "POST",
            headers: { cookie: "user=Ada", "content-type": "application/json" },
            signal,
            body: JSON.stringify(body)
          })
        const { data } = yield* Effect.promise((signal) =>
          post("/v2/files/upload", described, signal).then((answer) => answer.json())
        )
        yield* put(data.upload_url, { "x-amz-server-side-encryption": "aws:kms", "content-type": "text/plain" })
        const page = new AbortController()
        const closed = post(`/v2/files/${data.id}/upload/complete`, {}, page.signal).catch(() => undefined)
        // a busy machine may take long until the call arrives; nobody leaves before that
        yield* Sandbox.report.pipe(
          Effect.delay("5 millis"),
          Effect.repeat({ until: ({ requests }) => requests.some(({ operation }) => operation === "complete") }),
          Effect.timeout("20 seconds")
        )
        page.abort()
        yield* Effect.promise(() => closed)
        yield* Effect.timeout(Deferred.await(heard), "20 seconds")
        assert.deepStrictEqual(called, [["completed", "Ada", data.id, metadata]])
      }).pipe(quietly, Effect.scoped, Effect.provide(SandboxLayer.memory({ faults })))
  )
})
