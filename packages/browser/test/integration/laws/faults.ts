import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, type Layer } from "effect"
import type { Engine } from "../support/engine.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

const small = { generate: { name: "a.txt", size: 100_000 } }

// a timer allows what a browser takes at once the time that it needs on a slow line: of this it is a third of a second
const tiny = { generate: { name: "a.txt", size: 10_000 } }

const inParts = {
  generate: { name: "a.bin", size: 12 * MiB },
  options: { strategy: "multipart", parts: 2 }
} as const

const setOffline = ({ session }: World.World, offline: boolean) =>
  Effect.promise(() => session.setOffline?.(offline) ?? Promise.reject(new Error("cannot be taken offline")))

const puts = (world: World.World) =>
  Effect.map(
    world.sandbox.report,
    ({ requests }) => requests.filter(({ method, server }) => server === "storage" && method === "PUT")
  )

/** What can go wrong on the way, in any browser. */
export const faults = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`faults in ${browser}`, (it) => {
    it.scoped("an etag that CORS does not expose fails with EtagMissing, which names the missing header", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ cors: { exposeEtag: false } })
        const outcome = World.failed(yield* World.upload(world.page, small))
        assert.strictEqual(outcome.error, "EtagMissing")
        assert.include(outcome.message, "Access-Control-Expose-Headers: ETag")
      }))

    it.scoped("a refused preflight fails with ConnectionFailed and a CORS hint, and no PUT is sent", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ cors: false })
        const outcome = World.failed(yield* World.upload(world.page, { ...small, retry: { attempts: 2 } }))
        assert.strictEqual(outcome.error, "ConnectionFailed")
        assert.deepInclude(outcome.fields, { peer: "storage", hint: "cors", attempts: 2 })
        assert.include(outcome.message, "CORS")
        assert.deepStrictEqual(yield* puts(world), [])
      }))

    it.scoped("a service that does not allow the page's origin causes ConnectionFailed with a CORS hint", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        const { baseUrl } = world.sandbox
        const outcome = World.failed(yield* World.upload(world.page, { ...small, baseUrl, retry: { attempts: 1 } }))
        assert.strictEqual(outcome.error, "ConnectionFailed")
        assert.deepInclude(outcome.fields, { peer: "service", hint: "cors" })
      }))

    it.scoped("a connection that fails after a response of storage has no CORS hint", () =>
      Effect.gen(function*() {
        const faults = FaultScript.on("putPart").part(2).always().reset()
        const world = yield* World.make({ faults })
        const options = { ...inParts.options, concurrency: 1 }
        const outcome = World.failed(yield* World.upload(world.page, { ...inParts, options, retry: { attempts: 2 } }))
        assert.strictEqual(outcome.error, "ConnectionFailed")
        assert.notProperty(outcome.fields, "hint")
      }))

    it.scoped("a 403 AccessDenied of storage fails with StorageForbidden, its code and a request ID", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("put").answer(403, "AccessDenied") })
        const outcome = World.failed(yield* World.upload(world.page, small))
        assert.strictEqual(outcome.error, "StorageForbidden")
        assert.deepInclude(outcome.fields, { code: "AccessDenied" })
        assert.property(outcome.fields, "requestId")
      }))

    it.scoped("a 503 SlowDown of storage is retried", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("put").times(2).answer(503, "SlowDown") })
        const { id } = World.uploaded(yield* World.upload(world.page, small))
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 100_000)
        assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
      }))

    it.scoped("a connection that breaks before, during or after the body is retried", () =>
      Effect.gen(function*() {
        const faults = FaultScript.on("put").reset()
          .and(FaultScript.on("put").resetAfter(1000))
          .and(FaultScript.on("put").loseAnswer())
        const world = yield* World.make({ faults })
        // Firefox sometimes does not tell that a connection broke: then the timers do
        const timeouts = { connect: "5 seconds", stall: "5 seconds", answer: "5 seconds" } as const
        const { id } = World.uploaded(yield* World.upload(world.page, { ...tiny, timeouts }))
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 10_000)
      }))

    it.scoped("Complete is requested again when its response is lost", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("complete").loseAnswer() })
        const { id } = World.uploaded(yield* World.upload(world.page, small))
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 100_000)
      }))

    it.scoped("a PUT that stalls before, during or after the body times out and is retried", () =>
      Effect.gen(function*() {
        const faults = FaultScript.on("put").stall("connect")
          .and(FaultScript.on("put").stall("body", { afterBytes: 1000 }))
          .and(FaultScript.on("put").stall("answer"))
        const world = yield* World.make({ faults })
        const timeouts = { connect: "2 seconds", stall: "2 seconds", answer: "2 seconds" } as const
        const { id } = World.uploaded(yield* World.upload(world.page, { ...tiny, timeouts }))
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 10_000)
        assert.lengthOf(yield* puts(world), 4)
      }))

    it.scoped("a PUT whose progress a service worker hides has the time of one that was handed over", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("put").always().delay("8 seconds") })
        yield* World.throughServiceWorker(world.page)
        const timeouts = { connect: "6 seconds" } as const
        yield* Effect.map(World.upload(world.page, { ...small, timeouts, retry: { attempts: 1 } }), World.uploaded)
        assert.lengthOf(yield* puts(world), 1)
      }))

    it.scoped("a PUT that lands after the browser has repeated it by itself is sent again once Complete is refused", () =>
      Effect.gen(function*() {
        const faults = FaultScript.on("putPart").part(2).landLate("1 second")
          .and(FaultScript.on("putPart").part(3).delay("3 seconds"))
        const world = yield* World.make({ faults })
        const { id } = World.uploaded(
          yield* World.upload(world.page, {
            generate: { name: "a.bin", size: 18 * MiB },
            options: { strategy: "multipart", parts: 3, concurrency: 1 }
          })
        )
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 18 * MiB)
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
      }))

    it.scoped("expired URLs lead to a new session", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("putPart").expire() })
        const outcome = World.uploaded(yield* World.upload(world.page, inParts))
        assert.strictEqual(outcome.sent.sessions, 2)
        assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
      }))

    it.scoped("a redirect by the user's server fails with RequestRejected, and no request reaches the service", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        const outcome = World.failed(yield* World.upload(world.page, { ...small, baseUrl: "/elsewhere" }))
        assert.strictEqual(outcome.error, "RequestRejected")
        assert.deepInclude(outcome.fields, { status: 302, operation: "initiateUpload" })
        assert.include(outcome.message, "sign-in page")
        assert.deepStrictEqual((yield* world.sandbox.report).requests, [])
      }))

    it.scoped("a page without its user's session fails with Unauthorized, and no request reaches the service", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        yield* Effect.promise(() => world.session.clearCookies())
        assert.strictEqual(World.failed(yield* World.upload(world.page, small)).error, "Unauthorized")
        assert.deepStrictEqual((yield* world.sandbox.report).requests, [])
      }))
  })

