import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  HttpObjectStorage,
  ObjectStorage,
  PresignedUrl,
  ServiceApi,
  ServiceConfig,
  UploadLedger,
  UploadSession,
  UploadSources
} from "@stevedore/core"
import {
  Cause,
  Effect,
  Either,
  Exit,
  Inspectable,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Schema,
  Stream,
  Tracer
} from "effect"
import { inspect } from "node:util"
import * as UploadRecord from "../../src/ledger/record.js"
import * as StorageResponse from "../../src/storage/response.js"
import * as FakeHttp from "../fixtures/FakeHttp.js"
import { href, presigned, signature, signedAt } from "../fixtures/presignedUrls.js"

const token = "api.5ecre770ken"

const assertSafe = (printed: string): void => {
  assert.notInclude(printed, signature)
  assert.notInclude(printed, token)
  assert.notMatch(printed, /X-(Amz|Goog)-(Algorithm|Credential|Date|Expires|Sign)|uploadId=|Bearer/i)
}

const deep = { depth: Infinity, showHidden: true, getters: true, customInspect: true } as const

const loggers = [Logger.stringLogger, Logger.logfmtLogger, Logger.jsonLogger, Logger.structuredLogger]

/** Everything that a value comes out as when a program prints it, logs it or fails with it. */
const printsOf = (value: unknown): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    const cause = Cause.fail(value)
    const logged: Array<string> = []
    const collecting = Logger.zip(
      loggers
        .map((logger) =>
          Logger.map(logger, (line: unknown) => {
            logged.push(typeof line === "string" ? line : JSON.stringify(line), inspect(line, deep))
          })
        )
        .reduce((one, other) => Logger.map(Logger.zip(one, other), () => undefined)),
      Logger.none
    )
    yield* Effect.gen(function*() {
      yield* Effect.log("value", value)
      yield* Effect.logError(cause)
      yield* Effect.logFatal("annotated").pipe(Effect.annotateLogs("value", value), Effect.annotateLogs({ value }))
      yield* Effect.logDebug(Exit.failCause(cause), Option.some(value), Either.left(value), { value }, [value])
    }).pipe(
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.provide(Logger.replace(Logger.defaultLogger, collecting)),
      Effect.withLogSpan("printing")
    )
    assert.isAbove(logged.length, 0)
    return [
      ...logged,
      String(value),
      `${inspect(value)} ${inspect(value, deep)} ${inspect({ value }, deep)} ${inspect([value], deep)}`,
      JSON.stringify(value),
      JSON.stringify({ value }, null, 2),
      Inspectable.toStringUnknown(value),
      JSON.stringify(Inspectable.toJSON(value)),
      Cause.pretty(cause, { renderErrorCause: true }),
      cause.toString(),
      JSON.stringify(cause),
      inspect(cause, deep),
      inspect(Exit.failCause(cause), deep),
      inspect(Cause.squash(cause), deep),
      ...(value instanceof Error ? [value.message, String(value.stack), Object.entries(value).join()] : [])
    ]
  })

const assertPrintsSafely = (value: unknown) =>
  Effect.map(printsOf(value), (prints) => {
    for (const printed of prints) assertSafe(printed)
  })

/** What a tracer sees: names, attributes and events of all spans. */
const makeTracer = () => {
  const spans: Array<Record<string, unknown>> = []
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      const events: Array<unknown> = []
      spans.push({ name, attributes, events })
      return {
        _tag: "Span",
        name,
        spanId: String(spans.length),
        traceId: "trace",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (_, exit) => {
          events.push(exit)
        },
        attribute: (key, value) => {
          attributes.set(key, value)
        },
        event: (...event) => {
          events.push(event)
        },
        addLinks: () => {}
      }
    }
  })
  return { spans, tracer }
}

const source = UploadSources.fromBytes("a.txt", new TextEncoder().encode("hello"))

const put = (client: HttpClient.HttpClient) =>
  Effect.scoped(Effect.gen(function*() {
    const storage = yield* ObjectStorage.ObjectStorage
    const opened = yield* source.open
    return yield* storage.put({
      url: presigned({ part: 3 }),
      section: yield* opened.section({ offset: 0, length: 5 }),
      name: "a.txt",
      headers: {},
      clockOffset: signedAt,
      attempt: 1,
      onSent: () => {}
    })
  })).pipe(Effect.provide(Layer.provide(HttpObjectStorage.layer, FakeHttp.layer(client))))

