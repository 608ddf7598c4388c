import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Data, Effect, Exit, Logger, Redacted, Stream } from "effect"
import { createServer } from "node:http"
import { FileStore } from "../../src/FileStore.js"
import * as S3Bucket from "../../src/S3Bucket.js"
import * as S3FileStore from "../../src/S3FileStore.js"
import { laws, type Put } from "../support/fileStoreLaws.js"
import * as RealStore from "../support/realStore.js"

const MIB = 1024 * 1024
const BUCKET = "stevedore-server"
const VERSIONED = "stevedore-server-versions"

class Refused extends Data.TaggedError("Refused")<{ readonly status: number }> {}

/** A client sends a length, so it has the whole body when it begins to. */
const byClient = (encryptionHeaders: Readonly<Record<string, string>>): Put => (store, key, body) =>
  Effect.gen(function*() {
    const headers = { ...encryptionHeaders, ...store.putHeaders }
    const url = yield* store.presign({ method: "PUT", key, headers, expiresIn: 60 })
    const content = Buffer.concat(Chunk.toReadonlyArray(yield* Stream.runCollect(body)))
    const { status } = yield* Effect.promise(() => fetch(url, { method: "PUT", body: content, headers }))
    if (status !== 200) return yield* new Refused({ status })
  })

laws("in a bucket", RealStore.store(BUCKET), 5 * MIB, byClient(RealStore.encryptionHeaders))
laws("in a bucket with versions", RealStore.versionedStore(VERSIONED), 5 * MIB, byClient(RealStore.encryptionHeaders))
// this store copies nothing that is encrypted
laws(
  "in a bucket that copies",
  RealStore.store(`${BUCKET}-copies`, { encryptionHeaders: {} }, "copy"),
  5 * MIB,
  byClient({})
)

let count = 0
const newKey = () => `files/acme/${process.pid}-${Date.now()}-${count++}`

const put = (url: string, body: string, headers: Record<string, string> = {}) =>
  Effect.promise(() => fetch(url, { method: "PUT", body, headers: { ...RealStore.encryptionHeaders, ...headers } }))

const textOf = (
  store: FileStore["Type"],
  key: string,
  which?: { readonly etag?: string; readonly versionId?: string | undefined }
) => Effect.map(Stream.runCollect(Stream.decodeText(store.get(key, undefined, which))), (all) => Chunk.join(all, ""))

const inBucket = <A, E>(run: (store: FileStore["Type"], key: string) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(FileStore, (store) => run(store, newKey())), RealStore.store(BUCKET))

