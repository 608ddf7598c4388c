import { HttpBody } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { UrlSigner } from "@stevedore/server"
import { Effect, FastCheck, Layer, TestClock } from "effect"
import { FaultScript, Sandbox, SandboxHttp, SandboxOptions } from "../../src/index.js"
import * as Calls from "../Calls.js"
import { runs } from "../support/runs.js"

const sandbox = (options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory({ minimumPartSize: 4, ...options }))

const hello = Calls.bytesOf("hello")

const refuses = (
  name: string,
  request: (url: string) => ReturnType<typeof Calls.storage>,
  expected: { readonly status: number; readonly code: string }
) =>
  it.effect(name, () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      const { body, headers, status } = yield* request(url)
      assert.strictEqual(status, expected.status)
      assert.strictEqual(Calls.codeOf(body), expected.code)
      assert.strictEqual(headers["content-type"], "application/xml")
      assert.match(headers["x-amz-request-id"] ?? "", /^[0-9A-F]{16}$/)
      assert.strictEqual(Calls.elementOf(body, "RequestId"), headers["x-amz-request-id"])
    }).pipe(Effect.provide(sandbox())))

const signedGet = (fileId: string, method = "GET") =>
  UrlSigner.sign(SandboxOptions.resolve().credential, {
    method,
    origin: "https://storage.sandbox.test",
    path: `/stevedore-sandbox/files/${fileId}`,
    at: 0,
    expiresIn: 3600
  })

/** What a page may read in any case, and what is for its browser. */
const readable =
  /^(?:access-control-.*|cache-control|content-(?:length|security-policy|type)|expires|last-modified|vary|x-content-type-options)$/

const idOf = (url: string): string => /\/files\/([^?]+)/.exec(url)?.[1] ?? assert.fail(url)