const get = (client: HttpClient.HttpClient) =>
  Effect.scoped(
    Effect.flatMap(ObjectStorage.ObjectStorage, (storage) =>
      Effect.flatMap(storage.get({ url: presigned(), attempt: 1 }), ({ bytes }) => Stream.runDrain(bytes)))
  ).pipe(Effect.provide(Layer.provide(HttpObjectStorage.layer, FakeHttp.layer(client))))

const open = (client: HttpClient.HttpClient) =>
  Effect.flatMap(
    ServiceApi.ServiceApi,
    (api) => api.initiateUpload({ name: "a.txt", mediaType: "text/plain", size: 5 })
  ).pipe(
    Effect.provide(
      Layer.provide(
        ServiceApi.layer,
        Layer.merge(
          Layer.orDie(ServiceConfig.layer({ baseUrl: "https://service.test", token: Redacted.make(token) })),
          FakeHttp.layer(client)
        )
      )
    )
  )

/** A gateway, or a validator, that quotes what it does not accept. */
const repeating = (status: number): HttpClient.HttpClient =>
  HttpClient.make((request) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(
        request,
        FakeHttp.json(
          {
            errors: [
              {
                code: "Unauthorized",
                title: `no ${token}`,
                message: `'${token}' cannot PUT ${href()}`,
                path: ["headers", token]
              },
              { code: "BadGateway", message: `<a href="${href()}">the object</a>, &?${token}`, path: href() }
            ]
          },
          { status }
        )
      )
    )
  )

/** Failures of a client: each holds the request with its URL and its headers, and repeats them in its own words. */
const failing: ReadonlyArray<readonly [string, HttpClient.HttpClient]> = [
  ["a broken connection", FakeHttp.broken("ECONNRESET")],
  [
    "an answer that breaks off",
    HttpClient.make((request, url) =>
      Effect.succeed(
        HttpClientResponse.fromWeb(
          request,
          new Response(
            new ReadableStream({ pull: (controller) => controller.error(new Error(`reading ${url.href}`)) })
          )
        )
      )
    )
  ],
  [
    "an answer that is refused by the client itself",
    HttpClient.make((request, url) =>
      Effect.fail(
        new HttpClientError.ResponseError({
          request,
          response: HttpClientResponse.fromWeb(request, new Response(url.href)),
          reason: "Decode",
          description: url.href
        })
      )
    )
  ],
  [
    "a refusal that repeats the request",
    HttpClient.make((request, url) =>
      Effect.succeed(
        HttpClientResponse.fromWeb(
          request,
          new Response(
            `<Error><Code>SignatureDoesNotMatch</Code><Message>${url.search}</Message>` +
              `<StringToSign>${JSON.stringify(request.headers)} ${signature}</StringToSign></Error>`,
            { status: 403 }
          )
        )
      )
    )
  ],
  [
    "a refusal of the service that repeats the token and a URL in its issues",
    repeating(400)
  ],
  [
    "a passing failure of the service that repeats the token and a URL in its issues",
    repeating(503)
  ],
  [
    "a failure behind a success that repeats the token and a URL in its issues",
    repeating(200)
  ],
  [
    "a success of another shape that repeats the request",
    HttpClient.make((request, url) =>
      Effect.succeed(
        HttpClientResponse.fromWeb(
          request,
          new Response(JSON.stringify({ data: { upload_url: [url.href, href(), request.headers] } }))
        )
      )
    )
  ]
]

