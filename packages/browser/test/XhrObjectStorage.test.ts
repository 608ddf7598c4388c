import { assert, describe, it, vi } from "@effect/vitest"
import { BlobSource, XhrObjectStorage } from "@stevedore/browser"
import { type ObjectStorage, PresignedUrl } from "@stevedore/core"
import type { SourceBody, SourceSection } from "@stevedore/core/UploadSource"
import { Chunk, Deferred, Effect, Exit, FastCheck as fc, Fiber, Option, Stream, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import * as FakePage from "./fixtures/fakePage.js"
import * as FakeXhr from "./fixtures/fakeXhr.js"

const href = "https://bucket.test/a%20b?X-Amz-Date=20300101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-a&" +
  "partNumber=2&X-Amz-Signature=secret~%2f"

const signed = (text: string) => Option.getOrThrow(PresignedUrl.fromString(text))

const content = new TextEncoder().encode("0123456789")

const blob = new Blob([content])

/** The bytes 2 to 7 of a Blob, as the source of a page gives them. */
const sectionOf = (of: Blob) =>
  BlobSource.fromBlob(of, { name: "a.txt" }).pipe(
    Effect.flatMap((source) => source.open),
    Effect.flatMap((opened) => opened.section({ offset: 2, length: 6 })),
    Effect.scoped
  )

interface Wishes extends Partial<ObjectStorage.PutRequest> {
  readonly of?: Blob
}

const put = (storage: ObjectStorage.Service, { of = blob, ...wishes }: Wishes = {}) =>
  Effect.flatMap(sectionOf(of), (section) =>
    storage.put({
      url: signed(href),
      section,
      name: "a.txt",
      headers: {},
      clockOffset: 0,
      attempt: 1,
      onSent: () => {},
      ...wishes
    }))

const stored = (xhr: FakeXhr.FakeXhr) => xhr.answer(200, { ETag: "\"e\"", "X-Amz-Request-Id": "r" })

/** The page, the requests that it makes, and the storage. */
const world = (onSend: (xhr: FakeXhr.FakeXhr) => void = stored) =>
  Effect.gen(function*() {
    const page = yield* FakePage.make()
    const requests = yield* FakeXhr.make(onSend)
    return { page, requests, storage: yield* XhrObjectStorage.make }
  })

class Unreadable extends Blob {
  override slice() {
    return this
  }
  override stream(): never {
    throw new DOMException("it has changed", "NotReadableError")
  }
  override arrayBuffer() {
    return Promise.reject(new DOMException("it has changed", "NotReadableError"))
  }
}

describe("XhrObjectStorage", () => {
  describe("put", () => {
    it.scoped("sends only the section, to the unchanged URL, with only the given headers", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const headers = { "content-type": "text/plain", "x-a": "1" }
        const receipt = yield* put(storage, { headers })
        assert.deepStrictEqual(receipt, { etag: "\"e\"", requestId: "r", checksums: {}, perhapsRepeated: true })
        assert.lengthOf(requests, 1)
        const [request] = requests
        assert.strictEqual(request?.method, "PUT")
        assert.strictEqual(request?.href, href)
        assert.deepStrictEqual(request?.sentHeaders, Object.entries(headers))
        assert.instanceOf(request?.body, Blob)
        const body = request?.body instanceof Blob ? request.body : new Blob([])
        assert.strictEqual(body.type, "")
        assert.strictEqual(yield* Effect.promise(() => body.text()), "234567")
      }))

    it.scoped("asks for the response as text, which no browser tries to parse", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        yield* put(storage)
        assert.strictEqual(requests[0]?.responseType, "text")
      }))

    it.scoped("sends bytes and streams as one Blob each, in order and without a type", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const range = { offset: 2, length: 6 }
        const bodies: ReadonlyArray<SourceBody> = [
          { _tag: "BytesBody", bytes: content.subarray(2, 8) },
          { _tag: "StreamBody", stream: Stream.make(content.subarray(2, 4), content.subarray(4, 8)) }
        ]
        for (const body of bodies) yield* put(storage, { section: { range, body: () => Effect.succeed(body) } })
        for (const { body } of requests) {
          assert(body instanceof Blob)
          assert.strictEqual(body.type, "")
          assert.strictEqual(yield* Effect.promise(() => body.text()), "234567")
        }
        assert.lengthOf(requests, 2)
      }))

    it.effect.prop(
      "reports sent bytes that add up to the section, whatever progress the browser reports",
      { told: fc.array(fc.integer({ min: 0, max: 6 })) },
      ({ told }) =>
        Effect.gen(function*() {
          const { storage } = yield* world((xhr) => {
            told.forEach((loaded) => xhr.progress(loaded))
            stored(xhr)
          })
          const sent: Array<number> = []
          yield* put(storage, { onSent: (bytes) => sent.push(bytes) })
          assert.isTrue(sent.every((bytes) => bytes > 0))
          assert.strictEqual(sent.reduce((sum, bytes) => sum + bytes, 0), 6)
        }).pipe(Effect.scoped),
      { fastCheck: { numRuns: runs(15) } }
    )

    const controlled = { controller: {} }
    const silent = () => {}
    const hidden = [
      { where: "that a service worker controls", serviceWorker: controlled, onSend: silent, handedOver: [6] },
      { where: "without a service worker", serviceWorker: { controller: null }, onSend: silent, handedOver: [] },
      {
        where: "that a service worker controls, after progress was reported",
        serviceWorker: controlled,
        onSend: (xhr: FakeXhr.FakeXhr) => xhr.progress(2),
        handedOver: [2]
      }
    ]

    for (const { handedOver, onSend, serviceWorker, where } of hidden) {
      it.scoped(`reports [${handedOver}] bytes as sent after 4 s without progress, in a page ${where}`, () =>
        Effect.gen(function*() {
          const timers = yield* Effect.acquireRelease(
            Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout"] })),
            () => Effect.sync(() => vi.useRealTimers())
          )
          const { requests, storage } = yield* world(onSend)
          Object.assign(navigator, { serviceWorker })
          const sent: Array<number> = []
          const fiber = yield* Effect.fork(put(storage, { onSent: (bytes) => sent.push(bytes) }))
          yield* FakePage.settled
          const before = [...sent]
          timers.advanceTimersByTime(3999)
          assert.deepStrictEqual(sent, before)
          timers.advanceTimersByTime(1)
          assert.deepStrictEqual(sent, handedOver)
          requests[0]?.answer(200, { etag: "\"e\"" })
          assert.strictEqual((yield* Fiber.join(fiber)).etag, "\"e\"")
          assert.strictEqual(sent.reduce((sum, bytes) => sum + bytes, 0), 6)
        }))
    }

    it.scoped("aborts the request on interruption and ignores its later events", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world((xhr) => xhr.progress(2))
        const sent: Array<number> = []
        const fiber = yield* Effect.fork(put(storage, { onSent: (bytes) => sent.push(bytes) }))
        yield* FakePage.settled
        assert.deepStrictEqual(sent, [2])
        yield* Fiber.interrupt(fiber)
        assert.isTrue(requests[0]?.aborted)
        requests[0]?.progress(6)
        requests[0]?.answer(200, { etag: "\"e\"" })
        assert.deepStrictEqual(sent, [2])
        assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      }))

    it.scoped("returns the receipt only after the observer has seen every byte", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const read = yield* Deferred.make<void>()
        const section: SourceSection = {
          range: { offset: 2, length: 6 },
          body: () => Effect.succeed({ _tag: "BlobBody", blob: blob.slice(2, 8), observed: Deferred.await(read) })
        }
        const fiber = yield* Effect.fork(put(storage, { section }))
        yield* FakePage.settled
        assert.lengthOf(requests, 1)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
        assert.deepStrictEqual(yield* Fiber.poll(fiber), Option.none())
        yield* Deferred.succeed(read, undefined)
        assert.strictEqual((yield* Fiber.join(fiber)).etag, "\"e\"")
      }))

    it.scoped("rejects a URL that has expired by the server's clock, and sends nothing", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        yield* TestClock.setTime(Date.UTC(2030, 0, 1))
        yield* put(storage, { clockOffset: 59_000 })
        const error = yield* Effect.flip(put(storage, { clockOffset: 61_000 }))
        assert.deepInclude(error, { _tag: "UrlExpired", reason: "Deadline", attempts: 0 })
        assert.lengthOf(requests, 1)
      }))

    it.scoped("tells from a 403 without a date, by the server's clock, that the URL has expired meanwhile", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world(() => {})
        yield* TestClock.setTime(Date.UTC(2030, 0, 1))
        const fiber = yield* Effect.fork(put(storage, { clockOffset: 59_000 }))
        yield* FakePage.settled
        yield* TestClock.adjust("2 seconds")
        requests[0]?.answer(403, {}, "<Error><Code>AccessDenied</Code></Error>")
        assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { _tag: "UrlExpired" })
      }))

    it.scoped("names every header that it sent if storage finds another signature", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) =>
          xhr.answer(403, {}, "<Error><Code>SignatureDoesNotMatch</Code></Error>")
        )
        const error = yield* Effect.flip(put(storage, { headers: { "x-a": "1" } }))
        assert(error._tag === "SignatureMismatch403")
        assert.sameMembers([...error.sentHeaders], ["content-length", "x-a"])
      }))

    it.scoped("fails with SourceChanged if the body is shorter than its section, and sends nothing", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const error = yield* Effect.flip(put(storage, { of: new Blob(["0123"]) }))
        assert.deepInclude(error, { _tag: "SourceChanged", what: "tooShort", actual: "2" })
        assert.deepStrictEqual(requests, [])
      }))

    it.scoped("fails with EtagMissing if the response exposes no ETag", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.answer(200))
        assert.strictEqual((yield* Effect.flip(put(storage)))._tag, "EtagMissing")
      }))

    it.scoped("rejects a successful response from another URL as a redirect", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.answer(200, { etag: "\"e\"" }, "", "https://elsewhere.test/"))
        const error = yield* Effect.flip(put(storage))
        assert.deepInclude(error, { _tag: "StorageRejected", status: 307 })
      }))

    it.scoped("accepts a response whose URL the browser does not tell", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.answer(200, { etag: "\"e\"" }, "", ""))
        assert.strictEqual((yield* put(storage)).etag, "\"e\"")
      }))

    it.scoped("hints at CORS when a connection fails only until the origin has responded once", () =>
      Effect.gen(function*() {
        let online = false
        const { storage } = yield* world((xhr) => online ? stored(xhr) : xhr.fail())
        const before = yield* Effect.flip(put(storage))
        assert.deepInclude(before, { _tag: "ConnectionFailed", hint: "cors", arrived: "unknown", attempts: 1 })
        assert.notProperty(before, "code")
        online = true
        yield* put(storage)
        online = false
        const after = yield* Effect.flip(put(storage, { attempt: 2 }))
        assert.deepInclude(after, { _tag: "ConnectionFailed", attempts: 2 })
        assert.notProperty(after, "hint")
        const elsewhere = signed(href.replace("bucket", "other"))
        assert.propertyVal(yield* Effect.flip(put(storage, { url: elsewhere })), "hint", "cors")
      }))

    it.scoped("does not hint at CORS if the origin has responded to a download", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.fail())
        vi.stubGlobal("fetch", () => Promise.resolve(new Response(content)))
        yield* storage.get({ url: signed(href), attempt: 1, range: { start: 0, end: 9 } })
        assert.notProperty(yield* Effect.flip(put(storage)), "hint")
      }))

    it.scoped("does not hint at CORS after an error response of the origin", () =>
      Effect.gen(function*() {
        let answers = true
        const { storage } = yield* world((xhr) => answers ? xhr.answer(503) : xhr.fail())
        assert.strictEqual((yield* Effect.flip(put(storage)))._tag, "StorageUnavailable")
        answers = false
        assert.notProperty(yield* Effect.flip(put(storage)), "hint")
      }))

    it.scoped("reports OFFLINE without a hint at CORS if the connection fails while the browser is offline", () =>
      Effect.gen(function*() {
        const { page, storage } = yield* world((xhr) => xhr.fail())
        page.setOnline(false)
        const error = yield* Effect.flip(put(storage))
        assert.deepInclude(error, { _tag: "ConnectionFailed", code: "OFFLINE" })
        assert.notProperty(error, "hint")
      }))

    it.scoped("fails with SourceChanged if the connection fails and the file has become unreadable", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.fail())
        const changed = new Unreadable([content.subarray(2, 8)])
        const section: SourceSection = {
          range: { offset: 2, length: 6 },
          body: () => Effect.succeed({ _tag: "BlobBody", blob: changed, observed: Effect.void })
        }
        const failing = yield* Effect.fork(Effect.flip(put(storage, { section })))
        yield* FakePage.settled
        // a page that is being left would be gone by then
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* Fiber.join(failing), { _tag: "SourceChanged", what: "modified" })
      }))

    const wholeBlob = (blob: Blob): SourceSection => ({
      range: { offset: 0, length: blob.size },
      body: () => Effect.succeed({ _tag: "BlobBody", blob, observed: Effect.void })
    })

    it.scoped("aborts a request that waits if its file has become shorter, long before its timers would end it", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world(() => {})
        const emptied = Object.assign(new Blob([content]), {
          slice: () => ({ size: 1, arrayBuffer: () => Promise.resolve(new ArrayBuffer(0)) })
        })
        const failing = yield* Effect.fork(Effect.flip(put(storage, { section: wholeBlob(emptied) })))
        yield* FakePage.settled
        yield* TestClock.adjust("5 seconds")
        const expected = { _tag: "SourceChanged", what: "size", expected: "1 bytes", actual: "0 bytes" } as const
        assert.deepInclude(yield* Fiber.join(failing), expected)
        assert.isTrue(requests[0]?.aborted)
      }))

    it.scoped("lets a request wait for any time while its file is what it was", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world(() => {})
        const putting = yield* Effect.fork(put(storage, { section: wholeBlob(new Blob([content])) }))
        for (let looks = 0; looks < 20; looks++) {
          yield* FakePage.settled
          yield* TestClock.adjust("5 seconds")
        }
        assert.isTrue(Option.isNone(yield* Fiber.poll(putting)))
        assert.isFalse(requests[0]?.aborted)
        requests.forEach(stored)
        assert.strictEqual((yield* Fiber.join(putting)).etag, "\"e\"")
      }))

    it.scoped("aborts the request if the body becomes unreadable while it is sent", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world(() => {})
        const section: SourceSection = {
          range: { offset: 2, length: 6 },
          body: () =>
            sectionOf(blob).pipe(Effect.flatMap((section) =>
              section.body(() => {
                throw new DOMException("", "NotFoundError")
              })
            ))
        }
        assert.strictEqual((yield* Effect.flip(put(storage, { section })))._tag, "SourceUnreadable")
        assert.isTrue(requests[0]?.aborted)
      }))
  })

  describe("get", () => {
    const fetching = (response: Response) =>
      Effect.gen(function*() {
        const { storage } = yield* world()
        const asked: Array<readonly [string, RequestInit | undefined]> = []
        vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
          asked.push([url, init])
          return Promise.resolve(response)
        })
        return { asked, storage, get: storage.get({ url: signed(href), attempt: 1, range: { start: 2, end: 4 } }) }
      })

    it.scoped("requests the range at the unchanged URL without credentials or referrer, and returns its bytes", () =>
      Effect.gen(function*() {
        const { asked, get } = yield* fetching(
          new Response(content.subarray(2, 5), { status: 206, headers: { "content-range": "bytes 2-4/10" } })
        )
        const answer = yield* get
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(yield* Stream.runCollect(answer.bytes)).flatMap((bytes) => [...bytes]),
          [
            ...content.subarray(2, 5)
          ]
        )
        assert.deepInclude(answer, { partial: true, start: 2, totalLength: Option.some(10) })
        const [[url, init] = [], ...more] = asked
        assert.deepStrictEqual(more, [])
        assert.strictEqual(url, href)
        assert.deepInclude(init, {
          headers: { range: "bytes=2-4" },
          credentials: "omit",
          redirect: "follow",
          referrerPolicy: "no-referrer"
        })
      }))

    it.scoped("omits the lengths and weakens the etag of a response that fetch has decoded", () =>
      Effect.gen(function*() {
        const { get } = yield* fetching(
          new Response(content, { headers: { "content-encoding": "gzip", "content-length": "4", etag: "\"e\"" } })
        )
        assert.deepInclude(yield* get, {
          start: 0,
          length: Option.none(),
          totalLength: Option.none(),
          etag: Option.some("W/\"e\"")
        })
      }))

    it.scoped("aborts the request when the scope closes", () =>
      Effect.gen(function*() {
        const { asked, get } = yield* fetching(new Response(content, { status: 200 }))
        yield* Effect.scoped(Effect.zipRight(get, Effect.sync(() => assert.isFalse(asked[0]?.[1]?.signal?.aborted))))
        assert.isTrue(asked[0]?.[1]?.signal?.aborted)
      }))

    it.scoped("does not send a path that a browser would resolve", () =>
      Effect.gen(function*() {
        const { asked, storage } = yield* fetching(new Response(content))
        const url = Option.getOrThrow(PresignedUrl.fromString("https://bucket.test/a/../b?X-Amz-Signature=1"))
        assert.deepInclude(yield* Effect.flip(storage.get({ url, attempt: 1 })), { _tag: "UrlAltered", attempts: 0 })
        assert.lengthOf(asked, 0)
      }))

    it.scoped("takes the reason of a refusal from its text, and does without one that cannot be read", () =>
      Effect.gen(function*() {
        const document = "<Error><Code>AccessDenied</Code></Error>"
        const told = yield* fetching(new Response(document, { status: 403 }))
        assert.deepInclude(yield* Effect.flip(told.get), { _tag: "StorageForbidden", code: "AccessDenied" })
        const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("network error")) })
        const untold = yield* fetching(new Response(broken, { status: 503 }))
        assert.deepInclude(yield* Effect.flip(untold.get), { _tag: "StorageUnavailable", status: 503 })
      }))

    it.scoped("rejects a response with a range that was not requested, and does not read its bytes", () =>
      Effect.gen(function*() {
        const response = new Response(content.subarray(0, 3), {
          status: 206,
          headers: { "content-range": "bytes 0-2/10" }
        })
        const { get } = yield* fetching(response)
        assert.deepInclude({ ...(yield* Effect.flip(get)) }, { _tag: "StorageRejected", status: 206 })
        assert.isFalse(response.bodyUsed)
      }))
  })
})
