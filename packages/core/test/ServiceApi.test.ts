import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl, ServiceApi, ServiceConfig, ServiceError, ServiceProfile } from "@stevedore/core"
import { Chunk, Clock, Effect, Either, Fiber, Layer, Option, Redacted, Schema, Stream, TestClock } from "effect"
import { inspect } from "node:util"
import * as FakeHttp from "./fixtures/FakeHttp.js"
import { href } from "./fixtures/presignedUrls.js"

const secret = "api.5ecre770ken"

const record = { id: "f1", name: "a.txt", status: "pending" as const, created_at: "2030-01-01T00:00:00Z" }

const file = { name: "a.txt", mediaType: "text/plain", size: 5 }

const single = { data: { id: "f1", upload_url: href() } }

const multipart = { data: { id: "f1", upload_id: "u~1", urls: [href({ part: 1 }), href({ part: 2 })] } }

const part = { partNumber: 1, etag: "\"e\"", size: 5, attempts: 1 }

const page = { data: [], page: { total_count: 0, has_more: false, next_cursor: null } }

interface Setting {
  readonly baseUrl?: string
  readonly allowInsecureHttp?: boolean
  readonly profile?: ServiceProfile.ServiceProfile
}

const layerOf = (client: HttpClient.HttpClient, setting: Setting = {}) =>
  Layer.provide(
    ServiceApi.layer,
    Layer.merge(
      Layer.orDie(
        ServiceConfig.layer({ baseUrl: "https://service.test/api", token: Redacted.make(secret), ...setting })
      ),
      FakeHttp.layer(client)
    )
  )

const withApi = <A, E>(
  use: (api: ServiceApi.Service) => Effect.Effect<A, E>,
  answer: FakeHttp.Answer,
  setting?: Setting
) => {
  const { client, seen } = FakeHttp.make(answer)
  return Effect.flatMap(ServiceApi.ServiceApi, use).pipe(
    Effect.either,
    Effect.map((result) => ({ result, seen })),
    Effect.provide(layerOf(client, setting))
  )
}

/** The same, with the time of all waits passing at once. */
const withApiOverTime = <A, E>(
  use: (api: ServiceApi.Service) => Effect.Effect<A, E>,
  answer: FakeHttp.Answer,
  setting?: Setting
) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(withApi(use, answer, setting))
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

const calls: ReadonlyArray<{
  readonly operation: string
  readonly call: (api: ServiceApi.Service) => Effect.Effect<unknown, ServiceError.ServiceError>
  readonly good: unknown
  readonly method: string
  readonly path: string
  readonly repeatable: boolean
}> = [
  {
    operation: "initiateUpload",
    call: (api) => api.initiateUpload(file),
    good: single,
    method: "POST",
    path: "/v2/files/upload",
    repeatable: false
  },
  {
    operation: "initiateLargeUpload",
    call: (api) => api.initiateLargeUpload({ ...file, parts: Option.some(2) }),
    good: multipart,
    method: "POST",
    path: "/v2/files/large-upload",
    repeatable: false
  },
  {
    operation: "completeUpload",
    call: (api) => api.completeUpload({ fileId: "f1" }),
    good: { data: record },
    method: "POST",
    path: "/v2/files/f1/upload/complete",
    repeatable: true
  },
  {
    operation: "completeLargeUpload",
    call: (api) => api.completeLargeUpload({ fileId: "f1", uploadId: "u~1", parts: [part] }),
    good: { data: record },
    method: "POST",
    path: "/v2/files/f1/large-upload/complete",
    repeatable: true
  },
  {
    operation: "file",
    call: (api) => api.file("f1"),
    good: { data: record },
    method: "GET",
    path: "/v1/files/f1",
    repeatable: true
  },
  {
    operation: "listPage",
    call: (api) => api.listPage({ path: "/v1/projects", limit: 100, cursor: Option.none(), query: [] }),
    good: page,
    method: "GET",
    path: "/v1/projects",
    repeatable: true
  },
  {
    operation: "tokenInfo",
    call: (api) => api.tokenInfo,
    good: { data: { id: "t1", subdomain: "acme" } },
    method: "GET",
    path: "/v1/token/info",
    repeatable: true
  }
]

