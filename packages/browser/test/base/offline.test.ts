import { assert, describe, it, vi } from "@effect/vitest"
import { ConnectionError, ServiceApi, ServiceError, StorageError, TransferGate } from "@stevedore/core"
import { SandboxLayer } from "@stevedore/testing"
import { Duration, Effect, Fiber, Option } from "effect"
import * as Offline from "../../src/base/offline.js"
import * as FakePage from "../fixtures/fakePage.js"

const lost = (arrived: "no" | "unknown") =>
  new ConnectionError.ConnectionFailed({ peer: "service", origin: "https://page.test", arrived, attempts: 1 })

const timedOut = new ConnectionError.TimedOut({
  peer: "service",
  phase: "answer",
  after: Duration.seconds(1),
  attempts: 1
})

const ofService = new ServiceError.ServiceUnavailable({
  operation: "initiateUpload",
  status: 503,
  issues: [],
  attempts: 1
})

const ofStorage = new StorageError.StorageUnavailable({ status: 503, attempts: 1 })

type Lost = ServiceError.ServiceError

/** What fails once while the browser is offline, and how often it was tried when it has ended. */
const outcome = (
  error: Lost,
  call: (
    api: ServiceApi.Service,
    gate: TransferGate.Service,
    failing: Effect.Effect<never, Lost>
  ) => Effect.Effect<unknown, unknown>,
  serviceWorker: object = { controller: null }
) =>
  Effect.scoped(Effect.gen(function*() {
    const page = yield* FakePage.make({ serviceWorker })
    let tried = 0
    const failing = Effect.suspend((): Effect.Effect<never, Lost> => {
      tried++
      return tried === 1 ? Effect.fail(error) : Effect.interrupt
    })
    page.setOnline(false)
    const api = Offline.patientApi({
      ...yield* ServiceApi.ServiceApi,
      initiateUpload: () => failing,
      initiateLargeUpload: () => failing,
      completeUpload: () => failing,
      completeLargeUpload: () => failing,
      file: () => failing,
      listPage: () => failing
    })
    const gate = Offline.patientGate(yield* TransferGate.make())
    const fiber = yield* Effect.fork(call(api, gate, failing))
    yield* FakePage.settled
    const waits = Option.isNone(yield* Fiber.poll(fiber))
    assert.strictEqual(tried, 1)
    page.setOnline(true)
    yield* Fiber.await(fiber)
    assert.strictEqual(page.listeners(), 0)
    return { waits, tried }
  }))

const file = { name: "a.txt", mediaType: "text/plain", size: 1 }

const repeatable: Record<string, Parameters<typeof outcome>[1]> = {
  "a transfer": (_, gate, failing) => gate.pass(failing),
  "the completion of an upload": (api) => api.completeUpload({ fileId: "f" }),
  "the completion of a large upload": (api) => api.completeLargeUpload({ fileId: "f", uploadId: "u", parts: [] }),
  "a record request": (api) => api.file("f"),
  "a list page request": (api) => api.listPage({ path: "/v1/projects", limit: 100, cursor: Option.none(), query: [] })
}

const once: Record<string, Parameters<typeof outcome>[1]> = {
  "the start of an upload": (api) => api.initiateUpload(file),
  "the start of a large upload": (api) => api.initiateLargeUpload({ ...file, parts: Option.none() })
}

describe("requests that fail while the browser is offline", () => {
  it.scoped("are retried in a worker, which no event tells that the browser is online again", () =>
    Effect.gen(function*() {
      yield* FakePage.make({ onLine: false })
      vi.stubGlobal("document", undefined)
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
      let tried = 0
      const gate = Offline.patientGate(yield* TransferGate.make())
      const failing = Effect.suspend(() => ++tried === 1 ? Effect.fail(lost("no")) : Effect.void)
      const fiber = yield* Effect.fork(gate.pass(failing))
      yield* FakePage.settled
      vi.advanceTimersByTime(5000)
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      vi.stubGlobal("navigator", { onLine: true })
      vi.advanceTimersByTime(1000)
      yield* Fiber.join(fiber)
      assert.strictEqual(tried, 2)
      assert.strictEqual(vi.getTimerCount(), 0)
    }))

  const responding: typeof repeatable = {
    ...repeatable,
    ...once,
    "a transfer": (_, gate, failing) => gate.pass(Effect.mapError(failing, () => ofStorage))
  }

  for (const [what, call] of Object.entries(responding)) {
    it.effect(`${what} waits and is retried if a service worker responded with a 503, and not if a server did`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(ofService, call, { controller: {} }), { waits: true, tried: 2 })
        assert.deepStrictEqual(yield* outcome(ofService, call), { waits: false, tried: 1 })
      }).pipe(Effect.provide(SandboxLayer.memory())))
  }

  for (const [what, call] of Object.entries(repeatable)) {
    it.effect(`${what} waits until the browser is online and is retried`, () =>
      Effect.gen(function*() {
        for (const error of [lost("no"), lost("unknown"), timedOut]) {
          assert.deepStrictEqual(yield* outcome(error, call), { waits: true, tried: 2 })
        }
      }).pipe(Effect.provide(SandboxLayer.memory())))
  }

  for (const [what, call] of Object.entries(once)) {
    it.effect(`${what} waits and is retried only if the request certainly did not arrive`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(lost("no"), call), { waits: true, tried: 2 })
        for (const error of [lost("unknown"), timedOut]) {
          assert.deepStrictEqual(yield* outcome(error, call), { waits: false, tried: 1 })
        }
      }).pipe(Effect.provide(SandboxLayer.memory())))
  }
})
