import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Logger, Redacted, Schema } from "effect"
import { renameSync, truncateSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { connect } from "node:net"
import * as NodeServe from "../../src/NodeServe.js"

const REQUESTS = Number(process.env["STEVEDORE_FUZZ"] ?? 2000)
const SEED = Number(process.env["STEVEDORE_FUZZ_SEED"] ?? 1)

/** The status of an answer, or what became of a request that has none. */
type Outcome = number | "closed" | "unfinished" | "hangs"

interface Request {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<string>
  readonly body: string
  /** Fewer bytes than it says, and then nothing. */
  readonly isShort?: boolean
}

const textOf = ({ body, headers, isShort, method, target }: Request): Buffer => {
  const bytes = Buffer.from(body)
  const length = isShort === true ? bytes.length + 5 : bytes.length
  const lines = [
    `${method} ${target.replace(/[\s\0]/g, "%20")} HTTP/1.1`,
    ...headers.map((header) => header.replace(/[\r\n\0]/g, "")),
    ...(length === 0 ? [] : [`Content-Length: ${length}`])
  ]
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes])
}

/** Sends a request on a connection of its own. What of the answer comes is read to its end. */
const exchange = (port: number, request: Request) =>
  Effect.promise(() =>
    new Promise<{ readonly outcome: Outcome; readonly text: string }>((resolve) => {
      const socket = connect(port, "127.0.0.1")
      let got = ""
      const end = (otherwise: Outcome) => {
        clearTimeout(timer)
        socket.destroy()
        const [, status] = /(?:^|\r\n\r\n)HTTP\/1\.1 ([2-5]\d\d)/.exec(got) ?? []
        resolve({ outcome: status === undefined ? otherwise : Number(status), text: got })
      }
      const isShort = request.isShort === true
      const timer = setTimeout(() => end(isShort ? "unfinished" : "hangs"), isShort ? 500 : 10_000)
      socket.on(
        "connect",
        () => socket.write(textOf({ ...request, headers: [...request.headers, "Connection: close"] }))
      )
      socket.on("data", (data) => got += data.toString("latin1"))
      socket.on("error", () => {})
      socket.on("close", () => end("closed"))
    })
  )

const junk = [
  "",
  "\u0000",
  "\ud800",
  "é",
  "A".repeat(5000),
  "__proto__",
  "{}",
  "null",
  "-1",
  "9".repeat(400),
  "%zz",
  "%00",
  "'",
  "<x>",
  "../",
  "\u202e",
  "NaN"
]
const odd = fc.oneof(fc.constantFrom(...junk), fc.string({ maxLength: 20 }))

const Session = Schema.parseJson(
  Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.optional(Schema.String) }) })
)

/** The targets that are worth aiming at, with the names of what is there. */
const targets = (ids: ReadonlyArray<string>, urls: ReadonlyArray<string>) => {
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: odd })
  const query = fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom("page[limit]", "page[start_cursor]", "sort", "filter[__proto__][x]"), odd),
      fc.oneof(fc.integer().map(String), odd.map((text) => Buffer.from(text).toString("base64url")), odd)
    ),
    { maxLength: 3 }
  ).map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&"))
  const path = fc.oneof(
    fc.constantFrom(
      "/v2/files/upload",
      "/v2/files/large-upload",
      "/v1/files",
      "/v1/projects",
      "/v1/token/info",
      "/docs"
    ),
    fc.tuple(id, fc.constantFrom("", "/download")).map(([id, end]) => `/v1/files/${id}${end}`),
    fc.tuple(id, fc.constantFrom("upload", "large-upload")).map(([id, kind]) => `/v2/files/${id}/${kind}/complete`),
    odd.map((text) => `/${text}`),
    fc.constantFrom("*", "//", "http://other/v1/files", "/stevedore-files/%ff")
  )
  const signed = fc.tuple(
    fc.constantFrom(...urls).map((url) => new URL(url)),
    fc.constantFrom("", "&partNumber=9", "&%ff=1", "&X-Amz-Signature=a", "&response-content-type=%01"),
    fc.option(fc.nat(600), { nil: undefined })
  ).map(([{ pathname, search }, more, cut]) => `${pathname}${search.slice(0, cut)}${more}`)
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(path, query).map(([path, query]) => query === "" ? path : `${path}?${query}`) },
    { weight: 1, arbitrary: signed }
  )
}

const bodies = fc.oneof(
  fc.constant(""),
  odd,
  fc.json(),
  fc.record({
    name: fc.oneof(fc.constant("a.txt"), odd),
    type: fc.oneof(fc.constant("text/plain"), odd),
    size: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.double(), odd),
    parts: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.array(fc.record({ part_number: fc.integer(), etag: odd }))),
    metadata: fc.oneof(fc.dictionary(odd, odd), odd),
    upload_id: odd
  }, { requiredKeys: [] }).map((fields) => JSON.stringify(fields))
)

