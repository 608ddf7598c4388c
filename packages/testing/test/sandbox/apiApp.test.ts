import { HttpBody } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Redacted, Schema, TestClock } from "effect"
import { Sandbox, SandboxHttp } from "../../src/index.js"
import type { SandboxOptions } from "../../src/index.js"
import * as Calls from "../Calls.js"
import { runs } from "../support/runs.js"

const sandbox = (options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory({ minimumPartSize: 4, ...options }))

const Errors = Schema.Struct({
  errors: Schema.NonEmptyArray(Schema.Struct({
    code: Schema.String,
    title: Schema.String,
    message: Schema.optional(Schema.String),
    path: Schema.optional(Schema.String)
  }))
})

const first = (body: unknown) => Effect.map(Schema.decodeUnknown(Errors)(body), ({ errors }) => errors[0])

const complete = (id: string) => Calls.json("POST", `/v2/files/${id}/upload/complete`)

const completeLarge = (id: string, body: unknown) => Calls.json("POST", `/v2/files/${id}/large-upload/complete`, body)

const declared = { name: "notes.txt", type: "text/plain", size: 5 }

describe("ApiApp", () => {
  it.effect("responds 401 to a wrong token", () =>
    Effect.gen(function*() {
      for (const path of ["/v1/projects", "/v1/token/info", "/v1/files/1"]) {
        const { body, status } = yield* Calls.json("GET", path, undefined, { token: "api.other" })
        assert.strictEqual(status, 401)
        assert.strictEqual((yield* first(body)).code, "Unauthorized")
      }
    }).pipe(Effect.provide(sandbox())))

  it.effect("accepts the configured token", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Calls.json("GET", "/v1/token/info")).status, 200)
    }).pipe(Effect.provide(sandbox({ token: Redacted.make("api.mine") }))))

  it.effect("sends the time of its own clock and a request id in response headers", () =>
    Effect.gen(function*() {
      const { headers } = yield* Calls.json("GET", "/v1/token/info")
      assert.strictEqual(headers["date"], "Wed, 31 Dec 1969 23:59:59 GMT")
      assert.match(headers["x-request-id"] ?? "", /^[0-9A-F]{16}$/)
    }).pipe(Effect.provide(sandbox({ clockOffsetMillis: -1000 }))))

  it.effect("responds 404 to a method and path outside the contract", () =>
    Effect.gen(function*() {
      for (const [method, path] of [["GET", "/v2/files/upload"], ["POST", "/v1/projects"], ["GET", "/"]] as const) {
        const { body, status } = yield* Calls.json(method, path)
        assert.strictEqual(status, 404)
        assert.strictEqual((yield* first(body)).code, "NotFound")
      }
    }).pipe(Effect.provide(sandbox())))

  describe("initiate", () => {
    it.effect("responds 201 with a 22-character id and a pre-signed URL of the storage", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        assert.match(id, /^[0-9A-Za-z]{22}$/)
        assert.strictEqual(new URL(url).origin, "https://storage.sandbox.test")
        assert.strictEqual(new URL(url).searchParams.get("X-Amz-Expires"), "10800")
        assert.strictEqual((yield* Calls.json("POST", "/v2/files/upload", declared)).status, 201)
      }).pipe(Effect.provide(sandbox())))

    const invalid = (path: string, body: unknown, field: string) =>
      Effect.gen(function*() {
        const answer = yield* Calls.json("POST", path, body)
        assert.strictEqual(answer.status, 400)
        const error = yield* first(answer.body)
        assert.strictEqual(error.code, "ValidationError")
        assert.strictEqual(error.path, field)
      })

    it.effect("responds 400 and names the invalid field", () =>
      Effect.gen(function*() {
        for (const path of ["/v2/files/upload", "/v2/files/large-upload"]) {
          yield* invalid(path, { ...declared, size: 0 }, "size")
          yield* invalid(path, { ...declared, size: 1.5 }, "size")
          yield* invalid(path, { ...declared, size: "5" }, "size")
          yield* invalid(path, { name: "a", type: "b" }, "size")
          yield* invalid(path, { ...declared, name: "" }, "name")
          yield* invalid(path, { ...declared, name: "n".repeat(1025) }, "name")
          yield* invalid(path, { ...declared, type: "t".repeat(256) }, "type")
          yield* invalid(path, [1], "")
        }
        yield* invalid("/v2/files/upload", { ...declared, size: 5_000_000_001 }, "size")
        yield* invalid("/v2/files/large-upload", { ...declared, size: 10_000_000_001 }, "size")
      }).pipe(Effect.provide(sandbox())))

    it.effect("limits names to 1024 code points, not UTF-16 code units", () =>
      Effect.gen(function*() {
        for (const path of ["/v2/files/upload", "/v2/files/large-upload"]) {
          const taken = yield* Calls.json("POST", path, { ...declared, name: "🚢".repeat(1024) })
          assert.strictEqual(taken.status, 201)
          yield* invalid(path, { ...declared, name: "🚢".repeat(1025) }, "name")
        }
      }).pipe(Effect.provide(sandbox())))

    it.effect("accepts the maximum sizes of 5 GB (single PUT) and 10 GB (in parts), in decimal units", () =>
      Effect.gen(function*() {
        const alone = yield* Calls.json("POST", "/v2/files/upload", { ...declared, size: 5_000_000_000 })
        const inParts = yield* Calls.json("POST", "/v2/files/large-upload", {
          ...declared,
          size: 10_000_000_000,
          parts: 100
        })
        assert.deepStrictEqual([alone.status, inParts.status], [201, 201])
      }).pipe(Effect.provide(sandbox())))

    it.effect("requires an integer of 1 to 10000 parts, and no more parts than bytes", () =>
      Effect.gen(function*() {
        for (const parts of [0, 10_001, 1.5, "2"]) {
          yield* invalid("/v2/files/large-upload", { ...declared, parts }, "parts")
        }
        yield* invalid("/v2/files/large-upload", { ...declared, parts: 6 }, "parts")
        assert.lengthOf((yield* Calls.initiateLarge(5, 5)).urls, 5)
      }).pipe(Effect.provide(sandbox())))

    it.effect.prop(
      "chooses the number of parts from the size and the recommended part size",
      { size: FastCheck.integer({ min: 1, max: 2000 }) },
      ({ size }) =>
        Effect.gen(function*() {
          const { urls } = yield* Calls.initiateLarge(size)
          assert.lengthOf(urls, Math.ceil(size / 100))
          assert.deepStrictEqual(
            urls.map((url) => Number(new URL(url).searchParams.get("partNumber"))),
            urls.map((_, index) => index + 1)
          )
        }).pipe(Effect.provide(sandbox({ recommendedPartSize: 100 }))),
      { fastCheck: { numRuns: runs(20) } }
    )

    it.effect("responds 400 to a name that cannot be converted to a string", () =>
      Effect.gen(function*() {
        const unshowable = { constructor: { name: { toString: 0, valueOf: 0 } } }
        const answer = yield* Calls.json("POST", "/v2/files/upload", { ...declared, name: unshowable })
        assert.strictEqual(answer.status, 400)
      }).pipe(Effect.provide(sandbox())))

    it.effect("uses the configured field names, also in validation errors", () =>
      Effect.gen(function*() {
        const body = { title: "notes.txt", mime: "text/plain", size: 5 }
        assert.strictEqual((yield* Calls.json("POST", "/v2/files/upload", body)).status, 201)
        yield* invalid("/v2/files/upload", { ...body, title: "" }, "title")
        yield* invalid("/v2/files/upload", declared, "title")
      }).pipe(Effect.provide(sandbox({ fields: { fileName: "title", mediaType: "mime" } }))))

    it.effect("responds with the session in the configured shape", () =>
      Effect.gen(function*() {
        const { body } = yield* Calls.json("POST", "/v2/files/large-upload", { ...declared, parts: 1 })
        const Bare = Schema.Struct({
          file_id: Schema.String,
          upload_id: Schema.String,
          urls: Schema.Array(Schema.Struct({ url: Schema.String, part_number: Schema.Int }))
        })
        const session = yield* Schema.decodeUnknown(Bare)(body)
        assert.strictEqual(session.urls[0]?.part_number, 1)
      }).pipe(Effect.provide(sandbox({ fields: { fileId: "file_id" }, envelope: "none", partUrls: "objects" }))))
  })

  describe("complete", () => {
    it.effect("responds with the file's record, and with the same record when repeated", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Calls.put(url, Calls.bytesOf("hello"))
        const once = yield* complete(id)
        const twice = yield* complete(id)
        assert.strictEqual(once.status, 200)
        assert.deepStrictEqual(once.body, {
          data: {
            id,
            name: "notes.txt",
            type: "text/plain",
            size: 5,
            status: "completed",
            author: { id: "0SandboxAuthor00000000", name: "Sandbox" },
            created_at: "1970-01-01T00:00:00.000Z"
          }
        })
        assert.deepStrictEqual(twice, { ...once, headers: twice.headers })
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 400 before the bytes are uploaded, and succeeds afterwards", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        const early = yield* complete(id)
        assert.strictEqual(early.status, 400)
        assert.strictEqual((yield* first(early.body)).code, "InvalidOperation")
        yield* Calls.put(url, Calls.bytesOf("hello"))
        assert.strictEqual((yield* complete(id)).status, 200)
      }).pipe(Effect.provide(sandbox())))

    it.effect("fails the upload permanently if its size differs from the declared size", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(6)
        yield* Calls.put(url, Calls.bytesOf("hello"))
        const refused = yield* complete(id)
        assert.strictEqual(refused.status, 422)
        assert.strictEqual((yield* first(refused.body)).code, "UnprocessableContent")
        yield* Calls.put(url, Calls.bytesOf("hello!"))
        assert.strictEqual((yield* complete(id)).status, 409)
        assert.deepNestedInclude(yield* Calls.json("GET", `/v1/files/${id}`), { "body.data.status": "failed" })
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 404 to an unknown file id, and 400 to the wrong kind of upload or upload id", () =>
      Effect.gen(function*() {
        const single = yield* Calls.initiate(5)
        const large = yield* Calls.initiateLarge(5, 1)
        const body = { upload_id: large.uploadId, parts: [{ part_number: 1, etag: "\"1\"" }] }
        assert.strictEqual((yield* complete("unknown")).status, 404)
        assert.strictEqual((yield* completeLarge("unknown", body)).status, 404)
        assert.strictEqual((yield* complete(large.id)).status, 400)
        assert.strictEqual((yield* completeLarge(single.id, body)).status, 400)
        assert.strictEqual((yield* completeLarge(large.id, { ...body, upload_id: "other" })).status, 400)
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 404 if the upload was not completed within a day", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Calls.put(url, Calls.bytesOf("hello"))
        yield* TestClock.adjust("25 hours")
        assert.strictEqual((yield* complete(id)).status, 404)
      }).pipe(Effect.provide(sandbox())))
  })

  describe("complete large", () => {
    const putAll = (texts: ReadonlyArray<string>, size: number) =>
      Effect.gen(function*() {
        const session = yield* Calls.initiateLarge(size, texts.length)
        const parts = yield* Effect.forEach(texts, (text, index) =>
          Effect.map(
            Calls.putPart(session.urls[index] ?? "", Calls.bytesOf(text)),
            ({ headers }) => ({ part_number: index + 1, etag: headers["etag"] ?? "" })
          ))
        return { ...session, body: { upload_id: session.uploadId, parts } }
      })

    it.effect("responds 502 if the store rejects the parts, and can be retried", () =>
      Effect.gen(function*() {
        const { body, id } = yield* putAll(["0123", "45"], 6)
        const wrong = body.parts.map((part) => ({ ...part, etag: "\"wrong\"" }))
        const refused = yield* completeLarge(id, { ...body, parts: wrong })
        assert.strictEqual(refused.status, 502)
        assert.include((yield* first(refused.body)).message ?? "", "InvalidPart")
        assert.strictEqual((yield* completeLarge(id, body)).status, 200)
        assert.strictEqual((yield* completeLarge(id, body)).status, 200)
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 502 with EntityTooSmall if a part was too small", () =>
      Effect.gen(function*() {
        const { body, id } = yield* putAll(["012", "3456"], 7)
        const refused = yield* completeLarge(id, body)
        assert.strictEqual(refused.status, 502)
        assert.include((yield* first(refused.body)).message ?? "", "EntityTooSmall")
      }).pipe(Effect.provide(sandbox())))

    it.effect("fails the upload permanently if parts are missing from the request", () =>
      Effect.gen(function*() {
        const { body, id } = yield* putAll(["0123", "4567"], 8)
        const refused = yield* completeLarge(id, { ...body, parts: body.parts.slice(0, 1) })
        assert.strictEqual(refused.status, 422)
        assert.strictEqual((yield* completeLarge(id, body)).status, 409)
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 400 with the path of the invalid field", () =>
      Effect.gen(function*() {
        const { body, id } = yield* putAll(["0123"], 4)
        const bad: ReadonlyArray<readonly [unknown, string]> = [
          [{ parts: body.parts }, "upload_id"],
          [{ ...body, parts: [] }, "parts"],
          [{ ...body, parts: [{ part_number: 0, etag: "\"1\"" }] }, "parts.0.part_number"],
          [{ ...body, parts: [{ part_number: 1 }] }, "parts.0.etag"]
        ]
        for (const [wrong, field] of bad) {
          const { body: answer, status } = yield* completeLarge(id, wrong)
          assert.strictEqual(status, 400)
          assert.strictEqual((yield* first(answer)).path, field)
        }
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 200 to every concurrent request to complete the same upload", () =>
      Effect.gen(function*() {
        const { body, id } = yield* putAll(["0123", "45"], 6)
        const answers = yield* Effect.all(Array.from({ length: 5 }, () => completeLarge(id, body)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200])
      }).pipe(Effect.provide(sandbox())))
  })

  describe("files", () => {
    it.effect("can be read only after the upload is completed", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Calls.put(url, Calls.bytesOf("hello"))
        assert.strictEqual((yield* Calls.json("GET", `/v1/files/${id}`)).status, 404)
        assert.strictEqual((yield* Calls.json("GET", `/v1/files/${id}/download`)).status, 404)
        yield* complete(id)
        assert.strictEqual((yield* Calls.json("GET", `/v1/files/${id}`)).status, 200)
      }).pipe(Effect.provide(sandbox())))

    it.effect("are pending during processing, but can already be downloaded", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        const Status = Schema.Struct({ data: Schema.Struct({ status: Schema.String }) })
        const status = Effect.flatMap(
          Calls.json("GET", `/v1/files/${id}`),
          ({ body }) => Effect.map(Schema.decodeUnknown(Status)(body), ({ data }) => data.status)
        )
        assert.strictEqual(yield* status, "pending")
        assert.strictEqual((yield* Calls.api("GET", `/v1/files/${id}/download`)).status, 200)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* status, "completed")
      }).pipe(Effect.provide(sandbox({ processing: "1 minute" }))))

    it.effect("are downloaded as content, whole or by range", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("0123456789")
        const whole = yield* Calls.api("GET", `/v1/files/${id}/download`)
        assert.strictEqual(whole.headers["content-type"], "text/plain")
        assert.strictEqual(whole.headers["content-length"], "10")
        assert.strictEqual(yield* whole.text, "0123456789")
        const range = yield* Calls.api("GET", `/v1/files/${id}/download`, undefined, {
          headers: { range: "bytes=2-4" }
        })
        assert.strictEqual(range.status, 206)
        assert.strictEqual(yield* range.text, "234")
        const outside = yield* Calls.api("GET", `/v1/files/${id}/download`, undefined, {
          headers: { range: "bytes=10-" }
        })
        assert.strictEqual(outside.status, 416)
      }).pipe(Effect.provide(sandbox())))

    const link = Schema.Struct({ data: Schema.Struct({ url: Schema.String }) })

    it.effect("are downloaded through a link that expires after an hour", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        const { body } = yield* Calls.json("GET", `/v1/files/${id}/download`)
        const { data: { url } } = yield* Schema.decodeUnknown(link)(body)
        assert.strictEqual((yield* Calls.storage("GET", url)).body, "hello")
        yield* TestClock.adjust("61 minutes")
        assert.strictEqual((yield* Calls.storage("GET", url)).status, 403)
      }).pipe(Effect.provide(sandbox({ download: "link" }))))

    it.effect("are downloaded through a redirect", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        const { headers, status } = yield* Calls.api("GET", `/v1/files/${id}/download`)
        assert.strictEqual(status, 302)
        assert.strictEqual((yield* Calls.storage("GET", headers["location"] ?? "")).body, "hello")
      }).pipe(Effect.provide(sandbox({ download: "redirect" }))))
  })

  describe("rate limit", () => {
    it.effect("sends no x-ratelimit-limit header by default", () =>
      Effect.gen(function*() {
        const { headers } = yield* Calls.json("GET", "/v1/token/info")
        assert.isUndefined(headers["x-ratelimit-limit"])
      }).pipe(Effect.provide(sandbox())))

    it.effect("responds 429 after the limit is reached, and accepts requests in the next window", () =>
      Effect.gen(function*() {
        const call = Calls.json("GET", "/v1/token/info")
        const one = yield* call
        assert.strictEqual(one.headers["x-ratelimit-limit"], "2")
        assert.strictEqual(one.headers["x-ratelimit-remaining"], "1")
        assert.strictEqual(one.headers["x-ratelimit-reset"], "60")
        assert.strictEqual((yield* call).status, 200)
        yield* TestClock.adjust("10 seconds")
        const refused = yield* call
        assert.strictEqual(refused.status, 429)
        assert.strictEqual(refused.headers["retry-after"], "50")
        assert.strictEqual((yield* first(refused.body)).code, "TooManyRequests")
        yield* TestClock.adjust("49 seconds")
        assert.strictEqual((yield* call).status, 429)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* call).status, 200)
      }).pipe(Effect.provide(sandbox({ rateLimit: { limit: 2, window: "1 minute" } }))))

    it.effect("counts neither storage requests nor requests without a valid token", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        for (const _ of [1, 2, 3]) {
          assert.strictEqual(
            (yield* Calls.storage("PUT", url, {
              body: HttpBody.uint8Array(Calls.bytesOf("hello")),
              headers: Calls.ENCRYPTION
            })).status,
            200
          )
          assert.strictEqual((yield* Calls.json("GET", "/v1/token/info", undefined, { token: "no" })).status, 401)
        }
        assert.strictEqual((yield* Calls.json("GET", "/v1/token/info")).status, 200)
      }).pipe(Effect.provide(sandbox({ rateLimit: { limit: 2, window: "1 minute" } }))))
  })
})
