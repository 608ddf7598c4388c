import {
  type HttpApp,
  HttpClient,
  HttpClientResponse,
  HttpMiddleware,
  HttpServerRequest,
  HttpServerResponse,
  KeyValueStore
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  FileRecord,
  Json,
  PresignedUrl,
  ServiceApi,
  ServiceConfig,
  ServiceError,
  ServiceProfile
} from "@stevedore/core"
import type { PageRequest } from "@stevedore/core/ServiceApi"
import { StevedoreHttpApp, UploadOutbox } from "@stevedore/node"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import {
  Data,
  Deferred,
  Effect,
  Either,
  Encoding,
  Exit,
  Fiber,
  Layer,
  Option,
  Predicate,
  Redacted,
  Schema,
  TestClock
} from "effect"
import { Agent, request } from "node:http"
import { listening } from "./support/listening.js"
import { app, initiate, small, withLog } from "./support/stevedoreHttpApp.js"

interface Asked {
  readonly method?: string
  readonly body?: unknown
  /** The same as a text. */
  readonly json?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (
  path: string,
  { body, headers, json = JSON.stringify(body), method = json === undefined ? "GET" : "POST" }: Asked = {},
  served: HttpApp.Default<never, ServiceApi.ServiceApi> = app
) =>
  Effect.gen(function*() {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { cookie: "session=1", "content-type": "application/json", ...headers },
      ...(json === undefined ? {} : { body: json })
    })
    const response = HttpServerResponse.toWeb(
      yield* Effect.provideService(
        served,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request)
      )
    )
    const text = yield* Effect.promise(() => response.text())
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === "" ? undefined : JSON.parse(text)
    }
  })

const asked = Effect.map(Sandbox.report, ({ requests }) => requests.map(({ operation }) => operation))