describe("Secrets", () => {
  describe("a pre-signed URL", () => {
    it.effect("does not show its query in any print or log", () => assertPrintsSafely(presigned({ part: 3 })))

    it.effect("inside a session does not either", () =>
      assertPrintsSafely(
        UploadSession.MultipartSession.make({
          fileId: "f1",
          clockOffset: 0,
          openedAt: 0,
          extra: {},
          uploadId: "u1",
          urls: [presigned({ part: 1 }), presigned({ part: 2 })]
        })
      ))

    it.effect("has nothing that a copy of it could show", () =>
      Effect.gen(function*() {
        const url = presigned()
        assertSafe(JSON.stringify(Object.entries(url)))
        assertSafe(inspect({ ...url }, deep))
        assertSafe(inspect(structuredClone({ origin: url.origin, path: url.path }), deep))
        assertSafe(Reflect.ownKeys(url).map(String).join())
      }))

    it.effect("is returned by `reveal`", () =>
      Effect.sync(() => assert.include(PresignedUrl.reveal(presigned()), signature)))

    it.effect("that is invalid is not quoted by the Schema's error", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          Schema.decodeUnknown(Schema.Struct({ url: PresignedUrl.PresignedUrlFromString }))({
            url: `ftp://bucket.test/?X-Amz-Signature=${signature}`
          })
        )
        assertSafe(error.message)
        assertSafe(String(error))
        assertSafe(JSON.stringify(error))
        assertSafe(inspect(error, { depth: 0 }))
      }))
  })

  describe.each([
    { what: "session", schema: Schema.make(UploadSession.UploadSession.ast), field: "urls" },
    { what: "record of an upload", schema: Schema.make(UploadRecord.UploadRecord.ast), field: "session" },
    { what: "unfinished upload", schema: Schema.make(UploadLedger.Unfinished.ast), field: "receipts" }
  ])("a damaged $what", ({ field, schema }) => {
    const session = {
      _tag: "MultipartSession",
      fileId: "f1",
      clockOffset: 0,
      openedAt: 0,
      extra: {},
      uploadId: "u1",
      urls: [href({ part: 1 }), href({ part: 2 })]
    }
    const whole = { ...session, version: 1, id: "1", session, record: { version: 1, id: "1", session }, receipts: [] }
    const withUrls = (urls: unknown) => ({ ...whole, urls, session: { ...session, urls } })

    it.effect.each([
      ["as text that was not parsed", JSON.stringify(whole)],
      ["in a list", [whole]],
      ["with a text for what has fields", { ...whole, [field]: href() }],
      ["with a list for what has fields", { ...whole, [field]: { 0: href() } }],
      ["with other fields", { ...whole, _tag: "OtherSession", version: 2 }],
      ["without fields", { ...whole, fileId: undefined, id: undefined }],
      ["with objects for URLs", withUrls([{ url: href() }])],
      ["with URLs of another protocol", withUrls([href().replace("https:", "ftp:")])],
      ["with one URL for the list", withUrls(href())]
    ])("shows no signature in its error: %s", ([, damaged]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Schema.decodeUnknown(schema)(damaged))
        assertSafe(error.message)
        assertSafe(inspect(error))
        assertSafe(JSON.stringify(error))
        assertSafe(Cause.pretty(Cause.fail(error)))
      }))
  })

  it.effect("a configuration does not show its token in any print or log", () =>
    assertPrintsSafely(
      Either.getOrThrow(ServiceConfig.make({ baseUrl: "https://service.test", token: Redacted.make(token) }))
    ))

  describe.each(failing)("%s", (_, client) => {
    it.effect("turns a failed PUT into an error that shows no secret in any print or log", () =>
      Effect.flatMap(Effect.flip(put(client)), assertPrintsSafely))

    it.effect("turns a failed call into an error that shows no secret in any print or log", () =>
      Effect.flatMap(Effect.flip(open(client)), assertPrintsSafely))

    it.effect("turns a failed GET into an end that shows no secret in any print or log", () =>
      Effect.flatMap(Effect.exit(get(client)), assertPrintsSafely))

    it.effect("leaves no secret in the span of a PUT or a GET, and there is no other span", () =>
      Effect.gen(function*() {
        const { spans, tracer } = makeTracer()
        yield* Effect.withTracer(Effect.zipRight(Effect.exit(put(client)), Effect.exit(get(client))), tracer)
        assert.deepStrictEqual(spans.map((span) => span["name"]), ["ObjectStorage.putPart", "ObjectStorage.get"])
        assertSafe(inspect(spans, deep))
      }))

    it.effect("leaves no token in the span of a call", () =>
      Effect.gen(function*() {
        const { spans, tracer } = makeTracer()
        yield* Effect.withTracer(Effect.exit(open(client)), tracer)
        assert.include(spans.map((span) => span["name"]), "ServiceApi.initiateUpload")
        assertSafe(inspect(spans, deep))
      }))
  })

  it.effect("a refusal by storage shows no secret, whatever its status", () =>
    Effect.forEach([200, 301, 400, 403, 404, 409, 429, 500, 503], (status) => {
      const answer = StorageResponse.interpretPut(
        { status, headers: {}, body: `<Error><Message>${href()}</Message></Error>` },
        { url: presigned(), sentHeaders: [], serverNow: signedAt, attempts: 1 }
      )
      return assertPrintsSafely(Either.isLeft(answer) ? answer.left : assert.fail("expected an error"))
    }))

  it("the checked prints would show a secret that is not protected", () => {
    assert.throws(() => assertSafe(inspect({ url: href() }, deep)))
    assert.throws(() => assertSafe(JSON.stringify({ token })))
  })
})
