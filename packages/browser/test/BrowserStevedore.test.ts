import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it, vi } from "@effect/vitest"
import { BrowserStevedore, UploadQueue } from "@stevedore/browser"
import { Checksum, RetryPolicy, ServiceApi, TransferGate, UploadLedger, Uploads, UploadSources } from "@stevedore/core"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import "fake-indexeddb/auto"
import * as FakePage from "./fixtures/fakePage.js"

const record = {
  data: {
    id: "f",
    name: "a.txt",
    type: "text/plain",
    size: 1,
    status: "completed",
    author: null,
    created_at: "2026-01-01T00:00:00.000Z"
  }
}

const session = { data: { id: "f", upload_url: "https://bucket.test/k" } }

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } })

interface Asked {
  readonly url: string
  readonly headers: Headers
  readonly init: RequestInit
}

/** The page, and what it asks for; what `answer` throws is a network that fails. */
const world = (answer: (asked: Asked) => Response = () => json(200, record)) =>
  Effect.gen(function*() {
    const page = yield* FakePage.make()
    const asked: Array<Asked> = []
    vi.stubGlobal("fetch", async (url: URL | string, init: RequestInit = {}) => {
      const one = { url: String(url), headers: new Headers(init.headers), init }
      asked.push(one)
      return answer(one)
    })
    return { page, asked }
  })

const down = (): never => {
  throw new TypeError("Failed to fetch")
}

// on Effect 4, the first fetch that is used is kept
const Fetch = Layer.succeed(FetchHttpClient.Fetch, (...args) => globalThis.fetch(...args))

const layerOf = (options: Partial<BrowserStevedore.Options> = {}) =>
  Layer.merge(BrowserStevedore.layer({ baseUrl: "/api", ledger: false, ...options }), Fetch)

const file = Effect.flatMap(ServiceApi.ServiceApi, (api) => api.file("f"))

const initiate = Effect.flatMap(
  ServiceApi.ServiceApi,
  (api) => api.initiateUpload({ name: "a.txt", mediaType: "text/plain", size: 1 })
)