describe("StorageApp", () => {
  describe("PUT", () => {
    it.effect("responds with a quoted etag, the encryption header and the date", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        const { headers, status } = yield* Calls.put(url, hello)
        assert.strictEqual(status, 200)
        assert.match(headers["etag"] ?? "", /^"[0-9a-f]{32}"$/)
        assert.strictEqual(headers["x-amz-server-side-encryption"], "aws:kms")
        assert.strictEqual(headers["date"], "Thu, 01 Jan 1970 00:00:00 GMT")
      }).pipe(Effect.provide(sandbox())))

    refuses("rejects a PUT without the signed encryption header", (url) => Calls.put(url, hello, {}), {
      status: 403,
      code: "SignatureDoesNotMatch"
    })
    refuses("rejects an altered URL", (url) => Calls.put(url.replace("files", "filed"), hello), {
      status: 403,
      code: "SignatureDoesNotMatch"
    })
    refuses(
      "rejects an unsigned `x-amz-acl` header",
      (url) => Calls.put(url, hello, { ...Calls.ENCRYPTION, "x-amz-acl": "public-read" }),
      { status: 403, code: "AccessDenied" }
    )
    refuses(
      "rejects a bearer token on a pre-signed URL",
      (url) => Calls.put(url, hello, { ...Calls.ENCRYPTION, authorization: "Bearer api.sandbox" }),
      {
        status: 400,
        code: "InvalidArgument"
      }
    )
    refuses(
      "rejects a chunked body",
      (url) => Calls.storage("PUT", url, { body: Calls.streamed([hello]), headers: Calls.ENCRYPTION }),
      {
        status: 501,
        code: "NotImplemented"
      }
    )
    refuses(
      "rejects a body that is shorter than its Content-Length",
      (url) => Calls.storage("PUT", url, { body: Calls.streamed([hello], 6), headers: Calls.ENCRYPTION }),
      {
        status: 400,
        code: "IncompleteBody"
      }
    )
    refuses(
      "rejects a request without a Content-Length",
      (url) => Calls.storage("PUT", url, { headers: { ...Calls.ENCRYPTION, "content-length": "" } }),
      {
        status: 411,
        code: "MissingContentLength"
      }
    )
    refuses(
      "rejects more than 5 GiB in one PUT",
      (url) => Calls.storage("PUT", url, { body: Calls.streamed([hello], 5_368_709_121), headers: Calls.ENCRYPTION }),
      {
        status: 400,
        code: "EntityTooLarge"
      }
    )
    refuses("rejects an OPTIONS request without preflight headers", (url) => Calls.storage("OPTIONS", url), {
      status: 403,
      code: "AccessForbidden"
    })

    it.effect("rejects an expired URL by its own clock and reports its time", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* TestClock.adjust("3 hours")
        assert.strictEqual((yield* Calls.put(url, hello)).status, 200)
        yield* TestClock.adjust("1 second")
        const { body, status } = yield* Calls.put(url, hello)
        assert.strictEqual(status, 403)
        assert.strictEqual(Calls.codeOf(body), "AccessDenied")
        assert.strictEqual(Calls.elementOf(body, "Message"), "Request has expired")
        assert.strictEqual(Calls.elementOf(body, "ServerTime"), "1970-01-01T04:00:01.000Z")
        assert.strictEqual(Calls.elementOf(body, "Expires"), "1970-01-01T04:00:00.000Z")
      }).pipe(Effect.provide(sandbox({ clockOffsetMillis: 3_600_000 }))))

    it.effect("rejects another media type than the declared one if `signContentType` is set", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5, "text/plain")
        const other = { ...Calls.ENCRYPTION, "content-type": "text/html" }
        assert.strictEqual((yield* Calls.put(url, hello, other)).status, 403)
        assert.strictEqual((yield* Calls.put(url, hello)).status, 200)
      }).pipe(Effect.provide(sandbox({ signContentType: true }))))

    it.effect("requires every configured encryption header", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        const key = { "x-amz-server-side-encryption-aws-kms-key-id": "key-1" }
        assert.strictEqual((yield* Calls.put(url, hello)).status, 403)
        assert.strictEqual((yield* Calls.put(url, hello, { ...Calls.ENCRYPTION, ...key })).status, 200)
      }).pipe(Effect.provide(sandbox({
        encryptionHeaders: {
          "x-amz-server-side-encryption": "aws:kms",
          "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "key-1"
        }
      }))))
  })

  describe("PUT of a part", () => {
    it.effect("rejects the encryption header of a single PUT", () =>
      Effect.gen(function*() {
        const { urls } = yield* Calls.initiateLarge(8, 2)
        const { body, status } = yield* Calls.put(urls[0] ?? "", hello)
        assert.strictEqual(status, 400)
        assert.strictEqual(Calls.codeOf(body), "InvalidArgument")
      }).pipe(Effect.provide(sandbox())))

    it.effect("rejects a part of a completed upload with `NoSuchUpload`", () =>
      Effect.gen(function*() {
        const { id, uploadId, urls } = yield* Calls.initiateLarge(5, 1)
        const { headers } = yield* Calls.putPart(urls[0] ?? "", hello)
        const parts = [{ part_number: 1, etag: headers["etag"] }]
        yield* Calls.json("POST", `/v2/files/${id}/large-upload/complete`, { upload_id: uploadId, parts })
        const { body, status } = yield* Calls.putPart(urls[0] ?? "", hello)
        assert.strictEqual(status, 404)
        assert.strictEqual(Calls.codeOf(body), "NoSuchUpload")
      }).pipe(Effect.provide(sandbox())))

    it.effect.prop(
      "rejects a part number outside 1 to 10000 even if its URL is signed correctly",
      { partNumber: FastCheck.oneof(FastCheck.integer({ min: 10_001 }), FastCheck.integer({ max: 0 })) },
      ({ partNumber }) =>
        Effect.gen(function*() {
          const url = yield* UrlSigner.sign(SandboxOptions.resolve().credential, {
            method: "PUT",
            origin: "https://storage.sandbox.test",
            path: "/stevedore-sandbox/files/1",
            query: { partNumber: String(partNumber), uploadId: "upload" },
            at: 0,
            expiresIn: 60
          })
          const { body, status } = yield* Calls.putPart(url, hello)
          assert.strictEqual(status, 400)
          assert.strictEqual(Calls.codeOf(body), "InvalidArgument")
        }).pipe(Effect.provide(sandbox())),
      { fastCheck: { numRuns: runs(10) } }
    )
  })

  describe("GET and HEAD", () => {
    const reading = (headers: Record<string, string>, method: "GET" | "HEAD" = "GET") =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("0123456789")
        return yield* Calls.storage(method, yield* signedGet(id, method), { headers })
      }).pipe(Effect.provide(sandbox()))

    it.effect("return the whole object with its media type, length, etag and date", () =>
      Effect.gen(function*() {
        const { body, headers, status } = yield* reading({})
        assert.strictEqual(status, 200)
        assert.strictEqual(body, "0123456789")
        assert.strictEqual(headers["content-length"], "10")
        assert.strictEqual(headers["content-type"], "text/plain")
        assert.strictEqual(headers["accept-ranges"], "bytes")
        assert.strictEqual(headers["last-modified"], "Thu, 01 Jan 1970 00:00:00 GMT")
        assert.match(headers["etag"] ?? "", /^"[0-9a-f]{32}"$/)
      }))

    it.effect("return the length and no body for HEAD", () =>
      Effect.gen(function*() {
        const { body, headers, status } = yield* reading({}, "HEAD")
        assert.strictEqual(status, 200)
        assert.strictEqual(body, "")
        assert.strictEqual(headers["content-length"], "10")
      }))

    it.effect.prop(
      "return every range with status 206 and Content-Range",
      { from: FastCheck.nat(9), length: FastCheck.integer({ min: 1, max: 20 }) },
      ({ from, length }) =>
        Effect.gen(function*() {
          const { body, headers, status } = yield* reading({ range: `bytes=${from}-${from + length - 1}` })
          const expected = "0123456789".slice(from, from + length)
          assert.strictEqual(status, 206)
          assert.strictEqual(body, expected)
          assert.strictEqual(headers["content-length"], String(expected.length))
          assert.strictEqual(headers["content-range"], `bytes ${from}-${from + expected.length - 1}/10`)
        }),
      { fastCheck: { numRuns: runs(20) } }
    )

    it.effect("return open-ended and suffix ranges, and ignore invalid or multiple ranges", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* reading({ range: "bytes=7-" })).body, "789")
        assert.strictEqual((yield* reading({ range: "bytes=-2" })).body, "89")
        for (const range of ["bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,3-4", "lines=0-1"]) {
          assert.strictEqual((yield* reading({ range })).status, 200)
        }
      }))

    it.effect("reject a range outside the object", () =>
      Effect.gen(function*() {
        const { body, status } = yield* reading({ range: "bytes=10-" })
        assert.strictEqual(status, 416)
        assert.strictEqual(Calls.codeOf(body), "InvalidRange")
        assert.strictEqual(Calls.elementOf(body, "ActualObjectSize"), "10")
      }))

    it.effect("obey If-Match, If-None-Match and If-Range", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("0123456789")
        const url = yield* signedGet(id)
        const etag = (yield* Calls.storage("GET", url)).headers["etag"] ?? ""
        const get = (headers: Record<string, string>) => Calls.storage("GET", url, { headers })
        assert.strictEqual((yield* get({ "if-match": etag })).status, 200)
        assert.strictEqual((yield* get({ "if-match": "\"other\"" })).status, 412)
        assert.strictEqual((yield* get({ "if-none-match": etag })).status, 304)
        assert.strictEqual((yield* get({ "if-range": etag, range: "bytes=0-1" })).body, "01")
        assert.strictEqual((yield* get({ "if-range": "\"other\"", range: "bytes=0-1" })).body, "0123456789")
      }).pipe(Effect.provide(sandbox())))

    it.effect("report a missing object as `NoSuchKey` and a missing bucket as `NoSuchBucket`", () =>
      Effect.gen(function*() {
        const missing = yield* Calls.storage("GET", yield* signedGet("nothing"))
        assert.strictEqual(missing.status, 404)
        assert.strictEqual(Calls.codeOf(missing.body), "NoSuchKey")
        const elsewhere = yield* UrlSigner.sign(SandboxOptions.resolve().credential, {
          method: "GET",
          origin: "https://storage.sandbox.test",
          path: "/elsewhere/key",
          at: 0,
          expiresIn: 60
        })
        assert.strictEqual(Calls.codeOf((yield* Calls.storage("GET", elsewhere)).body), "NoSuchBucket")
      }).pipe(Effect.provide(sandbox())))
  })

  it.effect.each(
    [
      [301, "PermanentRedirect"],
      [307, "TemporaryRedirect"],
      [403, "AccessDenied"],
      [404, "NoSuchKey"],
      [405, "MethodNotAllowed"],
      [409, "OperationAborted"],
      [411, "MissingContentLength"],
      [412, "PreconditionFailed"],
      [416, "InvalidRange"],
      [500, "InternalError"],
      [501, "NotImplemented"],
      [503, "SlowDown"]
    ] as const
  )("a fault %d without a code has S3's for it, %s", ([status, code]) =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      const answer = yield* Calls.put(url, hello)
      assert.strictEqual(answer.status, status)
      assert.strictEqual(Calls.codeOf(answer.body), code)
    }).pipe(Effect.provide(sandbox({ faults: FaultScript.on("put").answer(status) }))))

  describe("CORS", () => {
    const preflight = (options: SandboxOptions.Options | undefined, asked: string, method = "PUT") =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        return yield* Calls.storage("OPTIONS", url, {
          headers: {
            origin: "https://page.test",
            "access-control-request-method": method,
            "access-control-request-headers": asked
          }
        })
      }).pipe(Effect.provide(sandbox(options)))

    it.effect("allows an upload's PUT, but no DELETE, trace or authorization header, and nothing if CORS is off", () =>
      Effect.gen(function*() {
        const allowed = yield* preflight(undefined, "Content-Type, x-amz-server-side-encryption")
        assert.strictEqual(allowed.status, 200)
        assert.strictEqual(allowed.headers["access-control-allow-origin"], "*")
        assert.include(allowed.headers["access-control-allow-methods"] ?? "", "PUT")
        for (const header of ["traceparent", "b3", "authorization"]) {
          assert.strictEqual((yield* preflight(undefined, header)).status, 403)
        }
        assert.strictEqual((yield* preflight(undefined, "", "DELETE")).status, 403)
        assert.strictEqual((yield* preflight({ cors: false }, "")).status, 403)
      }))

    const exposed = (options?: SandboxOptions.Options) =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        const { headers } = yield* Calls.put(url, hello, { ...Calls.ENCRYPTION, origin: "https://page.test" })
        return headers["access-control-expose-headers"]
      }).pipe(Effect.provide(sandbox(options)))

    it.effect("exposes the etag to pages unless the options hide it", () =>
      Effect.gen(function*() {
        assert.match((yield* exposed()) ?? "", /\bETag\b/)
        assert.notMatch((yield* exposed({ cors: { exposeEtag: false } })) ?? "", /\bETag\b/)
        assert.isUndefined(yield* exposed({ cors: false }))
      }))

    it.effect("lets a page read every header of an answer to a PUT and a GET", () =>
      Effect.gen(function*() {
        const page = { origin: "https://page.test" }
        const { url } = yield* Calls.initiate(5)
        const answers = [
          yield* Calls.put(url, hello, { ...Calls.ENCRYPTION, ...page }),
          yield* Calls.storage("GET", yield* signedGet(idOf(url)), { headers: { ...page, range: "bytes=1-2" } })
        ]
        assert.deepStrictEqual(answers.map(({ status }) => status), [200, 206])
        for (const { headers } of answers) {
          const shown = (headers["access-control-expose-headers"] ?? "").toLowerCase().split(/, */)
          const others = Object.keys(headers).filter((name) => !readable.test(name) && !shown.includes(name))
          assert.deepStrictEqual(others, [])
        }
      }).pipe(Effect.provide(sandbox())))

    it.effect("allows pages to read an error response too", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        const { headers, status } = yield* Calls.storage("PUT", url, {
          body: HttpBody.uint8Array(hello),
          headers: { origin: "https://page.test" }
        })
        assert.strictEqual(status, 403)
        assert.strictEqual(headers["access-control-allow-origin"], "*")
      }).pipe(Effect.provide(sandbox())))
  })
})