/** A store that answers each request so. */
const answering = (status: number, body: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly close: () => void; readonly port: number }>((resume) => {
        const server = createServer((request, response) => {
          request.resume()
          response.writeHead(status, { "content-type": "application/xml" }).end(body)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({ port, close: () => server.close() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => ({ ...RealStore.options(BUCKET), endpoint: `http://127.0.0.1:${port}` })
  )

describe("pre-signed URLs of the real store", () => {
  it.live("let exactly the declared bytes in, and nothing else", () =>
    inBucket((store, key) =>
      Effect.gen(function*() {
        const url = yield* store.presign({
          method: "PUT",
          key,
          headers: { ...RealStore.encryptionHeaders, "content-length": "5" },
          expiresIn: 60
        })
        assert.strictEqual((yield* put(url, "too long")).status, 403)
        assert.strictEqual((yield* Effect.flip(store.head(key))).status, 404)
        assert.strictEqual((yield* put(url, "hello")).status, 200)
        assert.strictEqual((yield* store.head(key)).size, 5)
        const elsewhere = url.replace(encodeURIComponent(key).replaceAll("%2F", "/"), "files/acme/other")
        assert.notStrictEqual(elsewhere, url)
        assert.strictEqual((yield* put(elsewhere, "hello")).status, 403)
      })
    ))

  it.live("give a download the name and the type that the service says", () =>
    inBucket((store, key) =>
      Effect.gen(function*() {
        yield* store.put(key, Stream.make(new TextEncoder().encode("<script>")), { contentType: "text/html" })
        const url = yield* store.presign({
          method: "GET",
          key,
          headers: {},
          query: {
            "response-content-disposition": "attachment; filename*=UTF-8''n%20a.txt",
            "response-content-type": "text/plain"
          },
          expiresIn: 60
        })
        const response = yield* Effect.promise(() => fetch(url))
        assert.strictEqual(response.headers.get("content-disposition"), "attachment; filename*=UTF-8''n%20a.txt")
        assert.strictEqual(response.headers.get("content-type"), "text/plain")
      })
    ))

  it.live("begin with the public endpoint, and end before the session does", () =>
    Effect.gen(function*() {
      const credential = { ...RealStore.credential, expiresAt: Date.now() + 1_000_000 }
      const store = yield* FileStore.pipe(Effect.provide(
        RealStore.store(BUCKET, { credential, publicEndpoint: "https://files.example" }, "none")
      ))
      const url = new URL(yield* store.presign({ method: "GET", key: "a", headers: {}, expiresIn: 10_800 }))
      assert.strictEqual(url.origin, "https://files.example")
      const expires = Number(url.searchParams.get("X-Amz-Expires"))
      assert.isTrue(expires > 900 && expires <= 940, String(expires))
    }))
})

describe("a file whose PUT comes again", () => {
  it.live("is served as it was completed, where the bucket keeps versions", () =>
    Effect.gen(function*() {
      const store = yield* FileStore
      const key = newKey()
      assert.strictEqual(
        yield* Effect.provide(S3FileStore.protectionOf(RealStore.options(VERSIONED)), FetchHttpClient.layer),
        "versions"
      )
      const url = yield* store.presign({ method: "PUT", key, headers: RealStore.encryptionHeaders, expiresIn: 60 })
      yield* put(url, "hello")
      const completed = yield* store.head(key)
      assert.strictEqual((yield* put(url, "EVIL!")).status, 200)
      assert.strictEqual(yield* textOf(store, key, completed), "hello")
      const link = yield* store.presign({
        method: "GET",
        key,
        headers: {},
        query: { versionId: completed.versionId ?? "" },
        expiresIn: 60
      })
      assert.strictEqual(yield* Effect.promise(() => fetch(link).then((response) => response.text())), "hello")
      yield* store.remove(key)
    }).pipe(Effect.provide(RealStore.versionedStore(VERSIONED))))

  it.live("refuses it, where the store honours If-None-Match", () =>
    inBucket((store, key) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(store.putHeaders, { "if-none-match": "*" })
        const headers = { ...RealStore.encryptionHeaders, ...store.putHeaders }
        const url = yield* store.presign({ method: "PUT", key, headers, expiresIn: 60 })
        assert.strictEqual((yield* put(url, "hello", store.putHeaders)).status, 200)
        assert.strictEqual((yield* put(url, "EVIL!", store.putHeaders)).status, 412)
        // without the header, it is another request than the one that was signed
        assert.strictEqual((yield* put(url, "EVIL!")).status, 403)
        assert.strictEqual(yield* textOf(store, key), "hello")
      })
    ))

  it.live("is not served, where nothing keeps it", () =>
    Effect.gen(function*() {
      const store = yield* FileStore
      const key = newKey()
      const url = yield* store.presign({ method: "PUT", key, headers: RealStore.encryptionHeaders, expiresIn: 60 })
      yield* put(url, "hello")
      const completed = yield* store.head(key)
      yield* put(url, "EVIL!")
      assert.strictEqual((yield* Effect.flip(textOf(store, key, completed))).code, "PreconditionFailed")
    }).pipe(Effect.provide(RealStore.store(BUCKET, {}, "none"))))
})

describe("a store's answer", () => {
  const completing = (options: S3FileStore.Options) =>
    Effect.gen(function*() {
      const store = yield* S3FileStore.make(options, "none")
      return yield* store.completeUpload("a", "upload", [{ partNumber: 1, etag: "\"e\"" }])
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.flip)

  it.scopedLive("is a failure if an error comes with a success", () =>
    Effect.gen(function*() {
      const error =
        "<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code><Message>We are &amp; fail</Message></Error>"
      const refusal = yield* completing(yield* answering(200, error))
      assert.deepStrictEqual([refusal.status, refusal.code, refusal.reason], [500, "InternalError", "We are & fail"])
    }))

  it.scopedLive("is a failure if it is not what S3 writes", () =>
    Effect.gen(function*() {
      const refusal = yield* completing(yield* answering(200, "<html><br></html>"))
      assert.strictEqual(refusal.code, "InternalError")
      const gateway = yield* completing(yield* answering(502, "<html><br></html>"))
      assert.strictEqual(gateway.status, 502)
    }))

  it.scopedLive("that is a redirect is refused, and followed nowhere", () =>
    Effect.gen(function*() {
      const refusal = yield* completing(yield* answering(307, "<Error><Code>TemporaryRedirect</Code></Error>"))
      assert.strictEqual(refusal.code, "TemporaryRedirect")
    }))

  it.live("of a store that is away says so, without a URL in it", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, message }) => void logged.push(`${String(message)} ${Cause.pretty(cause)}`))
      const options = { ...RealStore.options(BUCKET), endpoint: "http://127.0.0.1:9" }
      const exit = yield* S3FileStore.make(options, "none").pipe(
        Effect.flatMap(({ head }) => head("a")),
        Effect.tapErrorCause(Effect.logError),
        Effect.provide([FetchHttpClient.layer, Logger.replace(Logger.defaultLogger, logger)]),
        Effect.exit
      )
      const shown = [...logged, Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""].join("\n")
      assert.include(shown, "ServiceUnavailable")
      assert.notMatch(shown, /X-Amz-|http:\/\/127/)
    }))
})