const requests = (token: string, host: string, ids: ReadonlyArray<string>, urls: ReadonlyArray<string>) =>
  fc.record({
    method: fc.constantFrom("GET", "GET", "POST", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "TRACE"),
    target: targets(ids, urls),
    headers: fc.tuple(
      fc.constantFrom(`Host: ${host}`, `Host: ${host}`, "Host: x", "Host:", "Host: a b"),
      fc.constantFrom(
        ...Array.from({ length: 4 }, () => `Authorization: Bearer ${token}`),
        "Authorization: Basic YTpi"
      ),
      fc.subarray([
        "Range: bytes=0-1",
        "Range: bytes=-9999999999999999999",
        "If-Match: *",
        "If-Range: x",
        "Origin: null",
        "Content-Type: é",
        "Expect: 100-continue",
        "Upgrade: websocket",
        "traceparent: 00-x-y-z",
        "x-amz-server-side-encryption: aws:kms"
      ], { maxLength: 4 })
    ).map(([host, who, more]) => [host, who, ...more]),
    body: bodies,
    isShort: fc.constantFrom(...Array.from({ length: 40 }, () => false), true)
  })

describe("a service over a directory", () => {
  it.scopedLive(
    `answers ${REQUESTS} generated requests, uploads and faults of the disk among them, and logs each 5xx once`,
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* fs.makeTempDirectoryScoped()}/data`
        const lines: Array<string> = []
        const logger = Logger.logfmtLogger.pipe(Logger.map((line) => lines.push(line)))
        const { baseUrl, token } = yield* NodeServe.serve({ directory, origins: ["https://app.example"] }).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
        const { host, port } = new URL(baseUrl)
        const secret = Redacted.value(token)
        const outcomes = new Map<Outcome, number>()
        const signs = Array<string>()
        const send = (request: Request) =>
          Effect.tap(exchange(Number(port), request), ({ outcome }) =>
            Effect.sync(() => {
              outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
              if (outcome === "hangs") signs.push(textOf(request).toString("latin1").slice(0, 500))
            }))
        const call = (method: string, target: string, body = "", more: ReadonlyArray<string> = []) =>
          send({ method, target, body, headers: [`Host: ${host}`, `Authorization: Bearer ${secret}`, ...more] })
        const opened = Effect.gen(function*() {
          const { text } = yield* call("POST", "/v2/files/upload", JSON.stringify({ name: "f", type: "a/b", size: 5 }))
          const { data } = yield* Schema.decode(Session)(text.slice(text.indexOf("\r\n\r\n") + 4))
          return { id: data.id, url: data.upload_url ?? "" }
        })
        const put = ({ url }: { readonly url: string }) => {
          const { pathname, search } = new URL(url)
          return send({
            method: "PUT",
            target: `${pathname}${search}`,
            body: "hello",
            headers: [`Host: ${host}`, "x-amz-server-side-encryption: aws:kms"]
          })
        }
        const complete = (id: string) => call("POST", `/v2/files/${id}/upload/complete`)
        const download = (id: string) => call("GET", `/v1/files/${id}/download`)
        const uploaded = Effect.tap(opened, (one) => Effect.zipRight(put(one), complete(one.id)))

        const files = yield* Effect.all([opened, opened, uploaded, uploaded])
        const arbitrary = requests(secret, host, files.map(({ id }) => id), files.map(({ url }) => url))
        const generated = fc.sample(arbitrary, { seed: SEED, numRuns: REQUESTS })

        const blobs = `${directory}/store/bytes`
        // one after another, while the rest goes on
        const faults = Effect.gen(function*() {
          const lost = yield* uploaded
          for (const name of yield* Effect.promise(() => readdir(blobs))) {
            yield* Effect.promise(() => rm(`${blobs}/${name}`, { force: true }))
          }
          assert.strictEqual((yield* download(lost.id)).outcome, 500)
          const cut = yield* uploaded
          for (const name of yield* Effect.promise(() => readdir(blobs))) truncateSync(`${blobs}/${name}`, 2)
          // its head has said 5 bytes, or it is 500
          const { outcome, text } = yield* download(cut.id)
          assert.isTrue(outcome === 500 || !text.endsWith("hello"))
          const without = yield* opened
          renameSync(blobs, `${blobs}-away`)
          assert.strictEqual(Math.floor(Number((yield* put(without)).outcome) / 100), 5)
          renameSync(`${blobs}-away`, blobs)
          assert.strictEqual((yield* put(without)).outcome, 200)
          assert.strictEqual((yield* complete(without.id)).outcome, 200)
        })
        const life = Effect.forEach(Array.from({ length: REQUESTS / 100 }), () => uploaded, { concurrency: 2 })
        yield* Effect.all([Effect.forEach(generated, send, { concurrency: 8 }), life], { concurrency: 2 })
        yield* faults
        yield* Effect.forEach(generated.slice(0, REQUESTS / 10), send, { concurrency: 8 })
        yield* Effect.sleep("300 millis")

        const told = lines.filter((line) =>
          /(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE) \S+ answered 5\d\d/.test(line)
        )
        const failures = [...outcomes].filter(([outcome]) => Number(outcome) >= 500)
        const summary = JSON.stringify([[...outcomes], told.slice(0, 5), signs.slice(0, 3)], undefined, 1)
        assert.isUndefined(outcomes.get("hangs"), summary)
        assert.isUndefined(outcomes.get("closed"), summary)
        assert.strictEqual(told.length, failures.reduce((sum, [, count]) => sum + count, 0), summary)
        // the two faults of a download and that of a PUT, and nothing that a request has brought about
        assert.isAtMost(told.length, 4, summary)
        assert.notInclude(lines.join("\n"), secret)
        assert.notMatch(lines.join("\n"), /X-Amz-Signature=[0-9a-f]{64}/)
        assert.strictEqual((yield* call("GET", "/readyz")).outcome, 200)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 + REQUESTS * 20
  )
})
