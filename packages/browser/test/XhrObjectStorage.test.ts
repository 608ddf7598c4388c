import { assert, describe, it, vi } from "@effect/vitest"
import { BlobSource, XhrObjectStorage } from "@stevedore/browser"
import { type ObjectStorage, PresignedUrl } from "@stevedore/core"
import type { SourceBody, SourceSection } from "@stevedore/core/UploadSource"
import { Chunk, Deferred, Effect, Exit, FastCheck as fc, Fiber, Option, Stream, TestClock } from "effect"
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
    it.scoped("sends exactly the section to exactly the URL, with exactly the headers", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const headers = { "content-type": "text/plain", "x-a": "1" }
        const receipt = yield* put(storage, { headers })
        assert.deepStrictEqual(receipt, { etag: "\"e\"", requestId: "r", checksums: {} })
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

    it.scoped("bytes and streams go as one Blob as well, in their order and without a type", () =>
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
      "what it tells of sent bytes adds up to the section, whatever the browser tells, and never less than before",
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
      { fastCheck: { numRuns: 15 } }
    )

    it.scoped("interrupted it is dead: aborted, and whatever still comes reaches nobody", () =>
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

    it.scoped("there is no receipt before the observer has seen every byte", () =>
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

    it.scoped("an URL that has ended is told before anything is sent, by the server's clock", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        yield* TestClock.setTime(Date.UTC(2030, 0, 1))
        yield* put(storage, { clockOffset: 59_000 })
        const error = yield* Effect.flip(put(storage, { clockOffset: 61_000 }))
        assert.deepInclude(error, { _tag: "UrlExpired", reason: "Deadline", attempts: 0 })
        assert.lengthOf(requests, 1)
      }))

    it.scoped("a body of another length than its section is a source that changed, and is not sent", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world()
        const error = yield* Effect.flip(put(storage, { of: new Blob(["0123"]) }))
        assert.deepInclude(error, { _tag: "SourceChanged", what: "size", actual: "2 bytes" })
        assert.deepStrictEqual(requests, [])
      }))

    it.scoped("an ETag that the bucket does not expose is named", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.answer(200))
        assert.strictEqual((yield* Effect.flip(put(storage)))._tag, "EtagMissing")
      }))

    it.scoped("an answer from elsewhere than the URL was signed for is a redirect, whatever it says", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.answer(200, { etag: "\"e\"" }, "", "https://elsewhere.test/"))
        const error = yield* Effect.flip(put(storage))
        assert.deepInclude(error, { _tag: "StorageRejected", status: 307 })
      }))

    it.scoped("no answer: CORS may be the reason only as long as nothing of the origin was ever answered", () =>
      Effect.gen(function*() {
        let online = false
        const { storage } = yield* world((xhr) => online ? stored(xhr) : xhr.fail())
        const before = yield* Effect.flip(put(storage))
        assert.deepInclude(before, { _tag: "ConnectionFailed", hint: "cors", arrived: "unknown", attempts: 1 })
        online = true
        yield* put(storage)
        online = false
        const after = yield* Effect.flip(put(storage, { attempt: 2 }))
        assert.deepInclude(after, { _tag: "ConnectionFailed", attempts: 2 })
        assert.notProperty(after, "hint")
        const elsewhere = signed(href.replace("bucket", "other"))
        assert.propertyVal(yield* Effect.flip(put(storage, { url: elsewhere })), "hint", "cors")
      }))

    it.scoped("an answer that is an error proves as well that CORS lets the page through", () =>
      Effect.gen(function*() {
        let answers = true
        const { storage } = yield* world((xhr) => answers ? xhr.answer(503) : xhr.fail())
        assert.strictEqual((yield* Effect.flip(put(storage)))._tag, "StorageUnavailable")
        answers = false
        assert.notProperty(yield* Effect.flip(put(storage)), "hint")
      }))

    it.scoped("no answer while the browser is offline is said to be that, and no matter of CORS", () =>
      Effect.gen(function*() {
        const { page, storage } = yield* world((xhr) => xhr.fail())
        page.setOnline(false)
        const error = yield* Effect.flip(put(storage))
        assert.deepInclude(error, { _tag: "ConnectionFailed", code: "OFFLINE" })
        assert.notProperty(error, "hint")
      }))

    it.scoped("no answer because the file changed is the file's failure, not the network's", () =>
      Effect.gen(function*() {
        const { storage } = yield* world((xhr) => xhr.fail())
        const changed = new Unreadable([content.subarray(2, 8)])
        const section: SourceSection = {
          range: { offset: 2, length: 6 },
          body: () => Effect.succeed({ _tag: "BlobBody", blob: changed, observed: Effect.void })
        }
        const error = yield* Effect.flip(put(storage, { section }))
        assert.deepInclude(error, { _tag: "SourceChanged", what: "modified" })
      }))

    it.scoped("a body that cannot be read while it goes up ends the request", () =>
      Effect.gen(function*() {
        const { requests, storage } = yield* world(() => {})
        const section: SourceSection = {
          range: { offset: 2, length: 6 },
          body: () =>
            sectionOf(blob).pipe(Effect.flatMap((section) =>
              section.body(() => {
                throw new DOMException("it has changed", "NotReadableError")
              })
            ))
        }
        assert.strictEqual((yield* Effect.flip(put(storage, { section })))._tag, "SourceChanged")
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
        return { asked, get: storage.get({ url: signed(href), attempt: 1, range: { start: 2, end: 4 } }) }
      })

    it.scoped("asks for exactly the range at exactly the URL, and tells nobody who asks", () =>
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
          redirect: "manual",
          referrerPolicy: "no-referrer"
        })
      }))

    it.scoped("of what fetch has decoded nothing is told but the bytes", () =>
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

    it.scoped("the connection ends with the scope", () =>
      Effect.gen(function*() {
        const { asked, get } = yield* fetching(new Response(content, { status: 200 }))
        yield* Effect.scoped(Effect.zipRight(get, Effect.sync(() => assert.isFalse(asked[0]?.[1]?.signal?.aborted))))
        assert.isTrue(asked[0]?.[1]?.signal?.aborted)
      }))

    it.scoped("a redirect, of which a browser tells nothing, is refused as one", () =>
      Effect.gen(function*() {
        const opaque = Object.defineProperties(new Response(null), {
          type: { value: "opaqueredirect" },
          status: { value: 0 }
        })
        const { get } = yield* fetching(opaque)
        assert.deepInclude(yield* Effect.flip(get), { _tag: "StorageRejected", status: 302 })
      }))

    it.scoped("another range than the one that was asked for is no answer", () =>
      Effect.gen(function*() {
        const { get } = yield* fetching(
          new Response(content.subarray(0, 3), { status: 206, headers: { "content-range": "bytes 0-2/10" } })
        )
        assert.strictEqual((yield* Effect.flip(get))._tag, "StorageRejected")
      }))
  })
})
