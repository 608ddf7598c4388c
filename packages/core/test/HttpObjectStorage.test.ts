import { assert, describe, it } from "@effect/vitest"
import { type ObjectStorage, SourceError, UploadSources } from "@stevedore/core"
import { Cause, Chunk, Effect, Either, FastCheck as fc, Logger, LogLevel, Option, Stream, TestClock } from "effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { runs } from "../../testing/test/support/runs.js"
import * as StorageAttempt from "../src/storage/attempt.js"
import { storageOver } from "../src/storage/transport.js"
import type { SourceSection } from "../src/UploadSource.js"
import * as FakeHttp from "./fixtures/FakeHttp.js"
import {
  bytesBody,
  errorOf,
  type Form,
  put,
  request,
  section,
  text,
  withStorage
} from "./fixtures/httpObjectStorage.js"
import { deadline, href, hrefs, parse, presigned, signature, signedAt } from "./fixtures/presignedUrls.js"

const streamBody: Form = (bytes, observe) => ({
  _tag: "StreamBody",
  stream: Stream.fromIterable(bytes).pipe(
    Stream.map((byte) => Uint8Array.of(byte)),
    Stream.tap((chunk) => Effect.sync(() => observe(chunk)))
  )
})

const nativeBody: Form = (bytes, observe) => {
  observe(bytes)
  return { _tag: "NativeBody", content: bytes }
}

const stored = () => new Response("", { headers: { etag: "\"e-1\"", "x-amz-request-id": "REQ7" } })

const forms: ReadonlyArray<readonly [string, Form]> = [
  ["bytes", bytesBody],
  ["a stream", streamBody],
  ["a value of the platform", nativeBody]
]

const get = (
  answer: FakeHttp.Answer,
  changes: Partial<ObjectStorage.GetRequest> = {}
) => {
  const { client, seen } = FakeHttp.make(answer)
  return withStorage(client, (storage) =>
    Effect.scoped(Effect.gen(function*() {
      const { bytes, ...told } = yield* storage.get({ url: presigned(), attempt: 1, ...changes })
      const chunks = yield* Stream.runCollect(bytes)
      return {
        ...told,
        text: new TextDecoder().decode(Uint8Array.from(Chunk.toReadonlyArray(chunks).flatMap((one) => [...one])))
      }
    }))).pipe(Effect.either, Effect.map((result) => ({ result, seen })))
}

/** A response as React Native's fetch gives it. */
class Whole extends Response {
  override get body() {
    return null
  }
}

