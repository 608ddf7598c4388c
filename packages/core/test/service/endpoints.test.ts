import type { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { FileRecord, PresignedUrl, ServiceError, ServiceProfile, UploadSession } from "@stevedore/core"
import { Either, FastCheck as fc, Option, Schema } from "effect"
import type * as ServiceAnswer from "../../src/service/answer.js"
import * as ServiceEndpoints from "../../src/service/endpoints.js"
import { href } from "../fixtures/presignedUrls.js"

const { standard } = ServiceProfile

const at = Date.UTC(2030, 0, 1)

const answer = (
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): ServiceAnswer.ServiceAnswer => ({
  operation: "initiateLargeUpload",
  status: 201,
  headers,
  body: JSON.stringify(body),
  sentAt: at,
  receivedAt: at,
  attempts: 1
})

const jsonOf = (request: HttpClientRequest.HttpClientRequest): unknown =>
  request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : undefined

const record = { id: "f1", name: "a.txt", status: "pending" as const, created_at: "2030-01-01T00:00:00Z" }

const file = { name: "a \"b\".txt", mediaType: "text/plain", size: 5 }

const large = (parts: Option.Option<number> = Option.none()) => ({ ...file, size: 20_000, parts })

/** A time as signers write it. */
const basic = (millis: number): string => new Date(millis).toISOString().replace(/[-:]|[.]\d{3}/g, "")

const urls = (count: number) => Array.from({ length: count }, (_, index) => href({ part: index + 1 }))

const opened = (urls: unknown, more: Readonly<Record<string, unknown>> = {}) => ({
  data: { id: "f1", upload_id: "u~1", urls, ...more }
})

const session = (body: unknown, parts?: number) =>
  ServiceEndpoints.initiateLargeUpload.respond(standard, answer(body), large(Option.fromNullable(parts)))

const problem = (read: Either.Either<unknown, ServiceError.ServiceError>) => {
  const error = Either.isLeft(read) ? read.left : assert.fail("expected an error")
  assert.instanceOf(error, ServiceError.InvalidResponse)
  return error.path
}

describe("ServiceEndpoints", () => {
  describe("requests", () => {
    it("initiateUpload: name, media type and size", () => {
      const request = ServiceEndpoints.initiateUpload.request(standard, file)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "/v2/files/upload")
      assert.deepStrictEqual(jsonOf(request), { name: "a \"b\".txt", type: "text/plain", size: 5 })
    })

    it("initiateLargeUpload: the number of parts only if one is requested", () => {
      const request = ServiceEndpoints.initiateLargeUpload.request(standard, large())
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "/v2/files/large-upload")
      assert.deepStrictEqual(jsonOf(request), { name: "a \"b\".txt", type: "text/plain", size: 20_000 })
      assert.deepStrictEqual(
        jsonOf(ServiceEndpoints.initiateLargeUpload.request(standard, large(Option.some(3)))),
        { name: "a \"b\".txt", type: "text/plain", size: 20_000, parts: 3 }
      )
    })

    it("metadata only if the profile names a field for it, in both initiate calls", () => {
      const metadata = { album: "a" }
      const named = ServiceProfile.extend(standard, { fields: { metadata: "custom" } })
      const { initiateLargeUpload, initiateUpload } = ServiceEndpoints
      const bodies = (profile: ServiceProfile.ServiceProfile) => [
        jsonOf(initiateUpload.request(profile, { ...file, metadata })),
        jsonOf(initiateLargeUpload.request(profile, { ...large(), metadata }))
      ]
      const plain = [
        { name: file.name, type: file.mediaType, size: 5 },
        { name: file.name, type: file.mediaType, size: 20_000 }
      ]
      assert.deepStrictEqual(bodies(standard), plain)
      assert.deepStrictEqual(bodies(named), plain.map((body) => ({ ...body, custom: metadata })))
    })

    it("wire names and paths are the profile's", () => {
      const profile = ServiceProfile.extend(standard, {
        fields: { fileName: "file_name", mediaType: "mime" },
        paths: { initiateUpload: "/up", file: "/records/{file_id}/now" }
      })
      const request = ServiceEndpoints.initiateUpload.request(profile, file)
      assert.strictEqual(request.url, "/up")
      assert.deepStrictEqual(jsonOf(request), { file_name: "a \"b\".txt", mime: "text/plain", size: 5 })
      assert.strictEqual(ServiceEndpoints.file.request(profile, { fileId: "f1" }).url, "/records/f1/now")
    })

    it("completeUpload: no body", () => {
      const request = ServiceEndpoints.completeUpload.request(standard, { fileId: "f1" })
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "/v2/files/f1/upload/complete")
      assert.strictEqual(request.body._tag, "Empty")
    })

    it.prop("completeLargeUpload: every part once, in ascending order, its etag verbatim, whatever the given order", {
      parts: fc.uniqueArray(
        fc.record({
          partNumber: fc.integer({ min: 1, max: 10_000 }),
          etag: fc.string({ minLength: 1 }),
          size: fc.integer({ min: 1 }),
          attempts: fc.integer({ min: 1 })
        }),
        { selector: (part) => part.partNumber, minLength: 1 }
      )
    }, ({ parts }) => {
      const request = ServiceEndpoints.completeLargeUpload.request(standard, { fileId: "f1", uploadId: "u~1", parts })
      assert.strictEqual(request.url, "/v2/files/f1/large-upload/complete")
      assert.deepStrictEqual(jsonOf(request), {
        upload_id: "u~1",
        parts: parts
          .map(({ etag, partNumber }) => ({ part_number: partNumber, etag }))
          .sort((one, other) => one.part_number - other.part_number)
      })
    })

    it.prop("a file id stays one segment of the path, whatever it contains", {
      fileId: fc.string({ minLength: 1 })
    }, ({ fileId }) => {
      const { url } = ServiceEndpoints.file.request(standard, { fileId })
      assert.strictEqual(decodeURIComponent(url.slice("/v1/files/".length)), fileId)
      assert.match(url, /^\/v1\/files\/[^/?#]+$/)
    })

    it.prop("listPage: the limit first, then the cursor exactly as received, then sort and filters as given", {
      cursor: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      limit: fc.integer({ min: 1, max: 100 }),
      query: fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string()))
    }, ({ cursor, limit, query }) => {
      const request = ServiceEndpoints.listPage.request(standard, {
        path: "/v1/projects",
        limit,
        cursor: Option.fromNullable(cursor),
        query
      })
      assert.strictEqual(request.method, "GET")
      assert.strictEqual(request.url, "/v1/projects")
      assert.deepStrictEqual([...request.urlParams], [
        ["page[limit]", String(limit)],
        ...(cursor === undefined ? [] : [["page[start_cursor]", cursor]]),
        ...query
      ])
    })

    it("tokenInfo and download", () => {
      assert.strictEqual(ServiceEndpoints.tokenInfo.request(standard, undefined).url, "/v1/token/info")
      assert.strictEqual(ServiceEndpoints.downloadRequest(standard, "f/1").url, "/v1/files/f%2F1/download")
    })

    it("only the calls that open a session are unsafe to repeat", () => {
      const { completeLargeUpload, completeUpload, file, initiateLargeUpload, initiateUpload, listPage, tokenInfo } =
        ServiceEndpoints
      assert.deepStrictEqual(
        [initiateUpload, initiateLargeUpload, completeUpload, completeLargeUpload, file, listPage, tokenInfo]
          .map(({ operation, repeatable }) => [operation, repeatable]),
        [
          ["initiateUpload", false],
          ["initiateLargeUpload", false],
          ["completeUpload", true],
          ["completeLargeUpload", true],
          ["file", true],
          ["listPage", true],
          ["tokenInfo", true]
        ]
      )
    })
  })

  describe("a session for one PUT", () => {
    const single = (body: unknown, headers?: Readonly<Record<string, string>>) =>
      ServiceEndpoints.initiateUpload.respond(standard, answer(body, headers), file)

    it.each([
      ["data.id", { data: { id: "f1", upload_url: href() } }],
      ["data.file_id", { data: { file_id: "f1", upload_url: href() } }],
      ["no envelope", { file_id: "f1", upload_url: href() }],
      ["both ids", { data: { id: "f1", file_id: "other", upload_url: href() } }]
    ])("is read with its id in %s", (_, body) => {
      const { fileId, url } = Either.getOrThrow(single(body))
      assert.strictEqual(fileId, "f1")
      assert.strictEqual(PresignedUrl.reveal(url), href())
    })

    it("keeps unknown fields", () => {
      const body = { data: { id: "f1", upload_url: href(), expires_in: 3600, hints: { region: "eu" } } }
      assert.deepStrictEqual(Either.getOrThrow(single(body)).extra, { expires_in: 3600, hints: { region: "eu" } })
    })

    describe("counts the life of its URLs from this very answer", () => {
      const life = 10_800_000
      const opened = (query: string, date?: number) =>
        Either.getOrThrow(single(
          { data: { id: "f1", upload_url: `https://bucket.test/key?${query}` } },
          date === undefined ? {} : { date: new Date(date).toUTCString() }
        ))
      const dates = [undefined, at, at + 18_000_000, at - 18_000_000, at + 86_400_000_000]

      it("whatever the clocks of the service, of what signed them and of this machine say", () => {
        for (const date of dates) {
          for (const ahead of [0, 18_000_000, -18_000_000, 86_400_000_000]) {
            const { clockOffset, url } = opened(`X-Amz-Date=${basic(at + ahead)}&X-Amz-Expires=10800`, date)
            assert.strictEqual(clockOffset, ahead + 500)
            assert.isFalse(PresignedUrl.hasEnded(url, at + clockOffset + life - 1000))
            assert.isTrue(PresignedUrl.hasEnded(url, at + clockOffset + life))
          }
        }
      })

      it("and takes one that says only when it ends for alive, by the clock by which it lives longest", () => {
        for (const date of dates) {
          for (const left of [3_600_000, -3_600_000]) {
            const { clockOffset, url } = opened(`Expires=${(at + left) / 1000}&Signature=x`, date)
            assert.isFalse(PresignedUrl.hasEnded(url, at + clockOffset), `${date} ${left}`)
          }
        }
        assert.strictEqual(opened(`Expires=${(at + 3_600_000) / 1000}`, at + 18_000_000).clockOffset, 0)
      })

      it("and assumes the profile's lifetime for one that says nothing", () => {
        for (const date of dates) {
          const { clockOffset, url } = opened("sig=1", date)
          assert.isFalse(PresignedUrl.hasEnded(url, at + clockOffset + life - 1000))
          assert.isTrue(PresignedUrl.hasEnded(url, at + clockOffset + life))
          assert.isTrue(url.isAssumed)
        }
      })

      it("as well for the URLs of parts", () => {
        const urls = [href({ part: 1, signedAt: basic(at + 60_000) }), href({ part: 2, signedAt: basic(at + 60_000) })]
        const { clockOffset } = Either.getOrThrow(session({ data: { id: "f1", upload_id: "u~1", urls } }))
        assert.strictEqual(clockOffset, 60_500)
      })

      it("and keeps what the response's date says, for whoever wants to know whose clock is wrong", () => {
        assert.strictEqual(opened("sig=1", at + 18_000_000).dateOffset, 18_000_500)
        assert.isUndefined(opened("sig=1").dateOffset)
      })
    })

    it.each([
      ["a number", 17, "17"],
      ["another name", "f1", "f1"]
    ])("its id may be %s", (_, id, expected) => {
      assert.strictEqual(Either.getOrThrow(single({ data: { id, upload_url: href() } })).fileId, expected)
    })

    it.each([
      ["data.id", { data: { upload_url: href() } }],
      ["data.id", { data: { id: "", upload_url: href() } }],
      ["data.upload_url", { data: { id: "f1" } }],
      ["data.upload_url", { data: { id: "f1", upload_url: "no url" } }],
      ["data.upload_url", { data: { id: "f1", upload_url: null } }]
    ])("of the wrong shape names %s", (path, body) => {
      assert.strictEqual(problem(single(body)), path)
    })
  })

  describe("a session of several parts", () => {
    const numbersOf = (read: ReturnType<typeof session>) =>
      Either.getOrThrow(read).urls.map((url) => Option.getOrUndefined(url.partNumber))

    it("is read with its id, its URLs in order and the fields it does not know", () => {
      const { extra, fileId, uploadId, urls: read } = Either.getOrThrow(session(opened(urls(3), { part_size: 7 })))
      assert.strictEqual(fileId, "f1")
      assert.strictEqual(uploadId, "u~1")
      assert.deepStrictEqual(read.map(PresignedUrl.reveal), urls(3))
      assert.deepStrictEqual(extra, { part_size: 7 })
    })

    it("URLs without a part number are used in the given order", () => {
      const plain = ["https://b.test/c?sig=1", "https://b.test/a?sig=2", "https://b.test/b?sig=3"]
      assert.deepStrictEqual(Either.getOrThrow(session(opened(plain))).urls.map(PresignedUrl.reveal), plain)
    })

    it.prop("URLs in any order are sorted by their parts, as strings and as objects", {
      order: fc.integer({ min: 1, max: 20 }).chain((count) =>
        fc.shuffledSubarray(Array.from({ length: count }, (_, index) => index + 1), { minLength: count })
      ),
      form: fc.constantFrom("string", "object", "bare object")
    }, ({ form, order }) => {
      const given = order.map((part) =>
        form === "string"
          ? href({ part })
          : form === "object"
          ? { url: href({ part }), part_number: part }
          : { url: href({ part }) }
      )
      assert.deepStrictEqual(numbersOf(session(opened(given))), order.map((_, index) => index + 1))
    })

    it.each([
      ["a part twice", [href({ part: 1 }), href({ part: 1 })], "data.urls[1]"],
      ["a part that is missing", [href({ part: 1 }), href({ part: 3 })], "data.urls[1]"],
      ["parts from 2", [href({ part: 2 }), href({ part: 3 })], "data.urls[0]"],
      [
        "two numbers for one part",
        [{ url: href({ part: 2 }), part_number: 1 }, { url: href({ part: 1 }), part_number: 2 }],
        "data.urls[0]"
      ],
      ["one URL for two parts", ["https://a.test/1?s=a", "https://a.test/2?s=b", "https://a.test/1?s=a"], "data.urls"],
      [
        "one URL for two numbered parts",
        [{ url: "https://a.test/1", part_number: 1 }, { url: "https://a.test/1", part_number: 2 }],
        "data.urls"
      ],
      ["no URL", [], "data.urls"],
      ["something else", [href({ part: 1 }), 5], "data.urls[1]"],
      ["no list", href(), "data.urls"]
    ])("with %s is an invalid response", (_, given, path) => {
      assert.strictEqual(problem(session(opened(given))), path)
    })

    it.each([
      ["no URL", []],
      ["no list", href()],
      ["a field is missing", null],
      ["a field is missing", [null]],
      ["not an http or https URL", [""]]
    ])("says of URLs that are wrong: %s", (words, given) => {
      const read = session(opened(given))
      assert.strictEqual(Either.isLeft(read) && "problem" in read.left && read.left.problem, words)
    })

    it.prop("has as many parts as there are URLs, whatever number was asked for", {
      asked: fc.integer({ min: 1, max: 20 }),
      given: fc.integer({ min: 1, max: 20 })
    }, ({ asked, given }) => {
      assert.lengthOf(Either.getOrThrow(session(opened(urls(given)), asked)).urls, given)
    })

    it("takes the part size from the profile's field for it, and from no other", () => {
      const body = opened(urls(2), { part_size: 7 })
      const named = ServiceProfile.extend(standard, { fields: { partSize: "part_size" } })
      assert.isUndefined(Either.getOrThrow(session(body)).partSize)
      const read = ServiceEndpoints.initiateLargeUpload.respond(named, answer(body), large())
      assert.deepInclude(Either.getOrThrow(read), { partSize: 7, extra: {} })
    })

    it("without an upload id is an invalid response", () => {
      assert.strictEqual(problem(session({ data: { id: "f1", urls: urls(2) } })), "data.upload_id")
    })

    it("an invalid response does not show a URL", () => {
      const read = session(opened([href({ part: 1 }), href({ part: 1 })]))
      assert.notInclude(JSON.stringify(read), "Signature")
    })
  })

  describe("records", () => {
    it("a file is read from its envelope, with unknown fields", () => {
      const whole: unknown = { ...record, extra: { checksum: "x" } }
      for (const endpoint of [ServiceEndpoints.file, ServiceEndpoints.completeUpload]) {
        const read = endpoint.respond(standard, answer({ data: { ...record, checksum: "x" } }), { fileId: "f1" })
        assert.deepStrictEqual<unknown>(Either.getOrThrow(read), whole)
      }
    })

    it("fields of a file may be null or absent where the contract allows it", () => {
      const full = { ...record, type: null, size: null, author: null }
      assert.deepStrictEqual<unknown>(
        Either.getOrThrow(ServiceEndpoints.file.respond(standard, answer({ data: full }), { fileId: "f1" })),
        { ...record, extra: { type: null, size: null, author: null } }
      )
    })

    it("any status is one, because the set is open", () => {
      const read = ServiceEndpoints.file.respond(standard, answer({ data: { ...record, status: "archived" } }), {
        fileId: "f1"
      })
      assert.deepStrictEqual(Either.getOrThrow(read), { ...record, status: "archived" })
    })

    it.prop("a file record needs no field, and keeps those of another type as they came", {
      data: fc.dictionary(
        fc.constantFrom("id", "name", "type", "size", "status", "author", "created_at", "x"),
        fc.jsonValue()
      ),
      enveloped: fc.boolean()
    }, ({ data, enveloped }) => {
      const body = enveloped ? { data } : data
      const read = ServiceEndpoints.file.respond(standard, answer(body), { fileId: "f1" })
      const stored: unknown = Schema.encodeSync(FileRecord.FileRecord)(Either.getOrThrow(read))
      assert.deepStrictEqual(JSON.parse(JSON.stringify(stored)), JSON.parse(JSON.stringify({ ...data, id: "f1" })))
    })

    it.each([null, [], "text", 5])("a response that is no object is no record: %j", (body) => {
      assert.strictEqual(problem(ServiceEndpoints.file.respond(standard, answer(body), { fileId: "f1" })), "")
    })

    it("a page has at most 10,000 items", () => {
      const read = (count: number) =>
        ServiceEndpoints.listPage.respond(
          standard,
          answer({ data: Array.from({ length: count }, () => 1), page: {} }),
          { path: "/v1/projects", limit: 100, cursor: Option.none(), query: [] }
        )
      assert.isTrue(Either.isRight(read(10_000)))
      assert.strictEqual(problem(read(10_001)), "data")
    })

    it("a page is read completely, its items untouched", () => {
      const page = { data: [{ id: 1 }, "x", null], page: { total_count: 3, has_more: false, next_cursor: null } }
      assert.deepStrictEqual(
        ServiceEndpoints.listPage.respond(standard, answer(page), {
          path: "/v1/projects",
          limit: 3,
          cursor: Option.none(),
          query: []
        }),
        Either.right(page)
      )
    })

    it("a token belongs to somebody", () => {
      const info = { id: "t1", subdomain: "acme" }
      assert.deepStrictEqual(
        ServiceEndpoints.tokenInfo.respond(standard, answer({ data: info }), undefined),
        Either.right(Option.some(info))
      )
    })

    it.each([
      ["404", { ...answer({}), status: 404 }],
      ["405", { ...answer({}), status: 405 }],
      ["410", { ...answer({}), status: 410 }],
      ["501", { ...answer({}), status: 501 }],
      ["a page", { ...answer({}), body: "<html>" }],
      ["nothing", { ...answer({}), status: 204, body: "" }],
      ["null", answer(null)]
    ])("a service that has no such call does not tell whose a token is: %s", (_, given) => {
      assert.deepStrictEqual(
        ServiceEndpoints.tokenInfo.respond(standard, given, undefined),
        Either.right(Option.none())
      )
    })

    it("a rejected token is an error, whether or not the service tells whose it is", () => {
      const read = ServiceEndpoints.tokenInfo.respond(standard, { ...answer({}), status: 401 }, undefined)
      assert.strictEqual(Either.isLeft(read) && read.left._tag, "Unauthorized")
    })
  })

  describe("a Complete that succeeded", () => {
    const none = Schema.decodeUnknownSync(FileRecord.FileRecord)
    const completions = [
      (read: ServiceAnswer.ServiceAnswer) => ServiceEndpoints.completeUpload.respond(standard, read, { fileId: "f1" }),
      (read: ServiceAnswer.ServiceAnswer) =>
        ServiceEndpoints.completeLargeUpload.respond(standard, read, { fileId: "f1", uploadId: "u", parts: [] })
    ]

    it.each(["", "ok", "<html>", "null", "[]", "[1]", "5", "\"done\"", "true", "{\"a\":", "{}", "{\"data\":null}"])(
      "ends the upload well with this body: %j",
      (body) => {
        for (const respond of completions) {
          for (const status of [200, 201, 202, 204, 299]) {
            const { extra: _, ...read } = Either.getOrThrow(respond({ ...answer({}), body, status }))
            assert.deepStrictEqual<unknown>(read, { id: "f1" })
          }
        }
      }
    )

    it.prop("ends it well with any JSON, and the id is the session's", { body: fc.jsonValue() }, (given) => {
      for (const respond of completions) {
        assert.strictEqual(Either.getOrThrow(respond(answer(given.body))).id, "f1")
      }
    })

    it("keeps what the service added, in whatever part of a record", () => {
      for (const respond of completions) {
        assert.deepStrictEqual(
          Either.getOrThrow(respond(answer({ data: { id: "other", status: "done", size: "5", tier: 1 } }))),
          none({ id: "f1", status: "done", size: "5", tier: 1 })
        )
      }
    })

    it("but reports an error in its body is an unavailable service", () => {
      for (const respond of completions) {
        const read = respond(answer({ errors: [{ code: "InternalError" }] }))
        assert.strictEqual(Either.isLeft(read) && read.left._tag, "ServiceUnavailable")
      }
    })
  })

  describe("the body of Complete upload", () => {
    const known = { etag: "\"e\"", size: 5, name: "a.txt", mediaType: "text/plain" }

    const bodyOf = (completeUploadBody: ServiceProfile.CompleteUploadBody, more: object = known) =>
      jsonOf(ServiceEndpoints.completeUpload.request(
        ServiceProfile.extend(standard, { completeUploadBody }),
        { fileId: "f1", ...more }
      ))

    it.each(
      [
        ["nothing", "none", undefined],
        ["an empty object", {}, {}],
        [
          "what is known under other names, and fixed values",
          {
            id: "{file_id}",
            tag: "{etag}",
            bytes: "{size}",
            key: "files/{file_id}-{size}/{name}",
            of: "{type}",
            done: true,
            n: 1,
            x: null
          },
          { id: "f1", tag: "\"e\"", bytes: 5, key: "files/f1-5/a.txt", of: "text/plain", done: true, n: 1, x: null }
        ]
      ] as const
    )("is %s", (_, template, expected) => {
      assert.deepStrictEqual<unknown>(bodyOf(template), expected)
    })

    it("leaves out what is not known", () => {
      assert.deepStrictEqual(bodyOf({ tag: "{etag}", both: "{file_id} {etag}", id: "{file_id}" }, {}), { id: "f1" })
    })
  })

  describe("bodies as a profile writes them", () => {
    const parts = [2, 1].map((partNumber) => ({ partNumber, etag: `"${partNumber}"`, size: 1, attempts: 1 }))

    const completing = (completeLargeUploadBody: ServiceProfile.Changes["completeLargeUploadBody"]) =>
      jsonOf(ServiceEndpoints.completeLargeUpload.request(
        ServiceProfile.extend(standard, { completeLargeUploadBody }),
        { fileId: "f1", uploadId: "7", numericIds: ["uploadId"], parts }
      ))

    it.each(
      [
        ["without the upload's id", { etags: ["{etag}"] }, { etags: ["\"1\"", "\"2\""] }],
        ["as a map", { file: "{file_id}", of: { "{part_number}": "{etag}" } }, {
          file: "f1",
          of: { 1: "\"1\"", 2: "\"2\"" }
        }],
        [
          "as objects, beside constants and the upload's id under another name",
          { upload: { id: "{upload_id}" }, tags: ["a", 1], list: [{ no: "p{part_number}", tag: { is: "{etag}" } }] },
          {
            upload: { id: 7 },
            tags: ["a", 1],
            list: [{ no: "p1", tag: { is: "\"1\"" } }, { no: "p2", tag: { is: "\"2\"" } }]
          }
        ],
        ["as a list alone", [{ "{part_number}": "{etag}" }], [{ 1: "\"1\"" }, { 2: "\"2\"" }]]
      ] as const
    )("Complete large upload %s", (_, template, expected) => {
      assert.deepStrictEqual<unknown>(completing(template), expected)
    })

    it("both initiate calls, with constants and objects; the other one only adds the number of parts", () => {
      const initiateBody = { folder_id: "x{", file: { name: "{name}", size: "{size}" }, meta: "{metadata}" }
      const profile = ServiceProfile.extend(standard, { initiateBody })
      const told = { folder_id: "x{", file: { name: file.name, size: 20_000 } }
      const request = (parts: number | undefined, one = profile) =>
        jsonOf(ServiceEndpoints.initiateLargeUpload.request(one, large(Option.fromNullable(parts))))
      assert.deepStrictEqual(
        jsonOf(ServiceEndpoints.initiateUpload.request(profile, { ...file, size: 20_000, metadata: { a: "{size}" } })),
        { ...told, meta: { a: "{size}" } }
      )
      assert.deepStrictEqual([request(3), request(undefined)], [{ ...told, parts: 3 }, told])
      const other = ServiceProfile.extend(profile, { initiateLargeBody: { wished: "{parts}" } })
      assert.deepStrictEqual([request(3, other), request(undefined, other)], [{ wished: 3 }, {}])
    })

    it.prop("what is a placeholder only by its text stays as it was written", {
      name: fc.constantFrom("{size}", "{etag}", "{name}", "{part_number}", "constructor"),
      value: fc.jsonValue({ noUnicodeString: true })
    }, ({ name, value }) => {
      const constant = Schema.decodeUnknownSync(ServiceProfile.BodyTemplate)(value)
      const profile = ServiceProfile.extend(standard, { initiateBody: { [name]: "{name}", constant } })
      assert.deepStrictEqual<unknown>(
        jsonOf(ServiceEndpoints.initiateUpload.request(profile, { ...file, name })),
        JSON.parse(JSON.stringify({ [name]: name, constant: value }))
      )
    })
  })

  describe("ids that came as numbers are sent back as numbers, and as text in a path", () => {
    const textOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
      body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
    const opened = (fields: string) =>
      Either.getOrThrow(ServiceEndpoints.initiateLargeUpload.respond(
        standard,
        { ...answer({}), body: `{"data":{${fields},"urls":${JSON.stringify(urls(1))}}}` },
        large()
      ))
    const parts = [{ partNumber: 1, etag: "e", size: 1, attempts: 1 }]

    it.each([
      ["7", ":7,"],
      ["9007199254740993", ":9007199254740993,"],
      ["\"7\"", ":\"7\","],
      ["\"u~1\"", ":\"u~1\","]
    ])("upload_id %s", (wire, sent) => {
      const session = opened(`"id":"f1","upload_id":${wire}`)
      const kept = Schema.decodeSync(UploadSession.UploadSession)(
        JSON.parse(JSON.stringify(Schema.encodeSync(UploadSession.UploadSession)(session)))
      )
      for (const one of [session, kept]) {
        if (one._tag === "SingleSession") assert.fail("one PUT")
        const request = ServiceEndpoints.completeLargeUpload.request(standard, { ...one, parts })
        assert.include(textOf(request), `"upload_id"${sent}`)
      }
    })

    it.each([["7", 7], ["\"7\"", "7"]])("the id of the file %s, where Complete upload names it", (wire, sent) => {
      const session = Either.getOrThrow(ServiceEndpoints.initiateUpload.respond(
        standard,
        { ...answer({}), body: `{"data":{"id":${wire},"upload_url":"${href()}"}}` },
        file
      ))
      const profile = ServiceProfile.extend(standard, { completeUploadBody: { id: "{file_id}", at: "x/{file_id}" } })
      const request = ServiceEndpoints.completeUpload.request(profile, session)
      assert.deepStrictEqual(jsonOf(request), { id: sent, at: "x/7" })
      assert.strictEqual(request.url, "/v2/files/7/upload/complete")
    })
  })

  describe("names that the interface leaves open", () => {
    const profile = ServiceProfile.extend(standard, {
      envelope: "none",
      fields: {
        size: "bytes",
        parts: "wanted",
        fileId: "file.uid",
        partUrl: ["href", "link.put"],
        partNumber: "no",
        completeParts: "chunks",
        completePartNumber: "index",
        completeEtag: "tag"
      }
    })

    it("are sent as the profile says", () => {
      assert.deepStrictEqual(
        jsonOf(ServiceEndpoints.initiateLargeUpload.request(profile, large(Option.some(3)))),
        { name: "a \"b\".txt", type: "text/plain", bytes: 20_000, wanted: 3 }
      )
      const parts = [{ partNumber: 1, etag: "e", size: 1, attempts: 1 }]
      assert.deepStrictEqual(
        jsonOf(ServiceEndpoints.completeLargeUpload.request(profile, { fileId: "f1", uploadId: "u", parts })),
        { upload_id: "u", chunks: [{ index: 1, tag: "e" }] }
      )
    })

    it("are read as the profile says, also within objects, and in this order", () => {
      const body = {
        file: { uid: "f1" },
        upload_id: 7,
        urls: [{ link: { put: href({ part: 2 }) }, no: 2 }, { href: href({ part: 1 }), no: "1", link: { put: "x" } }]
      }
      const read = Either.getOrThrow(ServiceEndpoints.initiateLargeUpload.respond(profile, answer(body), large()))
      assert.deepStrictEqual(read.urls.map(PresignedUrl.reveal), urls(2))
      assert.deepStrictEqual([read.fileId, read.uploadId], ["f1", "7"])
    })

    it.each([
      ["fields.fileId", { data: { uuid: "x", upload_url: href() } }, ["uuid", "upload_url"]],
      ["fields.fileId", { data: { file: { uid: "x", tags: { a: 1 } }, upload_url: href() } }, [
        "file.uid",
        "file.tags.a",
        "upload_url"
      ]],
      ["fields.uploadUrl", { data: { id: "x" } }, ["id"]]
    ])("if one is missing, the error says to change %s, and what came", (field, body, received) => {
      const read = ServiceEndpoints.initiateUpload.respond(standard, answer(body), file)
      const error = Either.isLeft(read) ? read.left : assert.fail("expected an error")
      assert.deepInclude({ ...error }, { received })
      assert.strictEqual("profile" in error ? error.profile : undefined, field)
      for (const name of received) assert.include(error.message, name)
      if (field !== undefined) assert.include(error.message, field)
    })

    it("leads to the URLs and the upload's id too, and what is beside them in their object is not kept", () => {
      const nested = ServiceProfile.extend(standard, {
        fields: {
          uploadUrl: ["uploadUrl", "session.url"],
          uploadId: "session.uploadId",
          urls: "session.urls",
          partUrl: "href",
          partNumber: "part"
        }
      })
      const session = { url: href(), urls: [2, 1].map((part) => ({ href: href({ part }), part })), uploadId: 7 }
      const body = answer({ data: { id: "f1", session, tier: 1 } })
      const single = Either.getOrThrow(ServiceEndpoints.initiateUpload.respond(nested, body, file))
      assert.strictEqual(PresignedUrl.reveal(single.url), href())
      const read = Either.getOrThrow(ServiceEndpoints.initiateLargeUpload.respond(nested, body, large()))
      assert.deepStrictEqual(read.urls.map(PresignedUrl.reveal), urls(2))
      assert.deepInclude(read, { uploadId: "7", numericIds: ["uploadId"], extra: { tier: 1 } })
      assert.deepStrictEqual(single.extra, { tier: 1 })
      const missing = answer({ data: { id: "f1", session: { ...session, uploadId: null } } })
      const refused = ServiceEndpoints.initiateLargeUpload.respond(nested, missing, large())
      assert.deepInclude(Either.isLeft(refused) && { ...refused.left }, {
        path: "data.session.uploadId",
        profile: "fields.uploadId"
      })
    })

    it("an element of urls without its URL says so too", () => {
      const read = session(opened([{ put: href() }]))
      const error = Either.isLeft(read) ? read.left : assert.fail("expected an error")
      assert.deepInclude({ ...error }, { path: "data.urls[0].url", profile: "fields.partUrl", received: ["put"] })
    })

    it("a response that is only in an envelope, or only without, says so too", () => {
      const body = { id: "f1", upload_url: href() }
      const strict = (envelope: "data" | "none") => ServiceProfile.extend(standard, { envelope })
      const read = (envelope: "data" | "none", body: unknown) =>
        ServiceEndpoints.initiateUpload.respond(strict(envelope), answer(body), file)
      assert.isTrue(Either.isRight(read("data", { data: body })))
      assert.isTrue(Either.isRight(read("none", body)))
      const error = Either.flip(read("data", body)).pipe(Either.getOrThrow)
      assert.deepInclude({ ...error }, { path: "data", profile: "envelope", received: ["id", "upload_url"] })
      assert.isTrue(Either.isLeft(read("none", { data: body })))
    })
  })

  describe("the link of a download", () => {
    it("is read from the profile's field for it", () => {
      const profile = ServiceProfile.extend(standard, { fields: { downloadUrl: "location" } })
      const link = ServiceEndpoints.downloadLink(profile, answer({ data: { location: href() } }))
      assert.strictEqual(PresignedUrl.reveal(Either.getOrThrow(link)), href())
    })

    it.each([{}, { url: null }, { url: "ftp://b.test" }, { url: 5 }])("that is invalid names its place: %j", (data) => {
      assert.strictEqual(problem(ServiceEndpoints.downloadLink(standard, answer({ data }))), "data.url")
    })
  })
})
