import { HttpBody } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema, Stream, TestClock } from "effect"
import { FaultScript, Sandbox, SandboxHttp, SandboxReport } from "../src/index.js"
import type { SandboxOptions } from "../src/index.js"
import * as Calls from "./Calls.js"

const sandbox = (options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory({ minimumPartSize: 4, ...options }))

const hello = Calls.bytesOf("hello")

const breaches = Effect.map(Sandbox.report, (report) => report.breaches.map(({ rule }) => rule))

describe("SandboxReport", () => {
  it.effect("lists the requests in order, with their bytes and outcomes", () =>
    Effect.gen(function*() {
      const id = yield* Calls.uploaded("hello")
      const { requests } = yield* Sandbox.report
      assert.deepStrictEqual(
        requests.map((
          { attempt, bytesReceived, operation, outcome, server, status }
        ) => [server, operation, attempt, status, outcome, bytesReceived]),
        [
          ["api", "initiate", 1, 201, "answered", 49],
          ["storage", "put", 1, 200, "answered", 5],
          ["api", "complete", 1, 200, "answered", 0]
        ]
      )
      assert.strictEqual(requests[1]?.fileId, id)
      assert.strictEqual(requests[1]?.path, `/stevedore-sandbox/files/${id}`)
      assert.isAbove(requests[0]?.bytesSent ?? 0, 100)
    }).pipe(Effect.provide(sandbox())))

  it.effect("counts attempts by operation, file and part", () =>
    Effect.gen(function*() {
      const { urls } = yield* Calls.initiateLarge(10, 2)
      for (const index of [0, 0, 1]) {
        yield* Calls.putPart(urls[index] ?? "", hello)
      }
      const { requests } = yield* Sandbox.report
      assert.deepStrictEqual(requests.slice(1).map(({ attempt, part }) => [part, attempt]), [[1, 1], [1, 2], [2, 1]])
    }).pipe(Effect.provide(sandbox())))

  it.effect("contains no token and no signature", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      yield* Calls.put(url, hello)
      const text = JSON.stringify(yield* Schema.encode(SandboxReport.SandboxReport)(yield* Sandbox.report))
      assert.notInclude(text, "api.sandbox\"")
      assert.notInclude(text, "Bearer")
      assert.notInclude(text, "X-Amz-Signature")
    }).pipe(Effect.provide(sandbox())))

  describe("reports as a breach", () => {
    it.effect("a bearer token sent to storage", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.put(url, hello, { ...Calls.ENCRYPTION, authorization: "Bearer api.sandbox" })
        assert.deepStrictEqual(yield* breaches, ["BearerAtStorage"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("trace headers sent to storage, but not those sent to the service", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.json("GET", "/v1/token/info", undefined, { headers: { traceparent: "00-1-1-01" } })
        assert.deepStrictEqual(yield* breaches, [])
        for (const name of ["traceparent", "b3", "x-b3-traceid"]) {
          yield* Calls.put(url, hello, { ...Calls.ENCRYPTION, [name]: "1" })
        }
        assert.deepStrictEqual(yield* breaches, [
          "TraceHeadersAtStorage",
          "TraceHeadersAtStorage",
          "TraceHeadersAtStorage"
        ])
      }).pipe(Effect.provide(sandbox())))

    it.effect("an initiate request with fields that the service does not know", () =>
      Effect.gen(function*() {
        const body = { name: "a", type: "b", size: 5 }
        yield* Calls.json("POST", "/v2/files/upload", body)
        yield* Calls.json("POST", "/v2/files/upload", { ...body, parts: 2 })
        yield* Calls.json("POST", "/v2/files/large-upload", { ...body, parts: 2, colour: "red" })
        const report = yield* Sandbox.report
        assert.deepStrictEqual(report.breaches.map(({ message, request }) => [request, message]), [
          [1, "Unknown fields: parts"],
          [2, "Unknown fields: colour"]
        ])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a second PUT to an expired URL", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* TestClock.adjust("4 hours")
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, [])
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["ExpiredUrlRetried"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a second PUT to a URL that a fault reported as expired", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.put(url, hello)
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["ExpiredUrlRetried"])
      }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("put").expire() }))))

    it.effect("an attempt that starts while the previous attempt is still running", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        const begun = yield* Deferred.make<void>()
        const slow = Stream.drain(Stream.fromEffect(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
        const fiber = yield* Effect.fork(
          Calls.storage("PUT", url, { body: HttpBody.stream(slow, "text/plain", 5), headers: Calls.ENCRYPTION })
        )
        yield* Deferred.await(begun)
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["OverlappingAttempts"])
        yield* Fiber.interrupt(fiber)
        yield* Calls.put(url, hello)
        assert.lengthOf(yield* breaches, 1)
      }).pipe(Effect.provide(sandbox())))

    it.effect("the same while any of the previous attempts is still running, and the etag of one that ends late", () =>
      Effect.gen(function*() {
        const { id, uploadId, urls } = yield* Calls.initiateLarge(5, 1)
        const put = Effect.map(Calls.putPart(urls[0] ?? "", hello), ({ headers }) => headers["etag"] ?? "")
        const late = yield* Effect.fork(put)
        yield* TestClock.adjust("1 second")
        yield* put
        const last = yield* put
        assert.deepStrictEqual(yield* breaches, ["OverlappingAttempts", "OverlappingAttempts"])
        yield* TestClock.adjust("1 hour")
        const complete = (etag: string) =>
          Calls.json("POST", `/v2/files/${id}/large-upload/complete`, {
            upload_id: uploadId,
            parts: [{ part_number: 1, etag }]
          })
        yield* complete(last)
        assert.lengthOf(yield* breaches, 2)
        yield* complete(yield* Fiber.join(late))
        assert.deepStrictEqual((yield* breaches).slice(2), ["WrongEtag"])
      }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("putPart").delay("1 hour") }))))

    const large = (texts: ReadonlyArray<string>, size: number, sent = texts.length) =>
      Effect.gen(function*() {
        const { id, uploadId, urls } = yield* Calls.initiateLarge(size, texts.length)
        const parts = yield* Effect.forEach(texts.slice(0, sent), (text, index) =>
          Effect.map(Calls.putPart(urls[index] ?? "", Calls.bytesOf(text)), ({ headers }) => ({
            part_number: index + 1,
            etag: headers["etag"]
          })))
        return (order: (list: typeof parts) => typeof parts) =>
          Calls.json("POST", `/v2/files/${id}/large-upload/complete`, { upload_id: uploadId, parts: order(parts) })
      })

    it.effect("a complete request before all parts are stored", () =>
      Effect.gen(function*() {
        const complete = yield* large(["0123", "4567"], 8, 1)
        yield* complete((parts) => parts)
        assert.deepStrictEqual(yield* breaches, ["CompleteBeforeAllParts"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a complete request that lists parts out of order or twice", () =>
      Effect.gen(function*() {
        const complete = yield* large(["0123", "4567"], 8)
        yield* complete((parts) => [...parts].reverse())
        yield* complete((parts) => [...parts, ...parts.slice(1)])
        assert.deepStrictEqual(yield* breaches, ["PartsOutOfOrder", "PartsOutOfOrder"])
        yield* complete((parts) => parts)
        yield* complete((parts) => parts)
        assert.lengthOf(yield* breaches, 2)
      }).pipe(Effect.provide(sandbox())))

    it.effect("a complete request for a single upload before its bytes are stored", () =>
      Effect.gen(function*() {
        const { id } = yield* Calls.initiate(5)
        yield* Calls.api("POST", `/v2/files/${id}/upload/complete`)
        assert.deepStrictEqual(yield* breaches, ["CompleteBeforeAllParts"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a complete request that omits a stored part", () =>
      Effect.gen(function*() {
        const complete = yield* large(["0123", "4567"], 8)
        yield* complete((parts) => parts.slice(0, 1))
        assert.deepStrictEqual(yield* breaches, ["PartsLeftOut"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a complete request with an altered etag or the etag of an earlier attempt", () =>
      Effect.gen(function*() {
        const { id, uploadId, urls } = yield* Calls.initiateLarge(5, 1)
        const put = Effect.map(Calls.putPart(urls[0] ?? "", hello), ({ headers }) => headers["etag"] ?? "")
        const complete = (etag: string) =>
          Calls.json("POST", `/v2/files/${id}/large-upload/complete`, {
            upload_id: uploadId,
            parts: [{ part_number: 1, etag }]
          })
        const first = yield* put
        const second = yield* put
        yield* complete(second.replaceAll("\"", ""))
        yield* complete(first)
        assert.deepStrictEqual(yield* breaches, ["WrongEtag", "WrongEtag"])
        yield* complete(second)
        assert.lengthOf(yield* breaches, 2)
      }).pipe(Effect.provide(sandbox())))

    it.effect("a retry after a permanent error, but not after a `RequestTimeout` or a 503", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        for (const headers of [Calls.ENCRYPTION, Calls.ENCRYPTION, {}]) {
          yield* Calls.put(url, hello, headers)
        }
        assert.deepStrictEqual(yield* breaches, [])
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["RefusalRetried"])
      }).pipe(Effect.provide(sandbox({
        faults: FaultScript.on("put").answer(400, "RequestTimeout").and(FaultScript.on("put").answer(503))
      }))))

    it.effect.each(
      [["RefusalRetried", "0 hours"], ["ExpiredUrlRetried", "4 hours"]] as const
    )("%s only if the response arrived that said so", ([rule, wait]) =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* TestClock.adjust(wait)
        const refused = Effect.exit(Calls.put(url, hello, {}))
        yield* Effect.repeatN(refused, 2)
        assert.deepStrictEqual(yield* breaches, [])
        yield* refused
        assert.deepStrictEqual(yield* breaches, [rule])
      }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("put").times(2).loseAnswer() }))))

    it.effect("a PUT to a finalized file", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Calls.put(url, hello)
        yield* Calls.api("POST", `/v2/files/${id}/upload/complete`)
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["PutAfterFinalized"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("an encryption header on a part whose URL does not sign it", () =>
      Effect.gen(function*() {
        const { urls } = yield* Calls.initiateLarge(5, 1)
        const { status } = yield* Calls.storage("PUT", urls[0] ?? "", {
          body: HttpBody.uint8Array(hello),
          headers: Calls.ENCRYPTION
        })
        assert.strictEqual(status, 400)
        assert.deepStrictEqual(yield* breaches, ["EncryptionHeaderOnPart"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("a PUT with another media type than the declared one", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5, "text/plain")
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, [])
        yield* Calls.storage("PUT", url, {
          body: HttpBody.uint8Array(hello, "text/html"),
          headers: Calls.ENCRYPTION
        })
        const [breach] = (yield* Sandbox.report).breaches
        assert.deepStrictEqual([breach?.rule, breach?.message], [
          "MediaTypeDiffers",
          "text/plain was declared, text/html was sent"
        ])
      }).pipe(Effect.provide(sandbox())))

    it.effect("more concurrent PUTs than `inFlightLimit` allows", () =>
      Effect.gen(function*() {
        const { urls } = yield* Calls.initiateLarge(12, 3)
        const all = Effect.forEach(urls, (url) => Calls.putPart(url, Calls.bytesOf("0123")), {
          concurrency: "unbounded"
        })
        yield* Effect.zipRight(Effect.fork(all), TestClock.adjust("1 second"))
        const report = yield* Sandbox.report
        assert.deepStrictEqual(report.breaches.map(({ rule }) => rule), ["TooManyInFlight"])
        assert.strictEqual(report.mostInFlight, 3)
      }).pipe(Effect.provide(sandbox({ inFlightLimit: 2, faults: FaultScript.on("put").always().delay("1 hour") }))))

    it.effect("a request to the service before its Retry-After has passed", () =>
      Effect.gen(function*() {
        const call = Calls.json("GET", "/v1/token/info")
        yield* call
        assert.strictEqual((yield* call).status, 429)
        yield* TestClock.adjust("59 seconds")
        yield* Calls.json("GET", "/v1/projects")
        assert.deepStrictEqual(yield* breaches, ["EarlierThanRetryAfter"])
        yield* TestClock.adjust("1 second")
        yield* call
        assert.lengthOf(yield* breaches, 1)
      }).pipe(Effect.provide(sandbox({ rateLimit: { limit: 1, window: "1 minute" } }))))

    it.effect("the same if Retry-After is a date, also after a later response with a shorter one", () =>
      Effect.gen(function*() {
        yield* Calls.json("GET", "/v1/token/info")
        yield* Calls.json("GET", "/v1/projects")
        assert.lengthOf(yield* breaches, 1)
        yield* TestClock.adjust("9 seconds")
        yield* Calls.json("GET", "/v1/token/info")
        assert.lengthOf(yield* breaches, 2)
        yield* TestClock.adjust("1 second")
        yield* Calls.json("GET", "/v1/token/info")
        assert.deepStrictEqual(yield* breaches, ["EarlierThanRetryAfter", "EarlierThanRetryAfter"])
      }).pipe(Effect.provide(sandbox({
        faults: FaultScript.on("tokenInfo").retryAfter("Thu, 01 Jan 1970 00:00:10 GMT")
          .and(FaultScript.on("list").retryAfter(1))
      }))))

    it.effect("a request before the Retry-After of a 503 has passed, if it is for the same URL", () =>
      Effect.gen(function*() {
        const list = Calls.json("GET", "/v1/projects")
        yield* list
        yield* Calls.json("GET", "/v1/token/info")
        assert.deepStrictEqual(yield* breaches, [])
        yield* list
        assert.deepStrictEqual(yield* breaches, ["EarlierThanRetryAfter"])
        yield* TestClock.adjust("2 seconds")
        yield* list
        assert.lengthOf(yield* breaches, 1)
      }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("list").answer(503, undefined, { retryAfter: 2 }) }))))

    it.effect("a PUT to the same URL before the Retry-After of storage has passed", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.put(url, hello)
        yield* Calls.put((yield* Calls.initiate(5)).url, hello)
        assert.deepStrictEqual(yield* breaches, [])
        yield* TestClock.adjust("1 second")
        yield* Calls.put(url, hello)
        assert.deepStrictEqual(yield* breaches, ["EarlierThanRetryAfter"])
        yield* TestClock.adjust("1 second")
        yield* Calls.put(url, hello)
        assert.lengthOf(yield* breaches, 1)
      }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("put").retryAfter(2) }))))
  })
})