describe("BrowserStevedore", () => {
  it.effect("leaves a queue empty that a server makes to render a page, and says nothing", () =>
    Effect.gen(function*() {
      const queue = UploadQueue.make({ layer: layerOf({ ledger: {} }) })
      let told = 0
      queue.subscribe(() => told++)
      yield* FakePage.settled
      assert.deepStrictEqual(queue.getSnapshot().items, [])
      assert.strictEqual(told, 0)
      yield* Effect.promise(queue.dispose)
    }))

  it.scoped("resolves a base path against the page's origin, and sends no token if none is given", () =>
    Effect.gen(function*() {
      const { asked } = yield* world()
      yield* Effect.provide(file, layerOf())
      assert.deepStrictEqual(asked.map(({ url }) => url), ["https://page.test/api/v1/files/f"])
      assert.isNull(asked[0]?.headers.get("authorization"))
      assert.strictEqual(asked[0]?.init.credentials, "same-origin")
    }))

  it.scoped("sends the token to the configured service, with the credentials mode of the options", () =>
    Effect.gen(function*() {
      const { asked } = yield* world()
      const token = Redacted.make("api.secret")
      yield* Effect.provide(file, layerOf({ baseUrl: "https://service.test", token, credentials: "include" }))
      assert.strictEqual(asked[0]?.url, "https://service.test/v1/files/f")
      assert.strictEqual(asked[0]?.headers.get("authorization"), "Bearer api.secret")
      assert.strictEqual(asked[0]?.init.credentials, "include")
    }))

  describe("without a page", () => {
    const lacking = (...names: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const { asked } = yield* world(({ init, url }) =>
          init.method === "PUT"
            ? new Response(null, { headers: { etag: "\"e\"" } })
            : json(200, init.method === "POST" && !url.endsWith("/complete") ? session : record)
        )
        for (const name of ["XMLHttpRequest", "indexedDB", "navigator", "document", "origin", ...names]) {
          vi.stubGlobal(name, undefined)
          Reflect.deleteProperty(globalThis, name)
        }
        return asked
      })

    it.scoped("sends by fetch what it can, and keeps what is unfinished in memory", () =>
      Effect.gen(function*() {
        const asked = yield* lacking("location")
        const layer = layerOf({ baseUrl: "https://service.test", ledger: undefined })
        const told = yield* Effect.provide(
          Uploads.upload(UploadSources.fromBytes("a.txt", new Uint8Array(1))),
          layer
        )
        assert.strictEqual(told.id, "f")
        assert.deepInclude(asked.find(({ init }) => init.method === "PUT")?.init, {
          credentials: "omit",
          redirect: "manual"
        })
      }))

    it.scoped.each([["location", "baseUrl"], ["fetch", "fetch"]] as const)(
      "without %s, fails before any call",
      ([name, field]) =>
        Effect.gen(function*() {
          const asked = yield* lacking(name)
          const error = yield* Effect.flip(Effect.provide(file, layerOf()))
          assert.deepInclude(error, { _tag: "InvalidConfiguration", field })
          assert.deepStrictEqual(asked, [])
        })
    )
  })

  it.scoped("refuses a token with an http base URL, and sends no request", () =>
    Effect.gen(function*() {
      const { asked } = yield* world()
      const layer = layerOf({ baseUrl: "http://service.test", token: Redacted.make("api.secret") })
      const error = yield* Effect.flip(Effect.provide(file, layer))
      assert.strictEqual(error._tag, "InvalidConfiguration")
      assert.deepStrictEqual(asked, [])
    }))

  it.scoped.each(["//evil.test", "/\\evil.test", "/\t/evil.test", "https:evil.test", "https:\\\\evil.test", " /api"])(
    "refuses the base URL %j, which a URL parser bends into one, and sends no request",
    (baseUrl) =>
      Effect.gen(function*() {
        const { asked } = yield* world()
        const error = yield* Effect.flip(Effect.provide(file, layerOf({ baseUrl })))
        assert.strictEqual(error._tag, "InvalidConfiguration")
        assert.deepStrictEqual(asked, [])
      })
  )

  it.scoped("rejects an http upload URL behind an https base URL unless allowInsecureHttp is set", () =>
    Effect.gen(function*() {
      yield* world(() => json(201, { data: { id: "f", upload_url: "http://bucket.test/k" } }))
      assert.deepInclude(yield* Effect.flip(Effect.provide(initiate, layerOf())), {
        _tag: "InvalidResponse",
        path: "data.upload_url"
      })
      yield* Effect.provide(initiate, layerOf({ allowInsecureHttp: true }))
      yield* Effect.provide(initiate, layerOf({ baseUrl: "http://service.test" }))
    }))

  it.scoped("does not follow redirects, and fails with RequestRejected instead", () =>
    Effect.gen(function*() {
      const opaque = () =>
        Object.defineProperties(new Response(null), { type: { value: "opaqueredirect" }, status: { value: 0 } })
      const { asked } = yield* world(opaque)
      assert.deepInclude(yield* Effect.flip(Effect.provide(file, layerOf())), { _tag: "RequestRejected", status: 302 })
      assert.lengthOf(asked, 1)
      assert.strictEqual(asked[0]?.init.redirect, "manual")
    }))

  it.scoped("keeps its redirect and credentials modes if the application provides its own RequestInit", () =>
    Effect.gen(function*() {
      const { asked } = yield* world()
      yield* Effect.provide(file, layerOf({ baseUrl: "https://service.test" })).pipe(
        Effect.provideService(FetchHttpClient.RequestInit, { credentials: "include", redirect: "follow" })
      )
      assert.deepInclude(asked[0]?.init, { credentials: "same-origin", redirect: "manual" })
    }))

  it.scoped("runs at most 6 transfers at a time unless the options set another limit", () =>
    Effect.gen(function*() {
      yield* world()
      const limitOf = (options: Partial<BrowserStevedore.Options>) =>
        TransferGate.TransferGate.pipe(
          Effect.flatMap((gate) => gate.state),
          Effect.map(({ limit }) => limit),
          Effect.provide(layerOf(options))
        )
      assert.strictEqual(yield* limitOf({}), 6)
      assert.strictEqual(yield* limitOf({ limit: 2 }), 2)
    }))

  it.scoped("provides a ledger that keeps URLs, unless the options disable keepUrls or the ledger", () =>
    Effect.gen(function*() {
      yield* world()
      const keepsUrls = (ledger: BrowserStevedore.Options["ledger"]) =>
        Effect.provide(Effect.map(UploadLedger.UploadLedger, ({ keepUrls }) => keepUrls), layerOf({ ledger }))
      assert.isTrue(yield* keepsUrls(undefined))
      assert.isFalse(yield* keepsUrls({ keepUrls: false }))
      assert.isFalse(yield* keepsUrls(false))
    }))

  it.scoped("applies the retry policy that is provided to the layer", () =>
    Effect.gen(function*() {
      const { asked } = yield* world(() => json(503, { errors: [] }))
      const layer = Layer.provide(layerOf(), RetryPolicy.layer({ attempts: 3, base: "1 second" }))
      const fiber = yield* Effect.fork(Effect.flip(Effect.provide(file, layer)))
      for (let turn = 0; turn < 20; turn++) {
        yield* FakePage.settled
        yield* TestClock.adjust("10 seconds")
      }
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "ServiceUnavailable", attempts: 3 })
      assert.lengthOf(asked, 3)
    }))

  it.scoped("applies the checksum algorithm that is provided to the layer, or crc32 by default", () =>
    Effect.gen(function*() {
      yield* world()
      const nameBy = (layer: ReturnType<typeof layerOf>) =>
        Effect.provide(Effect.map(Checksum.Algorithm, ({ name }) => name), layer)
      assert.strictEqual(yield* nameBy(layerOf()), "crc32")
      assert.strictEqual(yield* nameBy(Layer.provide(layerOf(), Checksum.layer(Checksum.crc64nvme))), "crc64nvme")
    }))

  it.scoped("retries a request that failed offline once the browser is online, without counting an attempt", () =>
    Effect.gen(function*() {
      let online = false
      const { asked, page } = yield* world(() => online ? json(200, record) : down())
      page.setOnline(false)
      const layer = Layer.provide(layerOf(), RetryPolicy.layer({ attempts: 1 }))
      const fiber = yield* Effect.fork(Effect.provide(file, layer))
      yield* FakePage.settled
      yield* TestClock.adjust("1 hour")
      yield* FakePage.settled
      assert.lengthOf(asked, 1)
      online = true
      page.setOnline(true)
      assert.strictEqual((yield* Fiber.join(fiber)).id, "f")
      assert.lengthOf(asked, 2)
      assert.strictEqual(page.listeners(), 0)
    }))

  it.scoped("hints at CORS until the service has responded once, but never for the page's own origin", () =>
    Effect.gen(function*() {
      let up = false
      yield* world(() => up ? json(200, record) : down())
      const failures = (baseUrl: string) =>
        Effect.gen(function*() {
          up = false
          const first = yield* Effect.flip(file)
          up = true
          yield* file
          up = false
          return [first, yield* Effect.flip(file)] as const
        }).pipe(Effect.provide(Layer.provide(layerOf({ baseUrl }), RetryPolicy.none)))
      const [first, later] = yield* failures("https://service.test")
      assert.deepInclude(first, { _tag: "ConnectionFailed", hint: "cors" })
      assert.include(first.message, "CORS")
      assert.notProperty(later, "hint")
      // the page's own origin is never forbidden
      assert.notProperty((yield* failures("/api"))[0], "hint")
    }))

  it.scoped("hints at CORS in a sandboxed page, of which its own server is another origin", () =>
    Effect.gen(function*() {
      yield* world(down)
      vi.stubGlobal("origin", "null")
      const error = yield* Effect.flip(Effect.provide(file, Layer.provide(layerOf(), RetryPolicy.none)))
      assert.strictEqual(error._tag, "ConnectionFailed")
      assert.include(error.message, "CORS")
    }))

  it.scoped("retries opening a session only if the failed request cannot have arrived", () =>
    Effect.gen(function*() {
      let online = true
      const { asked, page } = yield* world(() => online ? json(201, session) : down())
      const layer = Layer.provide(layerOf(), RetryPolicy.layer({ attempts: 1 }))
      const opening = Effect.provide(initiate, layer)
      // offline before it begins: it cannot have left
      online = false
      page.setOnline(false)
      const waiting = yield* Effect.fork(opening)
      yield* FakePage.settled
      online = true
      page.setOnline(true)
      assert.strictEqual((yield* Fiber.join(waiting)).fileId, "f")
      assert.lengthOf(asked, 2)
      // offline while it is under way: it may have arrived
      vi.stubGlobal("fetch", async () => {
        page.setOnline(false)
        return down()
      })
      assert.deepInclude(yield* Effect.flip(opening), { _tag: "ConnectionFailed", arrived: "unknown" })
    }))
})