describe("a bucket", () => {
  const bucket = `stevedore-setup-${process.pid}-${Date.now()}`
  const options = RealStore.options(bucket)
  const look = (origins: ReadonlyArray<string>) =>
    Effect.map(
      S3Bucket.check(options, origins),
      (findings) => Object.fromEntries(findings.map(({ outcome, subject }) => [subject, outcome]))
    )

  it.live("is looked at, and set up without a loss of what it had", () =>
    Effect.gen(function*() {
      yield* S3Bucket.create(options)
      yield* S3Bucket.create(options)
      const origins = ["https://app.example"]
      assert.deepStrictEqual(yield* look(origins), {
        rights: "ok",
        overwriting: "ok",
        cors: "failed",
        lifecycle: "warning"
      })
      yield* S3Bucket.setup(options, ["https://earlier.example"])
      yield* S3Bucket.setup(options, origins)
      yield* S3Bucket.setup(options, origins)
      assert.deepStrictEqual(yield* look([...origins, "https://earlier.example"]), {
        rights: "ok",
        overwriting: "ok",
        cors: "ok",
        lifecycle: "ok"
      })
      assert.strictEqual((yield* look(["https://other.example"]))["cors"], "failed")
      const preflight = yield* Effect.promise(() =>
        fetch(`${RealStore.settings.endpoint}/${bucket}/a`, {
          method: "OPTIONS",
          headers: { "origin": "https://app.example", "access-control-request-method": "PUT" }
        })
      )
      assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "https://app.example")
    }).pipe(Effect.provide(FetchHttpClient.layer)), 120_000)

  it.live("that is not there, or not for this credential, is told", () =>
    Effect.gen(function*() {
      const none = yield* S3Bucket.check(RealStore.options("stevedore-no-such-bucket"), [])
      assert.strictEqual(none[0]?.outcome, "failed")
      assert.include(none[0]?.message ?? "", "NoSuchBucket")
      const wrong = {
        ...options,
        credential: { ...RealStore.credential, secretAccessKey: Redacted.make("wrong") }
      }
      const refused = yield* S3Bucket.check(wrong, [])
      assert.include(refused[0]?.message ?? "", "SignatureDoesNotMatch")
      assert.notInclude(JSON.stringify(refused), RealStore.secret)
    }).pipe(Effect.provide(FetchHttpClient.layer)), 120_000)
})