describe("HttpObjectStorage", () => {
  describe("over a fetch without streams", () => {
    it.effect("takes a body as a whole, also an empty one", () =>
      Effect.gen(function*() {
        for (const content of ["", "hello"]) {
          const headers = { "content-length": String(content.length), etag: "\"e-1\"" }
          const { result } = yield* get(() => new Whole(content, { headers }))
          assert.deepInclude(Either.getOrThrow(result), { text: content })
        }
        const { result } = yield* put(() => new Whole("<Error><Code>SlowDown</Code></Error>", { status: 503 }))
        assert.deepInclude(errorOf(result), { _tag: "StorageUnavailable", code: "SlowDown" })
      }))

    it.effect("says that it takes no more than 64 MiB, which no retry would change", () =>
      Effect.gen(function*() {
        const headers = { "content-length": String(64 * 1024 * 1024 + 1) }
        const { result } = yield* get(() => new Whole("the start", { headers }))
        const error = errorOf(result)
        assert.deepInclude(error, { _tag: "ConnectionFailed", code: "NO_STREAM", recovery: "none" })
        assert.include(error.message, "ask for smaller ranges")
      }))
  })

  describe("put", () => {
    it.effect.prop(
      "sends the URL byte-identical, whatever it contains",
      { href: hrefs },
      ({ href }) =>
        Effect.map(put(stored, { url: parse(href) }), ({ seen }) => {
          assert.strictEqual(seen[0]?.url, href)
        })
    )

    it.effect("a URL as signers write it is unchanged on the wire", () =>
      Effect.map(put(stored), ({ seen }) => assert.strictEqual(seen[0]?.href, href({ part: 3 }))))

    describe.each(forms)("of %s", (_, form) => {
      it.effect("sends the bytes with their length and the given headers, and nothing else", () =>
        Effect.gen(function*() {
          const headers = { "content-type": "text/plain", "x-amz-server-side-encryption": "aws:kms" }
          for (const given of [headers, {}]) {
            const { seen: [one] } = yield* put(stored, { section: section(text("hello"), form), headers: given })
            assert.strictEqual(one?.method, "PUT")
            assert.deepStrictEqual(one?.body, text("hello"))
            assert.strictEqual(one?.contentLength, 5)
            const { "content-length": length, ...others } = one?.headers ?? {}
            assert.isTrue(length === undefined || length === "5")
            assert.deepStrictEqual(others, { "accept-encoding": "identity", ...given })
          }
        }))

      it.effect("counts what is sent", () =>
        Effect.gen(function*() {
          let sent = 0
          yield* put(stored, {
            section: section(text("hello"), form),
            onSent: (bytes) => {
              sent += bytes
            }
          })
          assert.strictEqual(sent, 5)
        }))

      it.effect.each([4, 6])(
        "of a length other than declared (%d) is SourceChanged, never a success",
        (length) =>
          Effect.gen(function*() {
            const { result } = yield* put(stored, { section: section(text("hello"), form, length) })
            // who stopped early, the source or storage, nobody can tell of what the platform sends by itself
            const expected: Readonly<Record<string, unknown>> = form === nativeBody && length > 5
              ? { _tag: "StorageUnavailable", sentBytes: 5 }
              : { _tag: "SourceChanged", fileName: "a.txt", what: length < 5 ? "tooLong" : "tooShort" }
            const error: Readonly<Record<string, unknown>> = { ...errorOf(result) }
            assert.include(error, expected)
          })
      )
    })

    it.effect("a success before all bytes were sent is no receipt: it is tried again, and the file is not blamed", () =>
      Effect.gen(function*() {
        const request = {
          url: presigned({ part: 3 }),
          section: section(text("hello")),
          name: "a.txt",
          headers: {},
          clockOffset: 0,
          attempt: 2,
          onSent: () => {}
        }
        const storage = storageOver({
          put: () => Effect.succeed({ status: 200, headers: { etag: "\"early\"" }, body: "", sent: 2 }),
          get: () => Effect.never,
          isExact: true,
          redirects: StorageAttempt.followed
        })
        const error = yield* Effect.flip(storage.put(request))
        assert.include({ ...error }, { _tag: "StorageUnavailable", part: 3, status: 200, sentBytes: 2, attempts: 2 })
        assert.strictEqual(error.recovery, "retry")
        assert.match(error.message, /when only 2 bytes had been sent/)
      }))

    it.effect.each(["/a/./b", "/a/../b", "/a/%2e%2E/b", "/..", "/a\\b"])(
      "a path that a client would resolve (%s) is not sent",
      (path) =>
        Effect.gen(function*() {
          const url = parse(`https://b.test${path}?X-Amz-Signature=1`)
          const { result, seen } = yield* put(stored, { url })
          assert.include({ ...errorOf(result) }, { _tag: "UrlAltered", attempts: 0 })
          assert.lengthOf(seen, 0)
        })
    )

    it.effect.each<readonly [href: string, respelled: boolean]>([
      ["https://b.test/a'b?c='d", true],
      ["https://b.test/é", true],
      ["https://b.test/a..b/.c/d.?e=/../", false],
      ["https://b.test", false]
    ])(
      "a refused signature says that %s is sent percent-encoded: %s",
      ([href, respelled]) =>
        Effect.gen(function*() {
          const { result } = yield* put(() => new Response("", { status: 403 }), { url: parse(href) })
          const error = errorOf(result)
          assert.include({ ...error }, { _tag: "SignatureMismatch403", respelled: respelled ? true : undefined })
          assert.strictEqual(/percent-encoded/.test(error.message), respelled)
        })
    )

    it.effect.each(["gzip", "x-gzip", "deflate", "deflate, gzip", "GZIP , identity"])(
      "reads a refusal in the content coding %s, though none was asked for",
      (coding) =>
        Effect.gen(function*() {
          const plain = Buffer.from("<Error><Code>SlowDown</Code></Error>")
          const body = coding === "deflate, gzip"
            ? gzipSync(deflateSync(plain))
            : coding === "deflate"
            ? deflateSync(plain)
            : gzipSync(plain)
          for (const bytes of coding === "deflate" ? [body, deflateRawSync(plain)] : [body]) {
            const { result, seen } = yield* put(() =>
              new Response(bytes, { status: 503, headers: { "content-encoding": coding } })
            )
            assert.include({ ...errorOf(result) }, { _tag: "StorageUnavailable", code: "SlowDown" })
            assert.strictEqual(seen[0]?.headers["accept-encoding"], "identity")
          }
        })
    )

    it.effect.each(["br", "zstd", "gzip, br"])(
      "names a content coding that it cannot undo: %s",
      (coding) =>
        Effect.gen(function*() {
          const body = brotliCompressSync("<Error><Code>AccessDenied</Code></Error>")
          const { result } = yield* put(() =>
            new Response(body, { status: 403, headers: { "content-encoding": coding } })
          )
          const error = errorOf(result)
          assert.strictEqual(error._tag, "StorageRejected")
          assert.include(error.message, `the content coding ${coding}`)
        })
    )

    it.effect("bytes of a length other than declared are not sent at all", () =>
      Effect.map(
        put(stored, { section: section(text("hello"), bytesBody, 6) }),
        ({ seen }) => assert.lengthOf(seen, 0)
      ))

    it.effect("returns a receipt: the etag verbatim, the request id and the checksums", () =>
      Effect.gen(function*() {
        const { result } = yield* put(() =>
          new Response("", {
            headers: { ETag: "\"e-1\"", "X-Amz-Request-Id": "REQ7", "x-amz-checksum-crc32": "c==" }
          })
        )
        assert.deepStrictEqual(
          result,
          Either.right({ etag: "\"e-1\"", requestId: "REQ7", checksums: { crc32: "c==" }, perhapsRepeated: false })
        )
      }))

    it.effect("carries no token and no trace header, even within a span", () =>
      Effect.gen(function*() {
        const { seen: [one] } = yield* Effect.withSpan(put(stored), "parent")
        for (const name of ["authorization", "traceparent", "tracestate", "b3"]) assert.notProperty(one?.headers, name)
      }))

    it.effect("an early refusal is the response, even if the body was not read completely", () =>
      Effect.gen(function*() {
        const early: Form = () => ({ _tag: "NativeBody", content: text("hel") })
        const { result } = yield* put(
          () => new Response("<Error><Code>SignatureDoesNotMatch</Code></Error>", { status: 403 }),
          { section: section(text("hello"), early), headers: { "content-type": "text/plain" } }
        )
        assert.deepInclude({ ...errorOf(result) }, {
          _tag: "SignatureMismatch403",
          part: 3,
          attempts: 2,
          sentHeaders: ["content-type", "content-length"]
        })
      }))

    it.effect("a Blob is sent as it is, and its bytes are observed beside it", () =>
      Effect.gen(function*() {
        let observed = ""
        const blob: Form = (bytes, observe) => ({
          _tag: "BlobBody",
          blob: new Blob([new Uint8Array(bytes)]),
          observed: Effect.sync(() => {
            observed += new TextDecoder().decode(bytes)
            observe(bytes)
          })
        })
        const { result } = yield* put(stored, { section: section(text("hello"), blob) })
        assert.isTrue(Either.isRight(result))
        assert.strictEqual(observed, "hello")
        const short = yield* put(stored, { section: section(text("hello"), blob, 6) })
        assert.include({ ...errorOf(short.result) }, { _tag: "SourceChanged", what: "tooShort" })
      }))

    it.effect("a Blob may have been sent more than once, because browsers repeat one by themselves", () =>
      Effect.gen(function*() {
        const blob: Form = (bytes, observe) => {
          observe(bytes)
          return { _tag: "BlobBody", blob: new Blob(["hello"]), observed: Effect.void }
        }
        const repeated = yield* Effect.forEach(
          [bytesBody, blob, streamBody, nativeBody],
          (form) =>
            Effect.map(
              put(stored, { section: section(text("hello"), form) }),
              ({ result }) => Either.getOrThrow(result)
            )
        )
        assert.deepStrictEqual(repeated.map(({ perhapsRepeated }) => perhapsRepeated), [false, true, false, false])
      }))

    it.effect("an error in the body of a 200 is a failure", () =>
      Effect.map(
        put(() => new Response("<Error><Code>InternalError</Code></Error>", { headers: { etag: "e" } })),
        ({ result }) => assert.include({ ...errorOf(result) }, { _tag: "StorageUnavailable", status: 200 })
      ))

    it.effect.each([301, 302, 307, 308])("a %d is not followed", (status) =>
      Effect.gen(function*() {
        const { result, seen } = yield* put(() =>
          new Response(null, { status, headers: { location: "https://elsewhere.test/" } })
        )
        assert.lengthOf(seen, 1)
        assert.include({ ...errorOf(result) }, { _tag: "StorageRejected", status })
      }))

    it.effect("a URL that has expired by the server's clock is refused before anything is sent or read", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1000)
        const unread: SourceSection = { ...section(text("hello")), body: () => Effect.dieMessage("was read") }
        const { result, seen } = yield* put(stored, { clockOffset: deadline - 1000, section: unread })
        assert.lengthOf(seen, 0)
        assert.include({ ...errorOf(result) }, { _tag: "UrlExpired", reason: "Deadline", attempts: 1 })
        const justBefore = yield* put(stored, { clockOffset: deadline - 1001 })
        assert.isTrue(Either.isRight(justBefore.result))
      }))

    it.effect("a 403 without a reason is judged by the server's clock when it arrives", () =>
      Effect.gen(function*() {
        const late: FakeHttp.Answer = () => Effect.as(TestClock.adjust("1 second"), new Response("", { status: 403 }))
        const after = yield* put(late, { clockOffset: deadline - 1000 })
        assert.strictEqual(errorOf(after.result)._tag, "UrlExpired")
        const before = yield* put(late, { clockOffset: signedAt })
        assert.strictEqual(errorOf(before.result)._tag, "SignatureMismatch403")
      }))

    it.effect("a source that fails in transit is its own error, not the connection's", () =>
      Effect.gen(function*() {
        const failure = new SourceError.SourceUnreadable({ fileName: "a.txt", reason: "Failed", code: "EIO" })
        const breaking: Form = () => ({ _tag: "StreamBody", stream: Stream.fail(failure) })
        const { result } = yield* put(stored, { section: section(text("hello"), breaking) })
        assert.include({ ...errorOf(result) }, { _tag: "SourceUnreadable", reason: "Failed", code: "EIO" })
      }))

    it.effect.each([["ECONNREFUSED", "no"], ["ECONNRESET", "unknown"], ["EPIPE", "unknown"]])(
      "a connection that fails with %s is reported by its code and origin alone",
      ([code = "", arrived]) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(
            withStorage(FakeHttp.broken(code), (storage) => storage.put(request()))
          )
          assert.deepInclude(Object.fromEntries(Object.entries(error)), {
            _tag: "ConnectionFailed",
            peer: "storage",
            origin: "https://bucket.storage.test",
            code,
            arrived,
            attempts: 2
          })
          assert.notInclude(JSON.stringify(error), signature)
        })
    )

    it.effect("a source that can be read again gives each attempt its own body", () =>
      Effect.gen(function*() {
        const source = UploadSources.fromStream("a.txt", Stream.make(text("hel"), text("lo")), { size: 5 })
        const { client, seen } = FakeHttp.make(stored)
        yield* withStorage(client, (storage) =>
          Effect.scoped(Effect.gen(function*() {
            const opened = yield* source.open
            const section = yield* opened.section({ offset: 0, length: 5 })
            yield* storage.put(request({ section }))
            yield* storage.put(request({ section }))
          })))
        assert.deepStrictEqual(seen.map((one) => new TextDecoder().decode(one.body)), ["hello", "hello"])
      }))

    it.effect("a response without a body reads like one with an empty body", () =>
      Effect.gen(function*() {
        const done = yield* put(() => new Response(null, { headers: { etag: "e" } }))
        assert.isTrue(Either.isRight(done.result))
        const refused = yield* put(() => new Response(null, { status: 503 }))
        assert.strictEqual(errorOf(refused.result)._tag, "StorageUnavailable")
      }))

    it.effect("a success whose body breaks off is not a success", () =>
      Effect.gen(function*() {
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => controller.error(Object.assign(new Error("gone"), { code: "ECONNRESET" }))
        })
        const { result } = yield* put(() => new Response(body, { headers: { etag: "e" } }))
        assert.include({ ...errorOf(result) }, { _tag: "ConnectionFailed", arrived: "unknown" })
      }))

    it.effect("the whole response is read, however long, so that its connection can be reused", () =>
      Effect.gen(function*() {
        let left = 200
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(1024).fill(60)) : controller.close()
        })
        const { result } = yield* put(() => new Response(body, { status: 503 }))
        assert.strictEqual(errorOf(result)._tag, "StorageUnavailable")
        assert.isAtMost(left, 0)
      }))
  })

  describe("get", () => {
    it.effect("returns the whole object with its metadata", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* get(() =>
          new Response("hello", { headers: { "content-length": "5", etag: "\"e\"" } })
        )
        assert.deepInclude(Either.getOrThrow(result), {
          etag: Option.some("\"e\""),
          length: Option.some(5),
          totalLength: Option.some(5),
          text: "hello"
        })
        assert.strictEqual(seen[0]?.href, href())
        assert.notProperty(seen[0]?.headers, "range")
        assert.notProperty(seen[0]?.headers, "authorization")
      }))

    it.effect.prop("requests a range as HTTP writes it, and knows the total length", {
      start: fc.nat(1000),
      more: fc.option(fc.nat(1000), { nil: undefined })
    }, ({ more, start }) =>
      Effect.gen(function*() {
        const end = more === undefined ? undefined : start + more
        const { result, seen } = yield* get(
          () => new Response("x", { status: 206, headers: { "content-range": `bytes ${start}-${start}/4242` } }),
          { range: { start, end }, ifMatch: "\"e\"" }
        )
        assert.strictEqual(seen[0]?.headers["range"], `bytes=${start}-${end ?? ""}`)
        assert.strictEqual(seen[0]?.headers["if-match"], "\"e\"")
        assert.deepInclude(Either.getOrThrow(result), { totalLength: Option.some(4242) })
      }), { fastCheck: { numRuns: runs(30) } })

    it.effect.each(
      [
        [204, "StorageRejected"],
        [302, "StorageRejected"],
        [304, "StorageRejected"],
        [404, "StorageRejected"],
        [412, "StorageRejected"],
        [416, "StorageRejected"],
        [403, "SignatureMismatch403"],
        [503, "StorageUnavailable"]
      ] as const
    )("a %s is a typed error: %s", ([status, tag]) =>
      Effect.gen(function*() {
        const { result } = yield* get(() => new Response(null, { status }))
        assert.strictEqual(errorOf(result)._tag, tag)
      }))

    it.effect("a range other than the requested is refused without reading its bytes, however many", () =>
      Effect.gen(function*() {
        let read = 0
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => {
            read += 1
            if (read < 1000) controller.enqueue(new Uint8Array(65_536))
            else controller.close()
          }
        })
        const { result } = yield* get(
          () => new Response(body, { status: 206, headers: { "content-range": "bytes 0-65535999/65536000" } }),
          { range: { start: 5 } }
        )
        assert.deepInclude({ ...errorOf(result) }, { _tag: "StorageRejected", status: 206 })
        assert.isBelow(read, 10)
      }))

    it.effect("bytes that break off are a failed connection, not an end", () =>
      Effect.gen(function*() {
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => controller.error(Object.assign(new Error(href()), { code: "ECONNRESET" }))
        })
        const { result } = yield* get(() => new Response(body))
        assert.deepInclude({ ...errorOf(result) }, { _tag: "ConnectionFailed", code: "ECONNRESET", arrived: "unknown" })
        assert.notInclude(JSON.stringify(errorOf(result)), signature)
      }))
  })

  it.effect("a response that breaks off shows no signature in any log, not even in those of the fibers that read it", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      lines.push(`${String(message)} ${Cause.pretty(cause, { renderErrorCause: true })}`)
    })
    const broken = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("aborted")) }), {
        headers: { etag: "\"e-1\"" }
      })
    return Effect.gen(function*() {
      const { result } = yield* put(broken)
      assert.isTrue(Either.isLeft(result))
      assert.notInclude(lines.join("\n"), signature)
    }).pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.All)
    )
  })
})
