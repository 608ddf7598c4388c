import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect } from "effect"
import type { Outcome } from "./support/page.js"
import * as World from "./support/world.js"

const MiB = 1024 * 1024

const small = { generate: { name: "a.txt", size: 100_000 } }

// a timer allows what a browser takes at once the time that it needs on a slow line: of this it is a third of a second
const tiny = { generate: { name: "a.txt", size: 10_000 } }

const inParts = {
  generate: { name: "a.bin", size: 12 * MiB },
  options: { strategy: "multipart", parts: 2 }
} as const

const failed = (outcome: Outcome) => {
  assert(outcome._tag === "Failed", JSON.stringify(outcome))
  return outcome
}

const uploaded = (outcome: Outcome) => {
  assert(outcome._tag === "Uploaded", JSON.stringify(outcome))
  return outcome
}

const puts = (world: World.World) =>
  Effect.map(
    world.sandbox.report,
    ({ requests }) => requests.filter(({ method, server }) => server === "storage" && method === "PUT")
  )

layer(World.ChromiumLive, { excludeTestServices: true })("what goes wrong in Chromium", (it) => {
  it.scoped("an etag that CORS does not expose is named with the setting that is missing", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ cors: { exposeEtag: false } })
      const outcome = failed(yield* World.upload(world.page, small))
      assert.strictEqual(outcome.error, "EtagMissing")
      assert.include(outcome.message, "Access-Control-Expose-Headers: ETag")
    }))

  it.scoped("a preflight that is refused is a connection that failed, with CORS as a hint and no body sent", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ cors: false })
      const outcome = failed(yield* World.upload(world.page, { ...small, retry: { attempts: 2 } }))
      assert.strictEqual(outcome.error, "ConnectionFailed")
      assert.deepInclude(outcome.fields, { peer: "storage", hint: "cors", attempts: 2 })
      assert.include(outcome.message, "CORS")
      assert.deepStrictEqual(yield* puts(world), [])
    }))

  it.scoped("a service that does not allow the page's origin is a connection that failed, with CORS as a hint", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      const { baseUrl } = world.sandbox
      const outcome = failed(yield* World.upload(world.page, { ...small, baseUrl, retry: { attempts: 1 } }))
      assert.strictEqual(outcome.error, "ConnectionFailed")
      assert.deepInclude(outcome.fields, { peer: "service", hint: "cors" })
    }))

  it.scoped("once storage has answered, a connection that fails is no matter of CORS", () =>
    Effect.gen(function*() {
      const faults = FaultScript.on("putPart").part(2).always().reset()
      const world = yield* World.make({ faults })
      const options = { ...inParts.options, concurrency: 1 }
      const outcome = failed(yield* World.upload(world.page, { ...inParts, options, retry: { attempts: 2 } }))
      assert.strictEqual(outcome.error, "ConnectionFailed")
      assert.notProperty(outcome.fields, "hint")
    }))

  it.scoped("a 403 is read: its code decides", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("put").answer(403, "AccessDenied") })
      const outcome = failed(yield* World.upload(world.page, small))
      assert.strictEqual(outcome.error, "StorageForbidden")
      assert.deepInclude(outcome.fields, { code: "AccessDenied" })
      assert.property(outcome.fields, "requestId")
    }))

  it.scoped("a 503 is read and tried again", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("put").times(2).answer(503, "SlowDown") })
      const { id } = uploaded(yield* World.upload(world.page, small))
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 100_000)
      assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
    }))

  it.scoped("a connection that breaks before, in the middle of and after the body is made again", () =>
    Effect.gen(function*() {
      const faults = FaultScript.on("putPart").part(1).reset()
        .and(FaultScript.on("putPart").part(2).resetAfter(MiB))
        .and(FaultScript.on("putPart").part(1).loseAnswer())
      const world = yield* World.make({ faults })
      const { id } = uploaded(yield* World.upload(world.page, inParts))
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 12 * MiB)
    }))

  it.scoped("an answer to Complete that is lost is asked for again", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("complete").loseAnswer() })
      const { id } = uploaded(yield* World.upload(world.page, small))
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 100_000)
    }))

  it.scoped("storage that goes silent before, in the middle of and after the body is given up in time", () =>
    Effect.gen(function*() {
      const faults = FaultScript.on("put").stall("connect")
        .and(FaultScript.on("put").stall("body", { afterBytes: 1000 }))
        .and(FaultScript.on("put").stall("answer"))
      const world = yield* World.make({ faults })
      const timeouts = { connect: "400 millis", stall: "400 millis", answer: "400 millis" } as const
      const { id } = uploaded(yield* World.upload(world.page, { ...tiny, timeouts }))
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 10_000)
      assert.lengthOf(yield* puts(world), 4)
    }))

  it.scoped("URLs that have ended are followed by a new session", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("putPart").expire() })
      const outcome = uploaded(yield* World.upload(world.page, inParts))
      assert.strictEqual(outcome.sent.sessions, 2)
      assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
    }))

  it.scoped("a redirect of the user's server is a typed error, and nothing is sent after it", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      const outcome = failed(yield* World.upload(world.page, { ...small, baseUrl: "/elsewhere" }))
      assert.strictEqual(outcome.error, "RequestRejected")
      assert.deepInclude(outcome.fields, { status: 302, operation: "initiateUpload" })
      assert.include(outcome.message, "sign-in page")
      assert.deepStrictEqual((yield* world.sandbox.report).requests, [])
    }))

  it.scoped("a page without a session of its user is told so by the user's server, not by the service", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      yield* Effect.promise(() => world.context.clearCookies())
      assert.strictEqual(failed(yield* World.upload(world.page, small)).error, "Unauthorized")
      assert.deepStrictEqual((yield* world.sandbox.report).requests, [])
    }))

  it.scoped("offline in the middle of the body: it waits, and no attempt is spent", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("put").stall("body", { afterBytes: 1000 }) })
      // what is under way when the network goes is not always told: then the timer tells it
      const timeouts = { stall: "4 seconds", answer: "4 seconds" } as const
      yield* World.start(world.page, { ...tiny, timeouts, retry: { attempts: 1 } })
      yield* World.until(world.page, () => (window.stevedore.points().at(-1)?.sent ?? 0) > 0)
      yield* Effect.promise(() => world.context.setOffline(true))
      yield* Effect.sleep("6 seconds")
      assert.lengthOf(yield* puts(world), 1)
      yield* Effect.promise(() => world.context.setOffline(false))
      const { id } = uploaded(yield* World.outcome(world.page))
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 10_000)
    }))

  it.scoped("offline before the session: it waits to be opened, once", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      yield* Effect.promise(() => world.context.setOffline(true))
      yield* World.start(world.page, { ...small, retry: { attempts: 2 } })
      yield* Effect.sleep("600 millis")
      yield* Effect.promise(() => world.context.setOffline(false))
      uploaded(yield* World.outcome(world.page))
      const { requests } = yield* world.sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiate"), 1)
    }))

  it.scoped("offline before Complete: the service is told afterwards", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("complete").stall("connect") })
      const timeouts = { call: "1500 millis" } as const
      yield* World.start(world.page, { ...small, timeouts, retry: { attempts: 1 } })
      yield* World.until(world.page, () => window.stevedore.points().at(-1)?.phase === "completing")
      yield* Effect.promise(() => world.context.setOffline(true))
      yield* Effect.sleep("2500 millis")
      yield* Effect.promise(() => world.context.setOffline(false))
      uploaded(yield* World.outcome(world.page))
    }))

  it.scoped("a pause on offline shows as one, and ends with it", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: FaultScript.on("putPart").part(1).stall("body", { afterBytes: MiB }) })
      yield* World.start(world.page, { ...inParts, pauseOffline: true, retry: { attempts: 1 } })
      yield* World.until(world.page, () => (window.stevedore.points().at(-1)?.sent ?? 0) > 0)
      yield* Effect.promise(() => world.context.setOffline(true))
      yield* World.until(world.page, () => window.stevedore.points().at(-1)?.phase === "paused")
      yield* Effect.promise(() => world.context.setOffline(false))
      uploaded(yield* World.outcome(world.page))
    }))
})