/** What an upload does while the browser is offline, if its network can be taken away. */
export const offline = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`offline in ${browser}`, (it) => {
    it.scoped("an upload that goes offline during the body waits without using an attempt", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("put").stall("body", { afterBytes: 1000 }) })
        // what is under way when the network goes is not always told: then the timer tells it
        const timeouts = { stall: "4 seconds", answer: "4 seconds" } as const
        yield* World.start(world.page, { ...tiny, timeouts, retry: { attempts: 1 } })
        yield* World.until(world.page, () => (window.stevedore.points().at(-1)?.sent ?? 0) > 0)
        yield* setOffline(world, true)
        yield* Effect.sleep("6 seconds")
        assert.lengthOf(yield* puts(world), 1)
        yield* setOffline(world, false)
        const { id } = World.uploaded(yield* World.outcome(world.page))
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 10_000)
      }))

    it.scoped("an upload that starts offline waits, and opens its session once", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        yield* setOffline(world, true)
        yield* World.start(world.page, { ...small, retry: { attempts: 2 } })
        yield* Effect.sleep("600 millis")
        yield* setOffline(world, false)
        World.uploaded(yield* World.outcome(world.page))
        assert.strictEqual(yield* World.counted(world, "initiate"), 1)
      }))

    it.scoped("an upload that goes offline before Complete finishes once it is online again", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("complete").stall("connect") })
        const timeouts = { call: "1500 millis" } as const
        yield* World.start(world.page, { ...small, timeouts, retry: { attempts: 1 } })
        yield* World.until(world.page, () => window.stevedore.points().at(-1)?.phase === "completing")
        yield* setOffline(world, true)
        yield* Effect.sleep("2500 millis")
        yield* setOffline(world, false)
        World.uploaded(yield* World.outcome(world.page))
      }))
  })