/** The calls whose response the interface does not show. */
const anySuccess = ["completeUpload", "completeLargeUpload", "tokenInfo"]

const errorOf = <A>(result: Either.Either<A, unknown>): ServiceError.ServiceError => {
  const error = Either.isLeft(result) ? result.left : assert.fail("expected an error")
  return Schema.is(ServiceError.ServiceError)(error) ? error : assert.fail("expected a ServiceError")
}

describe("ServiceApi", () => {
  describe.each(["", ".", "..", "\ud800"])("a file id of %j means no file, and is not requested", (fileId) => {
    it.effect.each(
      [
        ["file", (api: ServiceApi.Service) => api.file(fileId)],
        ["download", (api: ServiceApi.Service) => Effect.scoped(api.download(fileId))],
        ["completeUpload", (api: ServiceApi.Service) => api.completeUpload({ fileId })],
        [
          "completeLargeUpload",
          (api: ServiceApi.Service) => api.completeLargeUpload({ fileId, uploadId: "u", parts: [part] })
        ]
      ] as const
    )("%s", ([, use]) =>
      Effect.gen(function*() {
        const { result, seen } = yield* withApi<unknown, ServiceError.ServiceError>(use, () => FakeHttp.json({}))
        assert(Either.isLeft(result))
        assert.strictEqual(result.left._tag, "NotFound")
        assert.strictEqual(result.left.attempts, 0)
        assert.lengthOf(seen, 0)
      }))
  })

  describe.each(calls)("$operation", ({ call, good, method, operation, path, repeatable }) => {
    it.effect("a configuration without a token sends no Authorization header at all", () =>
      Effect.gen(function*() {
        const { client, seen } = FakeHttp.make(() => Response.json({ data: record }))
        yield* Effect.flatMap(ServiceApi.ServiceApi, (api) => api.file("f1")).pipe(
          Effect.provide(ServiceApi.layer.pipe(
            Layer.provide(ServiceConfig.layer({ baseUrl: "https://page.test/api", token: "none" })),
            Layer.provide(FakeHttp.layer(client))
          ))
        )
        assert.lengthOf(seen, 1)
        assert.notProperty(seen[0]?.headers, "authorization")
      }))

    it.effect("goes to the base URL with its path and the bearer token, and asks for JSON", () =>
      Effect.gen(function*() {
        const { result, seen: [request] } = yield* withApi(call, () => FakeHttp.json(good))
        assert.isTrue(Either.isRight(result))
        assert.strictEqual(request?.method, method)
        assert.strictEqual(request?.href.split("?")[0], `https://service.test/api${path}`)
        assert.strictEqual(request?.headers["authorization"], `Bearer ${secret}`)
        assert.strictEqual(request?.headers["accept"], "application/json")
      }))

    it.effect("takes the trace of its caller along, in a span of its own", () =>
      Effect.gen(function*() {
        const { seen: [request], trace } = yield* Effect.currentSpan.pipe(
          Effect.flatMap(({ spanId, traceId }) =>
            Effect.map(withApi(call, () => FakeHttp.json(good)), ({ seen }) => ({ seen, trace: { spanId, traceId } }))
          ),
          Effect.withSpan("caller")
        )
        const [, traceId, spanId] = request?.headers["traceparent"]?.split("-") ?? []
        assert.strictEqual(traceId, trace.traceId)
        assert.match(spanId ?? "", /^[0-9a-f]{16}$/)
        assert.notStrictEqual(spanId, trace.spanId)
      }))

    it.effect("is one request if it succeeds", () =>
      Effect.map(withApi(call, () => FakeHttp.json(good)), ({ seen }) => assert.lengthOf(seen, 1)))

    it.effect.each(
      [
        [400, "RequestRejected"],
        [401, "Unauthorized"],
        [403, "Forbidden"],
        ...(operation === "tokenInfo" ? [] : [[404, "NotFound"] as const]),
        [409, "UploadConflict"],
        [422, "RequestRejected"]
      ] as const
    )(
      "%s is asked once, and fails with the service's code, path and request id",
      ([status, tag]) =>
        Effect.gen(function*() {
          const issue = { code: "ValidationError", title: "Invalid", message: "too long", path: ["body", "name"] }
          const { result, seen } = yield* withApi(
            call,
            () => FakeHttp.json({ errors: [issue] }, { status, headers: { "x-request-id": "req-7" } })
          )
          assert.lengthOf(seen, 1)
          assert.deepInclude({ ...errorOf(result) }, {
            _tag: tag,
            operation,
            status,
            requestId: "req-7",
            attempts: 1,
            issues: [issue]
          })
        })
    )

    it.effect.each([500, 502, 503, 504])(
      "%d is retried only if that is harmless",
      (status) =>
        Effect.gen(function*() {
          const { result, seen } = yield* withApiOverTime(
            call,
            () => new Response("<html>Bad gateway</html>", { status })
          )
          assert.lengthOf(seen, repeatable ? 5 : 1)
          assert.deepInclude({ ...errorOf(result) }, {
            _tag: "ServiceUnavailable",
            attempts: repeatable ? 5 : 1,
            issues: []
          })
        })
    )

    it.effect("a 429 was not carried out: it is retried, but not before the time that it names", () =>
      Effect.gen(function*() {
        const { client, seen } = FakeHttp.make((_, count) =>
          count === 1 ? new Response("", { status: 429, headers: { "retry-after": "20" } }) : FakeHttp.json(good)
        )
        const fiber = yield* Effect.flatMap(ServiceApi.ServiceApi, call).pipe(
          Effect.provide(layerOf(client)),
          Effect.fork
        )
        yield* TestClock.adjust("19999 millis")
        assert.lengthOf(seen, 1)
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(fiber)
        assert.lengthOf(seen, 2)
      }))

    it.effect.each(
      [
        ["HTML", "<html>Sign in</html>", repeatable ? 2 : 1],
        ["truncated JSON", "{\"data\":{\"id\":\"f", repeatable ? 2 : 1],
        ["nothing", "", 1],
        ["another shape", "[]", 1],
        ["null", "null", 1]
      ] as const
    )(
      "a success with %s is an invalid response, or one that may have any body, and not a defect",
      ([_, body, requests]) =>
        Effect.gen(function*() {
          const { result, seen } = yield* withApiOverTime(call, () => new Response(body))
          if (anySuccess.includes(operation)) {
            assert.isTrue(Either.isRight(result))
            return assert.lengthOf(seen, 1)
          }
          assert.strictEqual(errorOf(result)._tag, "InvalidResponse")
          assert.strictEqual(errorOf(result).attempts, requests)
          assert.lengthOf(seen, requests)
        })
    )

    it.effect.each([301, 302, 303, 307, 308])(
      "a %d is not followed: the token goes nowhere else",
      (status) =>
        Effect.gen(function*() {
          const { result, seen } = yield* withApi(
            call,
            () => new Response(null, { status, headers: { location: "https://elsewhere.test/" } })
          )
          assert.lengthOf(seen, 1)
          assert.deepInclude({ ...errorOf(result) }, { _tag: "RequestRejected", status })
        })
    )

    it.effect("a connection that was never made is retried; one that broke, only if that is harmless", () =>
      Effect.gen(function*() {
        for (
          const [code, arrived, again] of [["ECONNREFUSED", "no", true], ["ECONNRESET", "unknown", repeatable]] as const
        ) {
          let count = 0
          const client = HttpClient.transform(
            FakeHttp.broken(code),
            (effect) => Effect.zipRight(Effect.sync(() => count++), effect)
          )
          const fiber = yield* Effect.flatMap(ServiceApi.ServiceApi, call).pipe(
            Effect.either,
            Effect.provide(layerOf(client)),
            Effect.fork
          )
          yield* TestClock.adjust("1 hour")
          const error = errorOf(yield* Fiber.join(fiber))
          assert.deepInclude({ ...error }, {
            _tag: "ConnectionFailed",
            peer: "service",
            origin: "https://service.test",
            code,
            arrived,
            attempts: again ? 5 : 1
          })
          assert.strictEqual(count, again ? 5 : 1)
        }
      }))

    it.effect("a call without a response times out, and is retried only if that is harmless", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* withApiOverTime(call, () => Effect.never)
        assert.deepInclude({ ...errorOf(result) }, {
          _tag: "TimedOut",
          peer: "service",
          phase: "call",
          attempts: repeatable ? 5 : 1
        })
        assert.lengthOf(seen, repeatable ? 5 : 1)
      }))
  })

  it.effect.each([
    ["https://service.test", "https://service.test/v1/token/info"],
    ["https://service.test/", "https://service.test/v1/token/info"],
    ["https://service.test/a/b/", "https://service.test/a/b/v1/token/info"]
  ])("a base URL keeps its path: %s", ([baseUrl = "", expected]) =>
    Effect.gen(function*() {
      const { seen } = yield* withApi(
        (api) => api.tokenInfo,
        () => FakeHttp.json({ data: { id: "t", subdomain: "s" } }),
        { baseUrl }
      )
      assert.strictEqual(seen[0]?.href, expected)
    }))

  it.effect.each([
    "@elsewhere.test/",
    ".elsewhere.test/",
    ":1@elsewhere.test",
    "//elsewhere.test/",
    "\\elsewhere.test",
    "https://elsewhere.test/"
  ])("whatever the path, the token goes to no other host: %s", (path) =>
    Effect.gen(function*() {
      const { seen } = yield* withApi(
        (api) => api.listPage({ path, limit: 10, cursor: Option.none(), query: [] }),
        () => FakeHttp.json(page),
        { baseUrl: "https://service.test" }
      )
      assert.deepStrictEqual(seen.map(({ href }) => new URL(href).origin), ["https://service.test"])
    }))

  it.effect("a cursor is sent back to the service exactly as it was received", () =>
    Effect.gen(function*() {
      const cursor = "a+b/c==&d %25\u00e9"
      const { seen } = yield* withApi(
        (api) => api.listPage({ path: "/v1/projects", limit: 10, cursor: Option.some(cursor), query: [] }),
        () => FakeHttp.json(page)
      )
      assert.strictEqual(new URL(seen[0]?.href ?? "").searchParams.get("page[start_cursor]"), cursor)
    }))

  it.effect("a call that is interrupted ends at once, even during a back-off", () =>
    Effect.gen(function*() {
      const { client, seen } = FakeHttp.make(() => new Response("", { status: 503 }))
      const fiber = yield* Effect.flatMap(ServiceApi.ServiceApi, (api) => api.file("f1")).pipe(
        Effect.provide(layerOf(client)),
        Effect.fork
      )
      yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(fiber)
      const before = seen.length
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(seen.length, before)
    }))

  describe("download", () => {
    const contentOf = (answer: ServiceApi.DownloadAnswer) =>
      answer._tag === "Content" ? answer : assert.fail("expected the content")

    const download = (api: ServiceApi.Service) =>
      Effect.scoped(
        Effect.flatMap(api.download("f1"), (answer) =>
          Effect.map(Stream.runCollect(contentOf(answer).bytes), (chunks) => ({
            length: contentOf(answer).length,
            etag: contentOf(answer).etag,
            text: new TextDecoder().decode(Uint8Array.from(Chunk.toReadonlyArray(chunks).flatMap((one) => [...one])))
          })))
      )

    const link = (api: ServiceApi.Service) =>
      Effect.scoped(
        Effect.map(
          api.download("f1"),
          (answer) => answer._tag === "Link" ? PresignedUrl.reveal(answer.url) : assert.fail("expected a link")
        )
      )

    const linked = { profile: ServiceProfile.extend(ServiceProfile.standard, { download: "link" }) }

    it.effect("returns the bytes with their length and etag, using the token", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* withApi(download, () =>
          new Response("hello", { headers: { "content-length": "5", etag: "\"e\"" } }))
        assert.deepStrictEqual(
          result,
          Either.right({ length: Option.some(5), etag: Option.some("\"e\""), text: "hello" })
        )
        assert.strictEqual(seen[0]?.href, "https://service.test/api/v1/files/f1/download")
        assert.strictEqual(seen[0]?.headers["authorization"], `Bearer ${secret}`)
      }))

    it.effect("a JSON file is never mistaken for a link, nor a link for a file", () =>
      Effect.gen(function*() {
        const body = { data: { url: "https://elsewhere.test/?X-Amz-Signature=1" } }
        const file = yield* withApi(download, () => FakeHttp.json(body))
        assert.deepInclude(Either.getOrThrow(file.result), { text: JSON.stringify(body) })
        const url = yield* withApi(link, () => FakeHttp.json(body), linked)
        assert.deepStrictEqual(url.result, Either.right(body.data.url))
        const none = yield* withApiOverTime(link, () => new Response("hello"), linked)
        assert.strictEqual(errorOf(none.result)._tag, "InvalidResponse")
      }))

    it.effect.each([301, 302, 303, 307, 308])(
      "a %d is a link, not followed with the token",
      (status) =>
        Effect.gen(function*() {
          for (const setting of [{}, linked]) {
            const { result, seen } = yield* withApi(
              link,
              () => new Response(null, { status, headers: { location: href() } }),
              setting
            )
            assert.deepStrictEqual(result, Either.right(href()))
            assert.lengthOf(seen, 1)
          }
        })
    )

    it.effect("a service that sends the file instead of a link is not read to its end", () =>
      Effect.gen(function*() {
        const chunk = new TextEncoder().encode("x".repeat(65_536))
        let given = 0
        let cancelled = 0
        const endless = () =>
          new Response(
            new ReadableStream<Uint8Array>({
              pull: (controller) => {
                given += chunk.byteLength
                controller.enqueue(chunk)
              },
              cancel: () => {
                cancelled++
              }
            }, { highWaterMark: 0 })
          )
        const { result, seen } = yield* withApiOverTime(link, endless, linked)
        const error = errorOf(result)
        assert(error._tag === "InvalidResponse")
        assert.include(error.message, "content")
        assert.strictEqual(cancelled, seen.length)
        assert.isAtMost(given, seen.length * 8 * chunk.byteLength)
      }))

    it.effect.each<readonly [string, string]>([
      ["/files/x?sig=1", "https://service.test/files/x?sig=1"],
      ["content?sig=1", "https://service.test/api/v1/files/f1/content?sig=1"],
      ["//storage.test/x?sig=1", "https://storage.test/x?sig=1"]
    ])(
      "a redirect to %s, which is relative, is resolved against the requested URL",
      ([location, url]) =>
        Effect.gen(function*() {
          const { result } = yield* withApi(link, () => new Response(null, { status: 302, headers: { location } }))
          assert.deepStrictEqual(result, Either.right(url))
        })
    )

    /** As a gateway of one's own is reached: by another URL, with a secret of its own in it. */
    const behindGateway = (headers: Readonly<Record<string, string>>) => {
      const { client, seen } = FakeHttp.make(() => new Response(null, { status: 302, headers: { ...headers } }))
      const config = ServiceConfig.layer({ baseUrl: "https://service.test/api", token: Redacted.make(secret) })
      const transformClient = HttpClient.mapRequest((request: HttpClientRequest.HttpClientRequest) =>
        HttpClientRequest.setUrl(
          request,
          `${request.url.replace("service.test/api", "gateway.test/v9")}?key=${gateKey}`
        )
      )
      return Effect.flatMap(ServiceApi.ServiceApi, link).pipe(
        Effect.either,
        Effect.map((result) => ({ result, seen })),
        Effect.provide(
          Layer.provide(
            ServiceApi.layerWith({ transformClient }),
            Layer.merge(Layer.orDie(config), FakeHttp.layer(client))
          )
        )
      )
    }

    const gateKey = "5ecre7gatekey"

    it.effect.each<readonly [string, string]>([
      ["/files/x?sig=1", "https://gateway.test/files/x?sig=1"],
      ["content?sig=1", "https://gateway.test/v9/v1/files/f1/content?sig=1"],
      ["//storage.test/x?sig=1", "https://storage.test/x?sig=1"],
      ["https://storage.test/x?sig=1", "https://storage.test/x?sig=1"]
    ])(
      "a redirect to %s is relative to the URL that a transformClient made of it",
      ([location, url]) =>
        Effect.gen(function*() {
          const { result, seen } = yield* behindGateway({ location })
          assert.deepStrictEqual(result, Either.right(url))
          assert.deepStrictEqual(seen.map(({ href }) => href), [
            `https://gateway.test/v9/v1/files/f1/download?key=${gateKey}`
          ])
        })
    )

    it.effect.each([{}, { location: `ftp://elsewhere.test/?key=${gateKey}` }, { location: "http://" }])(
      "a redirect to nowhere reveals nothing of the URL that a transformClient made: %j",
      (headers) =>
        Effect.gen(function*() {
          const { result } = yield* behindGateway({ ...headers })
          const error = errorOf(result)
          assert.deepInclude({ ...error }, { _tag: "InvalidResponse", path: "Location" })
          const shown = [error.message, String(error.stack), inspect(error, { depth: Infinity, showHidden: true })]
          for (const text of [...shown, JSON.stringify(error)]) {
            assert.notInclude(text, gateKey)
            assert.notInclude(text, secret)
            assert.notInclude(text, "gateway.test")
          }
        })
    )

    it.effect.each([{}, { location: "ftp://elsewhere.test/" }, { location: "http://" }])(
      "a redirect to nowhere is an invalid response: %j",
      (headers) =>
        Effect.gen(function*() {
          const { result } = yield* withApi(link, () => new Response(null, { status: 302, headers: { ...headers } }))
          assert.deepInclude({ ...errorOf(result) }, { _tag: "InvalidResponse", path: "Location" })
        })
    )

    it.effect("is retried while the service is unavailable", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* withApiOverTime(download, (_, count) =>
          count < 3 ? new Response("", { status: 503 }) : new Response("hello"))
        assert.lengthOf(seen, 3)
        assert.deepInclude(Either.getOrThrow(result), { text: "hello", length: Option.none() })
      }))

    it.effect("bytes that break off are a failed connection, not an end", () =>
      Effect.gen(function*() {
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => controller.error(Object.assign(new Error("gone"), { code: "ECONNRESET" }))
        })
        const { result } = yield* withApi(download, () => new Response(body))
        assert.deepInclude({ ...errorOf(result) }, { _tag: "ConnectionFailed", code: "ECONNRESET" })
      }))

    it.effect("a missing file is NotFound", () =>
      Effect.gen(function*() {
        const { result } = yield* withApi(download, () => new Response("", { status: 404 }))
        assert.strictEqual(errorOf(result)._tag, "NotFound")
      }))
  })

  describe("a pre-signed URL of http", () => {
    const signed = "?X-Amz-Signature=5ecre751gna7ure"

    const opened = (host: string) => [
      href({ part: 1 }),
      `https://storage.test/2${signed}`,
      { url: `http://${host}/3${signed}`, part_number: 3 },
      `http://${host}/4${signed}`
    ]

    const profile = ServiceProfile.extend(ServiceProfile.standard, {
      download: "link",
      fields: { downloadUrl: "href" }
    })

    const places: ReadonlyArray<{
      readonly path: string
      readonly call: (api: ServiceApi.Service) => Effect.Effect<unknown, ServiceError.ServiceError>
      readonly answer: (host: string) => Response
    }> = [
      {
        path: "data.upload_url",
        call: (api) => api.initiateUpload(file),
        answer: (host) => FakeHttp.json({ data: { id: "f1", upload_url: `http://${host}/${signed}` } }, { status: 201 })
      },
      {
        path: "data.urls[2].url",
        call: (api) => api.initiateLargeUpload({ ...file, parts: Option.none() }),
        answer: (host) => FakeHttp.json({ data: { id: "f1", upload_id: "u~1", urls: opened(host) } }, { status: 201 })
      },
      {
        path: "data.href",
        call: (api) => Effect.scoped(api.download("f1")),
        answer: (host) => FakeHttp.json({ data: { href: `http://${host}/${signed}` } })
      },
      {
        path: "Location",
        call: (api) => Effect.scoped(api.download("f1")),
        answer: (host) => new Response(null, { status: 302, headers: { location: `http://${host}/${signed}` } })
      }
    ]

    it.effect.each(places)(
      "is refused behind a base URL of https, and its place is named: $path",
      (place) =>
        Effect.gen(function*() {
          const { result, seen } = yield* withApi(place.call, () => place.answer("storage.test"), { profile })
          const error = errorOf(result)
          assert.deepInclude({ ...error }, { _tag: "InvalidResponse", path: place.path, attempts: 1 })
          assert.strictEqual(error.recovery, "none")
          assert.include(error.message, "in clear text; allowInsecureHttp allows it")
          assert.notInclude(error.message, "5ecre751gna7ure")
          assert.lengthOf(seen, 1)
        })
    )

    it.effect.each(places)(
      "is accepted if it is allowed, leads to this machine, or the base URL is http too: $path",
      (place) =>
        Effect.gen(function*() {
          const settings: ReadonlyArray<readonly [host: string, setting: Setting]> = [
            ["storage.test", { allowInsecureHttp: true }],
            ["127.0.0.1:9000", {}],
            ["localhost", {}],
            ["storage.test", { baseUrl: "http://127.0.0.1:8080" }],
            ["storage.test", { baseUrl: "http://service.test", allowInsecureHttp: true }]
          ]
          for (const [host, setting] of settings) {
            const { result } = yield* withApi(place.call, () => place.answer(host), { profile, ...setting })
            assert.isTrue(Either.isRight(result))
          }
        })
    )
  })

  it.effect("a response that took long to arrive does not extend the deadlines of a session", () =>
    Effect.gen(function*() {
      const sent = yield* Clock.currentTimeMillis
      const { result } = yield* withApiOverTime(
        (api) => api.initiateUpload(file),
        () => Effect.delay(Effect.sync(() => FakeHttp.json(single)), "20 seconds")
      )
      const session = Either.getOrThrow(result)
      // what it lives, it lives from when it was asked for
      const [signedAt = 0] = session._tag === "SingleSession" ? Option.toArray(session.url.signedAt).map(Number) : []
      assert.strictEqual(sent + session.clockOffset, signedAt + 500)
      assert.strictEqual(session.openedAt, signedAt + 500)
    }))

  it.effect("a response that breaks off may have been carried out, whatever its status", () =>
    Effect.gen(function*() {
      const body = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.error(Object.assign(new Error("gone"), { code: "ECONNREFUSED" }))
        })
      const { result, seen } = yield* withApi((api) => api.initiateUpload(file), () => new Response(body()))
      assert.deepInclude({ ...errorOf(result) }, { _tag: "ConnectionFailed", arrived: "unknown", attempts: 1 })
      assert.lengthOf(seen, 1)
    }))
})

describe("ServiceApi.layerNoop", () => {
  it.effect("has the calls that it is given, and names any other that is made", () =>
    Effect.gen(function*() {
      const api = yield* ServiceApi.ServiceApi
      assert.deepStrictEqual(yield* api.tokenInfo, Option.some({ id: "t1" }))
      assert.deepStrictEqual(api.profile, ServiceProfile.standard)
      assert.deepStrictEqual(yield* api.rateLimit, Option.none())
      const exit = yield* Effect.exit(api.file("f1"))
      assert.match(String(exit), /ServiceApi[.]file was called, but layerNoop was not given it/)
    }).pipe(Effect.provide(ServiceApi.layerNoop({ tokenInfo: Effect.succeedSome({ id: "t1" }) }))))
})