describe("StevedoreHttpApp", () => {
  it.effect("responds to an initiate with an id, a pre-signed URL and a date, and without the token", () =>
    Effect.gen(function*() {
      const { headers, json, status, text } = yield* ask(initiate, { body: small })
      assert.strictEqual(status, 201)
      assert.isString(json.data.id)
      assert.match(json.data.upload_url, /^https?:.*X-Amz-Signature=/)
      assert.isFalse(Number.isNaN(Date.parse(headers.get("date") ?? "")))
      assert.strictEqual(headers.get("cache-control"), "no-store")
      const { token } = yield* Sandbox.Sandbox
      assert.notInclude(text, Redacted.value(token))
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("dates a session by the service's clock, by which the page tells when its URL ends", () =>
    Effect.gen(function*() {
      const ahead = 3_600_000
      const { headers } = yield* ask(initiate, { body: small }).pipe(
        Effect.updateService(ServiceApi.ServiceApi, (api) => ({
          ...api,
          initiateUpload: (file) =>
            Effect.map(api.initiateUpload(file), (session) => ({ ...session, clockOffset: ahead }))
        }))
      )
      assert.strictEqual(Date.parse(headers.get("date") ?? ""), ahead)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("lets a page of another origin read the date of a session and the wait of a 429, where CORS allows it", () =>
    Effect.gen(function*() {
      const exposed = (answer: { readonly headers: Headers }) => answer.headers.get("access-control-expose-headers")
      const limited = yield* ask(initiate, { body: small })
      assert.deepStrictEqual([limited.status, exposed(limited)], [429, "date, retry-after"])
      yield* TestClock.adjust("1 minute")
      const opened = yield* ask(initiate, { body: small })
      assert.deepStrictEqual([opened.status, exposed(opened)], [201, "date, retry-after"])
      const withCors = yield* ask(
        initiate,
        { body: small },
        HttpMiddleware.cors({ allowedOrigins: ["https://a.test"] })(app)
      )
      assert.strictEqual(exposed(withCors), "date, retry-after")
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("initiate").answer(429, "TooManyRequests", { retryAfter: 30 })
    }))))

  it.effect("responds 401 to an unauthorized user and 403 to another site, and does not call the service", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ask(initiate, { body: small, headers: { cookie: "" } })).status, 401)
      const foreign = yield* ask(initiate, { body: small, headers: { "sec-fetch-site": "cross-site" } })
      assert.strictEqual(foreign.status, 403)
      assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect.each(
    [
      ["another site", { "sec-fetch-site": "cross-site" }, 403],
      ["a sibling subdomain", { "sec-fetch-site": "same-site", origin: "https://b.test" }, 403],
      ["another origin, of an older browser", { origin: "https://evil.test" }, 403],
      ["another port, of an older browser", { origin: "http://localhost:81" }, 403],
      ["a page without an origin", { origin: "null" }, 403],
      ["the same origin", { "sec-fetch-site": "same-origin", origin: "https://behind-a-proxy.test" }, 201],
      ["the same origin, of an older browser", { origin: "http://localhost" }, 201],
      ["a program that is no browser", {}, 201]
    ] as const
  )("a request of %s, as a browser says, gets its answer or a 403", ([, headers, status]) =>
    Effect.gen(function*() {
      const sent = { host: "localhost", ...headers }
      const opened = yield* ask(initiate, { body: small, headers: sent })
      assert.strictEqual(opened.status, status)
      const completed = yield* ask("/v2/files/abc/upload/complete", {
        method: "POST",
        headers: { ...sent, "content-type": "text/plain" }
      })
      assert.strictEqual(completed.status === 403, status === 403)
      if (status === 403) assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("pages of an origin that it allows may call, with the CORS of the application", () =>
    Effect.gen(function*() {
      const origin = "https://app.test"
      const allowing = StevedoreHttpApp.make({ authorize: () => Effect.succeed("Ada"), allowedOrigins: [origin] })
      const served = HttpMiddleware.cors({ allowedOrigins: [origin], allowedHeaders: ["content-type"] })(allowing)
      const headers = { origin, "sec-fetch-site": "cross-site" }
      const preflight = yield* ask(initiate, { method: "OPTIONS", headers }, served)
      assert.deepStrictEqual([preflight.status, preflight.headers.get("access-control-allow-origin")], [204, origin])
      assert.strictEqual((yield* ask(initiate, { body: small, headers }, served)).status, 201)
      const other = { ...headers, origin: "https://app.test.evil.test" }
      assert.strictEqual((yield* ask(initiate, { body: small, headers: other }, served)).status, 403)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("forwards the documented fields of records, and others only if they are named", () =>
    Effect.gen(function*() {
      const known = { id: "f1", name: "a.txt", status: "completed" as const, created_at: "2030-01-01" }
      const record = {
        ...known,
        author: { id: "u1", name: "Ada", avatar_url: "https://s.test/a?X-Amz-Signature=5ecre7" },
        download_url: "https://s.test/f?X-Amz-Signature=5ecre7",
        extra: { notes: { by: "an operator", list: [1] }, colour: "red" }
      }
      const stub = ServiceApi.layerNoop({
        file: () => Effect.succeed(record),
        completeUpload: () => Effect.succeed(record),
        listPage: () => Effect.succeed({ data: [record], page: { total_count: 1, has_more: false, next_cursor: null } })
      })
      const dataOf = (forward: ReadonlyArray<string>) => {
        const served = StevedoreHttpApp.make({
          authorize: () => Effect.succeed("Ada"),
          permit: "everything",
          lists: ["/v1/projects"],
          forward
        })
        return Effect.provide(
          Effect.all([
            Effect.map(ask("/v1/files/f1", {}, served), ({ json }) => json.data),
            Effect.map(ask("/v2/files/f1/upload/complete", { method: "POST" }, served), ({ json }) => json.data),
            Effect.map(ask("/v1/projects", {}, served), ({ json }) => json.data[0])
          ]),
          stub
        )
      }
      const expected = { ...known, author: { id: "u1", name: "Ada" } }
      assert.deepStrictEqual(yield* dataOf([]), [expected, expected, expected])
      const more = { ...expected, notes: record.extra.notes }
      assert.deepStrictEqual(yield* dataOf(["notes"]), [more, more, more])
    }))

  it.effect("forwards numbers as they came, and 8 levels of a record, also of a field that is named", () =>
    Effect.gen(function*() {
      const nested = (levels: number, name: string): unknown => levels === 0 ? 1 : { [name]: nested(levels - 1, name) }
      const record = {
        id: "f1",
        size: Either.getOrThrow(Json.parse("9007199254740993")),
        author: nested(12, "author"),
        notes: nested(12, "any"),
        big: Either.getOrThrow(Json.parse("[9007199254740993]"))
      }
      const stub = ServiceApi.layerNoop({
        file: () => Effect.succeed(Schema.decodeUnknownSync(FileRecord.FileRecord)(record))
      })
      const served = StevedoreHttpApp.make({
        authorize: () => Effect.succeed("Ada"),
        permit: "everything",
        forward: ["notes", "big"]
      })
      const { json, text } = yield* Effect.provide(ask("/v1/files/f1", {}, served), stub)
      assert.include(text, `"size":9007199254740993`)
      assert.include(text, `"big":[9007199254740993]`)
      const levelsOf = (value: unknown): number =>
        Predicate.isRecord(value) ? 1 + Math.max(...Object.values(value).map(levelsOf)) : 0
      assert.deepStrictEqual([levelsOf(json.data.author), levelsOf(json.data.notes)], [8, 8])
    }))

  it.effect("gives and takes an upload id that is a number as a number", () =>
    Effect.gen(function*() {
      const completed: Array<unknown> = []
      const session = {
        _tag: "MultipartSession",
        fileId: "f1",
        uploadId: "9007199254740993",
        numericIds: ["uploadId"],
        clockOffset: 0,
        openedAt: 0,
        extra: {},
        urls: [Option.getOrThrow(PresignedUrl.fromString("https://storage.test/f1?sig=1"))]
      } as const
      const stub = ServiceApi.layerNoop({
        initiateLargeUpload: () => Effect.succeed(session),
        completeLargeUpload: ({ numericIds, uploadId }) =>
          Effect.sync(() => {
            completed.push([uploadId, numericIds])
            return { id: "f1" }
          })
      })
      const parts = `"parts":[{"part_number":1,"etag":"e"}]`
      yield* Effect.gen(function*() {
        const { text } = yield* ask("/v2/files/large-upload", { body: small })
        assert.include(text, `"upload_id":9007199254740993,`)
        for (const id of ["9007199254740993", "7", `"7"`]) {
          const json = `{"upload_id":${id},${parts}}`
          assert.strictEqual((yield* ask("/v2/files/f1/large-upload/complete", { json })).status, 200)
        }
      }).pipe(Effect.provide(stub))
      assert.deepStrictEqual(completed, [["9007199254740993", ["uploadId"]], ["7", ["uploadId"]], ["7", []]])
    }))

  it.effect("gives and takes the id of a file that is a number as a number, with what a page knows of the file", () =>
    Effect.gen(function*() {
      const completed: Array<unknown> = []
      const session = {
        _tag: "SingleSession",
        fileId: "9007199254740993",
        numericIds: ["fileId"],
        clockOffset: 0,
        openedAt: 0,
        extra: {},
        url: Option.getOrThrow(PresignedUrl.fromString("https://storage.test/f1?sig=1"))
      } as const
      const stub = ServiceApi.layerNoop({
        profile: ServiceProfile.extend(ServiceProfile.standard, { completeUploadBody: { id: "{file_id}" } }),
        initiateUpload: () => Effect.succeed(session),
        completeUpload: (upload) =>
          Effect.sync(() => {
            completed.push(upload)
            return { id: upload.fileId }
          })
      })
      const path = "/v2/files/9007199254740993/upload/complete"
      yield* Effect.gen(function*() {
        const { text } = yield* ask(initiate, { body: small })
        assert.include(text, `"id":9007199254740993,`)
        for (const id of ["9007199254740993", `"9007199254740993"`]) {
          const json = `{"file_id":${id},"etag":"e","size":5,"name":"a.txt","type":"text/plain"}`
          assert.strictEqual((yield* ask(path, { json })).status, 200)
        }
      }).pipe(Effect.provide(stub))
      const known = { fileId: "9007199254740993", etag: "e", size: 5, name: "a.txt", mediaType: "text/plain" }
      assert.deepStrictEqual(completed, [{ ...known, numericIds: ["fileId"] }, { ...known, numericIds: [] }])
    }))

  it.effect.each([500, 501, 503, 504, 511, 405])("keeps the words of a %d of the service in its own log", (status) => {
    const client = HttpClient.make((request) =>
      Effect.succeed(HttpClientResponse.fromWeb(
        request,
        new Response(JSON.stringify({ errors: [{ code: "Down", message: "db10.corp is down" }] }), {
          status,
          headers: { "retry-after": "99999999" }
        })
      ))
    )
    return Effect.gen(function*() {
      const { log, value } = yield* withLog(ask(initiate, { body: small }))
      assert.strictEqual(value.status, 503)
      assert.notInclude(value.text, "db10")
      assert.isTrue(log.some((line) => line.includes("db10.corp")))
      assert.strictEqual(value.headers.get("retry-after"), status === 405 ? null : "60")
    }).pipe(
      Effect.provide(ServiceApi.layer.pipe(
        Layer.provide(ServiceConfig.layer({ baseUrl: "https://files.test", token: Redacted.make("api.5ecre7/0ken") })),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
      ))
    )
  })

  it.effect("passes operation and file to `permit`, and responds 403 without calling the service if it denies", () =>
    Effect.gen(function*() {
      const calls: Array<StevedoreHttpApp.Call> = []
      const strict = StevedoreHttpApp.make({
        authorize: () => Effect.succeed("Ada"),
        permit: (user, call) => Effect.sync(() => calls.push(call) === 0 || user !== "Ada")
      })
      assert.strictEqual((yield* ask(initiate, { body: small }, strict)).status, 403)
      assert.deepStrictEqual(calls, [
        { operation: "initiateUpload", file: { name: "a.txt", mediaType: "text/plain", size: 5 } }
      ])
      assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("passes on what `authorize` and `permit` refuse with, and a status that is no visitor's as their own", () =>
    Effect.gen(function*() {
      const words = "Only PDFs of invoices are accepted here."
      const refusals = [
        [{ words }, 401, "Unauthorized", 403, "Forbidden"],
        [{ words, status: 422, code: "OnlyInvoices" }, 422, "OnlyInvoices", 422, "OnlyInvoices"],
        [{ words, status: 451 }, 451, "Unauthorized", 451, "Forbidden"],
        [{ words, status: 500 }, 401, "Unauthorized", 403, "Forbidden"],
        [{ words, status: NaN }, 401, "Unauthorized", 403, "Forbidden"]
      ] as const
      for (const [given, ofUser, userCode, ofCall, callCode] of refusals) {
        const refusing = () => new StevedoreHttpApp.Refusal(given)
        const strangers = StevedoreHttpApp.make({ authorize: refusing })
        const strict = StevedoreHttpApp.make({ authorize: () => Effect.succeed("Ada"), permit: refusing })
        for (const [app, status, code] of [[strangers, ofUser, userCode], [strict, ofCall, callCode]] as const) {
          const answer = yield* ask(initiate, { body: small }, app)
          assert.deepInclude(answer, { status })
          assert.deepInclude(answer.json.errors[0], { code, message: words })
        }
      }
      assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("`opened` reports the user of each upload, so that `permit` can deny it to others", () =>
    Effect.gen(function*() {
      const owners = new Map<string, readonly [user: string, name: string]>()
      const owned = StevedoreHttpApp.make({
        authorize: ({ cookies }) => Effect.fromNullable(cookies["user"]),
        opened: (user, { file, fileId }) => Effect.sync(() => owners.set(fileId, [user, file.name])),
        permit: (user, call) => Effect.sync(() => !("fileId" in call) || owners.get(call.fileId)?.[0] === user)
      })
      const as = (user: string, path: string, asked: Asked = {}) =>
        ask(path, { ...asked, headers: { cookie: `user=${user}` } }, owned)
      const single = (yield* as("Ada", initiate, { body: small })).json.data
      const large = (yield* as("Ada", "/v2/files/large-upload", { body: { ...small, name: "b.txt" } })).json.data
      assert.deepStrictEqual([...owners], [[single.id, ["Ada", "a.txt"]], [large.id, ["Ada", "b.txt"]]])
      const calls: ReadonlyArray<readonly [path: string, asked: Asked]> = [
        [`/v1/files/${single.id}`, {}],
        [`/v2/files/${single.id}/upload/complete`, { method: "POST" }],
        [`/v2/files/${large.id}/large-upload/complete`, {
          body: { upload_id: large.upload_id, parts: [{ part_number: 1, etag: "\"e\"" }] }
        }]
      ]
      for (const [path, call] of calls) {
        assert.strictEqual((yield* as("Bob", path, call)).status, 403, path)
      }
      assert.deepStrictEqual(yield* asked, ["initiate", "initiateLarge"])
      // for Ada the service is asked, which has no bytes yet
      const answers = yield* Effect.forEach(calls, ([path, call]) => as("Ada", path, call))
      assert.deepStrictEqual(answers.map(({ status }) => status), [404, 400, 502])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("responds with a generic 500 and logs the error if `opened` fails", () =>
    Effect.gen(function*() {
      const failing = StevedoreHttpApp.make({
        authorize: () => Effect.succeed("Ada"),
        opened: () => Effect.fail("the database is full")
      })
      for (const path of [initiate, "/v2/files/large-upload"]) {
        const { log, value: { status, text } } = yield* withLog(ask(path, { body: small }, failing))
        assert.strictEqual(status, 500)
        assert.deepStrictEqual(JSON.parse(text), {
          errors: [{ code: "InternalError", title: "Something went wrong" }]
        })
        assert.lengthOf(log, 1)
        assert.match(log[0] ?? "", /^ERROR: .*the database is full/s)
      }
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("logs a defect of each of the application's functions, such as a rejected promise", () =>
    Effect.gen(function*() {
      const authorize = () => Effect.succeed("Ada")
      const rejected = () => Effect.promise(() => Promise.reject(new Error("the database is down")))
      for (
        const defective of [
          StevedoreHttpApp.make({ authorize: rejected }),
          StevedoreHttpApp.make({ authorize, permit: rejected }),
          StevedoreHttpApp.make({ authorize, opened: rejected })
        ]
      ) {
        const { log, value } = yield* withLog(Effect.exit(ask(initiate, { body: small }, defective)))
        assert.isTrue(Exit.isFailure(value))
        assert.lengthOf(log, 1)
        assert.match(log[0] ?? "", /^ERROR: .*the database is down/s)
      }
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("responds 400 with the field's path, 413 or 415 to an invalid body, and does not call the service", () =>
    Effect.gen(function*() {
      for (
        const [body, path] of [
          [{ ...small, size: 0 }, "size"],
          [{ ...small, name: "" }, "name"],
          [{ ...small, size: 5_000_000_001 }, "size"],
          [{ ...small, type: 1 }, "type"]
        ] as const
      ) {
        const { json, status } = yield* ask(initiate, { body })
        assert.strictEqual(status, 400, path)
        assert.strictEqual(json.errors[0].path, path)
      }
      const unshowable = { constructor: { name: { toString: 0, valueOf: 0 } } }
      assert.strictEqual((yield* ask(initiate, { body: { ...small, name: unshowable } })).status, 400)
      const form = yield* ask(initiate, { body: small, headers: { "content-type": "text/plain" } })
      assert.strictEqual(form.status, 415)
      const long = yield* ask(initiate, { body: small, headers: { "content-length": "5000000" } })
      assert.strictEqual(long.status, 413)
      assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("says in a 400 what was expected of the field, and does not repeat what was sent", () =>
    Effect.gen(function*() {
      const messageOf = (body: unknown) => Effect.map(ask(initiate, { body }), ({ json }) => json.errors[0].message)
      assert.strictEqual(yield* messageOf({ ...small, size: 0 }), "Expected a number between 1 and 5000000000")
      assert.strictEqual(yield* messageOf({ ...small, type: { sent: "b" } }), "Expected string")
      assert.strictEqual(yield* messageOf({ ...small, name: "n".repeat(1025) }), "expected at most 1024 characters")
      assert.strictEqual(yield* messageOf({ name: "a.txt", size: 5 }), "is missing")
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("reads at most 4 MiB of a web request's body without a length, and decodes it as any other", () =>
    Effect.gen(function*() {
      let read = 0
      const chunk = new TextEncoder().encode(" ".repeat(65_536))
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          read += chunk.byteLength
          // far beyond the limit, so that the test ends without it, too
          return read > 64 * 1024 * 1024 ? controller.close() : controller.enqueue(chunk)
        }
      })
      const statusOf = (body: string | ReadableStream<Uint8Array>) => {
        const headers = { cookie: "session=1", "content-type": "application/json" }
        const init = { method: "POST", headers, body, duplex: "half" }
        const served = HttpServerRequest.fromWeb(new Request(`http://localhost${initiate}`, init))
        return Effect.map(
          Effect.provideService(app, HttpServerRequest.HttpServerRequest, served),
          ({ status }) => status
        )
      }
      assert.strictEqual(yield* statusOf(endless), 413)
      assert.isBelow(read, 5 * 1024 * 1024)
      for (
        const [body, status] of [
          [`\uFEFF${JSON.stringify(small)}`, 201],
          ["{", 400],
          ["", 400],
          [JSON.stringify(small), 201]
        ] as const
      ) {
        assert.strictEqual(yield* statusOf(body), status, body)
      }
      assert.deepStrictEqual(yield* asked, ["initiate", "initiate"])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.live.each([true, false])(
    "responds 413 to a Node request with too long a body, saying so: %s, and decodes any other",
    (says) =>
      Effect.gen(function*() {
        const origin = yield* listening(yield* NodeHttpServer.makeHandler(app))
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const statusOf = (body: string) =>
          Effect.async<number | string>((resume) => {
            const sent = request(`${origin}${initiate}`, {
              agent,
              method: "POST",
              headers: {
                cookie: "session=1",
                "content-type": "application/json",
                ...(says ? { "content-length": Buffer.byteLength(body) } : { "transfer-encoding": "chunked" })
              }
            })
            sent.once("error", (error) => resume(Effect.succeed(error.message)))
            sent.once("response", (response) => {
              response.resume().once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
            })
            sent.end(body)
          }).pipe(Effect.timeout("5 seconds"))
        const described = JSON.stringify(small)
        for (
          const [body, status] of [
            [" ".repeat(5_000_000), 413],
            [described, 201],
            [`${" ".repeat(4 * 1024 * 1024 - described.length)}${described}`, 201],
            [`\uFEFF${described}`, 201],
            ["{", 400],
            ["", 400]
          ] as const
        ) assert.strictEqual(yield* statusOf(body), status)
        assert.deepStrictEqual(yield* asked, ["initiate", "initiate", "initiate"])
        agent.destroy()
      }).pipe(Effect.scoped, Effect.provide(SandboxLayer.memory()))
  )

  it.live("interrupts a running initiate when the page leaves, even if the server runs the app uninterruptibly", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const hanging = ServiceApi.layerNoop({
        initiateUpload: () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      })
      const asking = yield* ask(initiate, { body: small }).pipe(
        Effect.provide(hanging),
        Effect.uninterruptible,
        Effect.forkDaemon
      )
      yield* Deferred.await(begun)
      const left = yield* Effect.timeoutOption(Fiber.interrupt(asking), "2 seconds")
      assert.isTrue(Option.isSome(left))
    }))

  it.live.each<readonly [path: string, asked: Asked]>([
    ["/v2/files/f1/upload/complete", { method: "POST" }],
    ["/v2/files/f1/large-upload/complete", { body: { upload_id: "u1", parts: [{ part_number: 1, etag: "\"e\"" }] } }]
  ])(
    "finishes a running Complete in the background if the page leaves: %s",
    ([path, call]) =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        let completed = false
        const completing = () =>
          Effect.gen(function*() {
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(mayEnd)
            completed = true
            return { id: "f1", name: "a.txt", status: "pending", created_at: "2026-01-01" } as const
          })
        const service = ServiceApi.layerNoop({ completeUpload: completing, completeLargeUpload: completing })
        const asking = yield* Effect.forkDaemon(Effect.provide(ask(path, call), service))
        yield* Deferred.await(begun)
        const left = yield* Effect.timeoutOption(Fiber.interrupt(asking), "2 seconds")
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Effect.sleep("20 millis")
        assert.deepStrictEqual([Option.isSome(left), completed], [true, true])
      })
  )

  it.effect("counts a name's length in code points, and accepts 1024 but not 1025", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ask(initiate, { body: { ...small, name: "🚢".repeat(1024) } })).status, 201)
      const { json, status } = yield* ask(initiate, { body: { ...small, name: "🚢".repeat(1025) } })
      assert.deepStrictEqual([status, json.errors[0].path], [400, "name"])
      assert.lengthOf(yield* asked, 1)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("responds 404 to an unknown path or method, and does not call the service", () =>
    Effect.gen(function*() {
      for (const path of ["/v1/users", "/v1/token/info", "/v1/files/a/b", "/v1/files/%2e%2e", "/v1/files/x/download"]) {
        assert.strictEqual((yield* ask(path)).status, 404, path)
      }
      assert.strictEqual((yield* ask("/v1/files/abc", { method: "DELETE" })).status, 404)
      assert.deepStrictEqual(yield* asked, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("responds 404 to a path that is not a valid URL, such as // or *", () =>
    Effect.gen(function*() {
      for (const path of ["//", "//[", "///v1/projects"]) {
        assert.strictEqual((yield* ask(path)).status, 404, path)
      }
      const star = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers: { cookie: "session=1" } }))
      const answer = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, star.modify({ url: "*" }))
      assert.strictEqual(answer.status, 404)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("applies the limits of the service's profile, larger or smaller than the standard ones", () =>
    Effect.gen(function*() {
      const pages: Array<PageRequest> = []
      const limits = { pageSize: 20_000, singleSize: 6_000_000_000, multipartSize: 7, parts: 3, nameLength: 5 }
      const service = ServiceApi.layerNoop({
        profile: ServiceProfile.extend(ServiceProfile.standard, { limits, paths: { initiateUpload: "/elsewhere" } }),
        listPage: (request) => Effect.sync(() => ({ data: pages.splice(0, 1, request), page: {} })),
        initiateUpload: ({ size }) =>
          Effect.fail(
            new ServiceError.RequestRejected({ operation: String(size), status: 422, issues: [], attempts: 1 })
          )
      })
      const statusOf = (path: string, body?: unknown) =>
        Effect.map(Effect.provide(ask(path, { body }), service), ({ status }) => status)
      assert.strictEqual(yield* statusOf("/v1/projects?page[limit]=20000"), 200)
      assert.strictEqual(yield* statusOf("/v1/projects?page[limit]=20001"), 400)
      assert.deepStrictEqual(pages.map(({ limit }) => limit), [20_000])
      // the service was asked: what it answers is passed on
      assert.strictEqual(yield* statusOf(initiate, { ...small, size: 5_500_000_000 }), 422)
      assert.strictEqual(yield* statusOf(initiate, { ...small, name: "ab.txt" }), 400)
      const large = "/v2/files/large-upload"
      assert.strictEqual(yield* statusOf(large, { ...small, size: 8 }), 400)
      assert.strictEqual(yield* statusOf(large, { ...small, parts: 4 }), 400)
      const parts = [1, 2, 3, 4].map((part_number) => ({ part_number, etag: "\"e\"" }))
      assert.strictEqual(yield* statusOf("/v2/files/abc/large-upload/complete", { upload_id: "u", parts }), 400)
    }))

  it.effect("responds 502 and logs an error if the service responds 404 to an initiate, but not for a file", () =>
    Effect.gen(function*() {
      const { log, value: { status } } = yield* withLog(ask(initiate, { body: small }))
      assert.strictEqual(status, 502)
      assert.lengthOf(log, 1)
      assert.match(log[0] ?? "", /^ERROR: .*initiateUpload.*base URL/)
      const { token } = yield* Sandbox.Sandbox
      assert.notInclude(log.join(), Redacted.value(token))
      const unknown = yield* withLog(ask("/v1/files/abc"))
      assert.deepStrictEqual([unknown.value.status, unknown.log], [404, []])
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("initiate").answer(404) }))))

  it.effect("passes on a page of a configured list, and responds 400 to an invalid page limit", () =>
    Effect.gen(function*() {
      const { json, status } = yield* ask("/v1/projects?page[limit]=2")
      assert.strictEqual(status, 200)
      assert.lengthOf(json.data, 2)
      assert.strictEqual((yield* ask("/v1/projects?page[limit]=0")).status, 400)
    }).pipe(Effect.provide(SandboxLayer.memory({ projects: 5 }))))

  it.effect("responds 5xx to whatever is between this server and the service, and does not mention the token", () =>
    Effect.gen(function*() {
      const about = { operation: "initiateUpload", status: 0, issues: [] }
      const failures: ReadonlyArray<ServiceError.ServiceError> = [
        new ServiceError.Unauthorized(about),
        new ServiceError.Forbidden(about),
        new ServiceError.NotFound(about),
        new ServiceError.InvalidResponse({ ...about, path: "", problem: "nothing" })
      ]
      for (const failure of failures) {
        const stub = ServiceApi.layerNoop({
          profile: ServiceProfile.standard,
          initiateUpload: () => Effect.fail(failure)
        })
        const { log, value } = yield* withLog(Effect.provide(ask(initiate, { body: small }), stub))
        assert.strictEqual(value.status, 502, failure._tag)
        assert.notInclude(value.text, "token")
        assert.match(log.join(), /^ERROR: /)
      }
    }))

  it.effect("by default lets a user complete and read only what he has opened: any other id is not there", () =>
    Effect.gen(function*() {
      class Session extends Data.Class<{ readonly user: string }> {}
      class Private {
        readonly #name: string
        constructor(name: string) {
          this.#name = name
        }
        get name() {
          return this.#name
        }
      }
      const users: ReadonlyArray<readonly [of: (name: string) => unknown, isKnownAgain: boolean]> = [
        [(name) => name, true],
        [(name) => ({ id: name, roles: ["user", { of: name }] }), true],
        [(name) => new Session({ user: name }), true],
        // who cannot be compared is nobody else
        [(name) => new Private(name), false]
      ]
      const store = yield* KeyValueStore.KeyValueStore
      const named = UploadOutbox.make({ store, user: Schema.Struct({ id: Schema.String }) })
      const apps = [
        ...users.map(([of, isKnownAgain]) => [of, isKnownAgain, undefined] as const),
        [(name: string) => ({ id: name, session: new Private(name) }), true, named] as const
      ]
      for (const [of, isKnownAgain, outbox] of apps) {
        for (const completed of [undefined, () => Effect.void]) {
          const make = () =>
            StevedoreHttpApp.make({
              authorize: ({ cookies }) => Effect.map(Effect.fromNullable(cookies["user"]), of),
              completed,
              // the store does not hold what is not known of a user's type here
              ...outbox === undefined ? {} : { outbox: outbox as UploadOutbox.UploadOutbox<unknown> }
            })
          const served = make()
          const as = (user: string, path: string, asked: Asked = {}, by = served) =>
            Effect.map(ask(path, { ...asked, headers: { cookie: `user=${user}` } }, by), ({ status }) => status)
          const opened = yield* ask(initiate, { body: small, headers: { cookie: "user=Ada" } }, served)
          const id = opened.json.data.id
          const calls: ReadonlyArray<readonly [path: string, asked: Asked]> = [
            [`/v2/files/${id}/upload/complete`, { method: "POST" }],
            [`/v1/files/${id}`, {}]
          ]
          const before = (yield* asked).length
          for (const [path, call] of calls) {
            assert.strictEqual(yield* as("Bob", path, call), 404, path)
            assert.strictEqual(yield* as("Ada", path.replace(id, "another1"), call), 404, path)
            if (outbox === undefined) assert.strictEqual(yield* as("Ada", path, call, make()), 404, "after a restart")
          }
          assert.lengthOf(yield* asked, before)
          for (const [path, call] of calls) yield* as("Ada", path, call)
          assert.strictEqual((yield* asked).length > before, isKnownAgain)
        }
      }
    }).pipe(Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory()))))

  it.effect.each([
    (token: string) => token,
    (token: string) => encodeURIComponent(`+${token}`),
    (token: string) => Encoding.encodeBase64(`Bearer ${token}`)
  ])("passes on the issues of a refusal, but not the token that one quotes: %s", (quoted) => {
    const client = HttpClient.make((request) => {
      const quotation = quoted("api.5ecre7/0ken")
      const issue = { code: `Invalid.${quotation}`, title: quotation, message: `no ${quotation}`, path: [quotation] }
      return Effect.succeed(
        HttpClientResponse.fromWeb(request, new Response(JSON.stringify({ errors: [issue] }), { status: 422 }))
      )
    })
    return Effect.gen(function*() {
      const { json, status, text } = yield* ask(initiate, { body: small })
      assert.strictEqual(status, 422)
      assert.match(json.errors[0].message, /^no .*<redacted>$/)
      assert.notInclude(text, quoted("api.5ecre7/0ken"))
    }).pipe(
      Effect.provide(ServiceApi.layer.pipe(
        Layer.provide(
          ServiceConfig.layer({ baseUrl: "https://files.test", token: Redacted.make("api.5ecre7/0ken") })
        ),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
      ))
    )
  })

  it.effect("does not retry, but passes on a 503, and a 429 with its Retry-After", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ask(initiate, { body: small })).status, 503)
      const limited = yield* ask(initiate, { body: small })
      assert.strictEqual(limited.status, 429)
      assert.strictEqual(limited.headers.get("retry-after"), "7")
      assert.deepStrictEqual(yield* asked, ["initiate", "initiate"])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("initiate").answer(503, "ServiceUnavailable").and(
        FaultScript.on("initiate").answer(429, "TooManyRequests", { retryAfter: 7 })
      )
    }))))

  it.effect("passes on a 502 to Complete as it came: only with issues it says that storage refused the parts", () =>
    Effect.gen(function*() {
      const { id, upload_id } = (yield* ask("/v2/files/large-upload", { body: small })).json.data
      const complete = ask(`/v2/files/${id}/large-upload/complete`, {
        body: { upload_id, parts: [{ part_number: 1, etag: "\"e\"" }] }
      })
      const answers = yield* Effect.replicateEffect(complete, 2)
      assert.deepStrictEqual(
        answers.map(({ json, status }) => [status, json.errors.map(({ code }: { readonly code: string }) => code)]),
        [[502, []], [502, ["BadGateway"]]]
      )
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("complete").html(502).and(FaultScript.on("complete").answer(502))
    }))))

  it.effect("responds 429 at once if the service's rate limit would take longer than ten seconds", () =>
    Effect.gen(function*() {
      yield* ask(initiate, { body: small })
      const early = yield* ask(initiate, { body: small })
      assert.deepStrictEqual([early.status, early.headers.get("retry-after")], [429, "30"])
      yield* TestClock.adjust("21 seconds")
      const soon = yield* Effect.fork(ask(initiate, { body: small }))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* Fiber.join(soon)).status, 201)
      assert.deepStrictEqual(yield* asked, ["initiate", "initiate"])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("initiate").answer(429, "TooManyRequests", { retryAfter: 30 })
    }))))

  it.effect("removes its prefix from the request's path", () =>
    Effect.gen(function*() {
      const mounted = StevedoreHttpApp.make({ authorize: () => Effect.succeed("Ada"), prefix: "/api" })
      assert.strictEqual((yield* ask(`/api${initiate}`, { body: small }, mounted)).status, 201)
    }).pipe(Effect.provide(SandboxLayer.memory())))
})
