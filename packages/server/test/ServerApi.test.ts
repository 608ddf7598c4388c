import { HttpApi, OpenApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import { Effect, FastCheck, Fiber, Layer, Logger, Metric, Option, Schema, SchemaAST, Stream, TestClock } from "effect"
import * as ServerMetrics from "../src/base/metrics.js"
import type { FileStoreService } from "../src/FileStore.js"
import { FileTable, TableFailed } from "../src/FileTable.js"
import * as FileTableMemory from "../src/FileTableMemory.js"
import { Refusal, ServerApi } from "../src/ServerApi.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import * as StorageRefused from "../src/StorageRefused.js"
import type { Answer, Who } from "./support/service.js"
import { service } from "./support/service.js"
import { database } from "./support/sqlite.js"

const Opened = Schema.Struct({ data: Schema.Struct({ id: Schema.String }) })

const inMemory = Effect.provide(FileTableMemory.layer)

interface Described {
  readonly method: string
  readonly path: RegExp
  readonly answers: ReadonlyMap<number, Option.Option<SchemaAST.AST>>
}

const endpoints: ReadonlyArray<Described> = (() => {
  const found: Array<Described> = []
  HttpApi.reflect(ServerApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, successes }) => {
      found.push({
        method: endpoint.method,
        path: new RegExp(`^${endpoint.path.replace(/:\w+/g, "[^/]+")}$`),
        answers: new Map([...successes, ...errors].map(([status, { ast }]) => [status, ast]))
      })
    }
  })
  return found
})()

/** An answer that the description does not have, in words. */
const undescribed = ({ headers, method, path, status, text }: Answer): string | undefined => {
  const plain = path.split("?")[0] ?? ""
  const endpoint = endpoints.find((one) => one.method === method && one.path.test(plain))
  // no operation has it
  if (endpoint === undefined) return status === 404 ? undefined : `${method} ${path}: no such operation`
  const ast = endpoint.answers.get(status)
  if (ast === undefined) return `${method} ${path}: ${status} is not described`
  if (headers.get("content-type")?.startsWith("application/json") !== true) return undefined
  const decoded = Schema.decodeUnknownEither(
    Schema.parseJson(Schema.make<unknown, unknown, never>(Option.getOrElse(ast, () => SchemaAST.voidKeyword))),
    { onExcessProperty: "error" }
  )(text)
  return decoded._tag === "Left" ? `${method} ${path}: ${decoded.left.message}` : undefined
}

const walk = Effect.gen(function*() {
  const { answers, call, store, uploaded } = yield* service({}, { quota: { bytes: 1000 } })
  const id = yield* uploaded("ann")
  yield* uploaded("ann", "second.txt")
  yield* call("ann", "GET", `/v1/files/${id}`)
  yield* call("ann", "GET", `/v1/files/${id}/download`)
  yield* call("ann", "GET", `/v1/files/${id}/download`, { headers: { range: "bytes=1-2" } })
  yield* call("ann", "GET", "/v1/files?page[limit]=1")
  yield* call("ann", "GET", "/v1/files?page[limit]=x")
  yield* call("ann", "GET", "/v1/projects")
  yield* call("ann", "GET", "/v1/insights")
  yield* call("ann", "GET", `/v1/folders/${id}/contents`)
  yield* call("ann", "GET", "/v1/token/info")
  const large = yield* call("ann", "POST", "/v2/files/large-upload", {
    body: JSON.stringify({ name: "film.mp4", type: "video/mp4", size: 10, parts: 2, metadata: { album: "a" } })
  })
  yield* call("ann", "POST", "/v2/files/upload", { body: JSON.stringify({ name: "full", size: 1000 }) })
  yield* call("ann", "POST", `/v2/files/${id}/large-upload/complete`, { body: large.text })
  yield* call("ann", "POST", "/v2/files/upload", { body: "{" })
  yield* call("nobody", "GET", `/v1/files/${id}`)
  yield* call("reader", "DELETE", `/v1/files/${id}`)
  yield* call("eve", "GET", `/v1/files/${id}`)
  yield* store.remove(`files/acme/${id}`)
  yield* call("ann", "GET", `/v1/files/${id}/download`)
  yield* call("ann", "DELETE", `/v1/files/${id}`)
  return answers
})

describe("the description of the service", () => {
  it.scoped("has each of its answers", () =>
    Effect.gen(function*() {
      const answers = yield* walk
      assert.deepStrictEqual(answers.flatMap((answer) => undescribed(answer) ?? []), [])
      assert.deepStrictEqual(
        [...new Set(answers.map(({ status }) => status))].sort(),
        [200, 201, 204, 206, 400, 401, 403, 404, 422]
      )
    }).pipe(inMemory))

  it.scoped("is given as OpenAPI under the base path, and shown on a page", () =>
    Effect.gen(function*() {
      const { call } = yield* service({ basePath: "/api" })
      const json = yield* call("nobody", "GET", "/openapi.json")
      assert.deepStrictEqual(
        JSON.parse(json.text),
        JSON.parse(JSON.stringify(OpenApi.fromApi(ServerApi.prefix("/api"))))
      )
      assert.include(json.text, "/api/v2/files/{file_id}/large-upload/complete")
      // every operation asks for a token
      assert.lengthOf(json.text.split("\"security\":[{\"bearer\":[]}]"), endpoints.length + 1)
      const page = yield* call("nobody", "GET", "/docs")
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "<code>/api/v1/files/{file_id}/download</code>")
    }).pipe(inMemory))

  it.scoped("is a page that a browser shows with what this service alone answers", () =>
    Effect.gen(function*() {
      const { call } = yield* service({ basePath: "/api" })
      const { headers, text } = yield* call("nobody", "GET", "/docs")
      assert.match(headers.get("content-type") ?? "", /^text\/html/)
      // whatever a page can name: a link, a script, a style, an image, a font
      const named = [
        ...text.matchAll(
          /\b(?:href|src|srcset|action|data|content|poster)="([^"]*)"|url\(([^)]*)\)|@import\s+"([^"]*)"/g
        )
      ]
        .flatMap(([, attribute, url, style]) => attribute ?? url ?? style ?? [])
      assert.isAbove(named.length, 0)
      for (const name of named) {
        const url = new URL(name, "http://service.test/docs")
        assert.strictEqual(url.origin, "http://service.test", name)
        const asset = yield* call("nobody", "GET", url.pathname)
        assert.strictEqual(asset.status, 200, name)
      }
      assert.notMatch(text, /<script/)
      assert.lengthOf(text.split("<tr>"), endpoints.length + 1)
    }).pipe(inMemory))
})

describe("metadata", () => {
  const initiate = (metadata: unknown) => ({ body: JSON.stringify({ name: "a", size: 5, metadata }) })

  it.scoped("is kept with the file, and given with it and in the list", () =>
    Effect.gen(function*() {
      const { call, store, uploaded } = yield* service()
      const album = { album: "Rotterdam \u{1f6a2}", "x.y": "" }
      const opened = yield* call("ann", "POST", "/v2/files/upload", initiate(album))
      const { data: { id } } = yield* Schema.decode(Schema.parseJson(Opened))(opened.text)
      yield* store.put(`files/acme/${id}`, Stream.make(new TextEncoder().encode("hello")))
      yield* call("ann", "POST", `/v2/files/${id}/upload/complete`)
      yield* uploaded("ann")
      const one = yield* call("ann", "GET", `/v1/files/${id}`)
      assert.deepStrictEqual(JSON.parse(one.text).data.metadata, album)
      const list = yield* call("ann", "GET", "/v1/files?sort=created_at:asc")
      assert.sameDeepMembers(
        JSON.parse(list.text).data.map((file: { readonly metadata?: unknown }) => file.metadata),
        [album, undefined]
      )
    }).pipe(inMemory))

  it.scoped("is refused beyond its limits, by the name of its field", () =>
    Effect.gen(function*() {
      const { call } = yield* service({
        profile: ServiceProfile.extend(ServiceProfile.standard, { fields: { metadata: "tags" } })
      })
      const wrong = [
        "text",
        { album: 1 },
        { "an album": "a" },
        { album: "\0" },
        { album: "x".repeat(2048) },
        Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`n${index}`, ""]))
      ]
      for (const tags of wrong) {
        const answer = yield* call("ann", "POST", "/v2/files/large-upload", {
          body: JSON.stringify({ name: "a", size: 5, tags })
        })
        assert.strictEqual(answer.status, 400, JSON.stringify(tags))
        assert.match(JSON.parse(answer.text).errors[0].path, /^tags/)
      }
      // a field that the profile does not name is none of the service's
      assert.strictEqual((yield* call("ann", "POST", "/v2/files/upload", initiate(1))).status, 201)
    }).pipe(inMemory))
})

describe("who may do what", () => {
  const routes = [
    ["POST", "/v2/files/upload"],
    ["POST", "/v2/files/large-upload"],
    ["POST", "/v2/files/{id}/upload/complete"],
    ["POST", "/v2/files/{id}/large-upload/complete"],
    ["GET", "/v1/files/{id}"],
    ["DELETE", "/v1/files/{id}"],
    ["GET", "/v1/files/{id}/download"],
    ["GET", "/v1/files"],
    ["GET", "/v1/projects"],
    ["GET", "/v1/token/info"]
  ] as const

  const bodies: Readonly<Record<string, string>> = {
    "/v2/files/upload": JSON.stringify({ name: "a", size: 1 }),
    "/v2/files/large-upload": JSON.stringify({ name: "a", size: 1 }),
    "/v2/files/{id}/large-upload/complete": JSON.stringify({
      upload_id: "u",
      parts: [{ part_number: 1, etag: "\"e\"" }]
    })
  }

  const expected = (who: Who, method: string, path: string): ReadonlyArray<number> => {
    if (who === "nobody" || who === "stranger" || who === "expired") return [401]
    if (who === "reader" && method !== "GET") return [403]
    return who === "eve" && path.includes("{id}") ? [404] : [200, 201, 204, 400]
  }

  for (const who of ["nobody", "stranger", "expired", "reader", "eve", "ann"] as const) {
    it.scoped(`${who}: every route`, () =>
      Effect.gen(function*() {
        const { call, uploaded } = yield* service()
        for (const [method, path] of routes) {
          const id = yield* uploaded("ann")
          const body = bodies[path]
          const { status } = yield* call(who, method, path.replace("{id}", id), body === undefined ? {} : { body })
          assert.include(expected(who, method, path), status, `${method} ${path}`)
          // nobody else has changed it
          if (who !== "ann") assert.strictEqual((yield* call("ann", "GET", `/v1/files/${id}`)).status, 200)
        }
      }).pipe(inMemory))
  }

  it.scoped("a cursor of another tenant shows one's own files", () =>
    Effect.gen(function*() {
      const { call, uploaded } = yield* service()
      const Page = Schema.parseJson(Schema.Struct({
        data: Schema.Array(Schema.Struct({ id: Schema.String })),
        page: Schema.Struct({ next_cursor: Schema.optional(Schema.NullOr(Schema.String)) })
      }))
      for (let file = 0; file < 3; file++) yield* uploaded("ann")
      const own = yield* uploaded("eve")
      const first = yield* Schema.decode(Page)((yield* call("ann", "GET", "/v1/files?page[limit]=1")).text)
      const cursor = encodeURIComponent(first.page.next_cursor ?? "")
      const seen = yield* Schema.decode(Page)(
        (yield* call("eve", "GET", `/v1/files?page[start_cursor]=${cursor}`)).text
      )
      assert.deepStrictEqual(seen.data.filter(({ id }) => id !== own), [])
    }).pipe(inMemory))
})

const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\u{fffd}")

const strange = FastCheck.oneof(
  FastCheck.string({ maxLength: 12 }),
  FastCheck.constantFrom("\0", "a\0b", "\ud800", "constructor", "__proto__", "' or 1=1 --", "9".repeat(40), "%00")
)

const body = FastCheck.oneof(
  FastCheck.constantFrom("", "{", "[]", "null", "\0", "{\"name\":\"a\\u0000\",\"size\":1}", "{\"size\":1e400}"),
  FastCheck.record({ name: strange, type: strange, size: FastCheck.oneof(FastCheck.integer(), strange) }).map((value) =>
    JSON.stringify(value)
  ),
  FastCheck.record({
    upload_id: strange,
    parts: FastCheck.array(FastCheck.record({ part_number: FastCheck.integer(), etag: strange }), { maxLength: 3 })
  }).map((value) => JSON.stringify(value))
)

const request = FastCheck.record({
  method: FastCheck.constantFrom("GET", "POST", "DELETE"),
  path: FastCheck.constantFrom(
    "/v2/files/upload",
    "/v2/files/large-upload",
    "/v2/files/{id}/upload/complete",
    "/v2/files/{id}/large-upload/complete",
    "/v1/files/{id}",
    "/v1/files/{strange}",
    "/v1/files/{id}/download",
    "/v1/files",
    "/v1/projects",
    "/v1/{strange}"
  ),
  strange,
  parameter: FastCheck.option(
    FastCheck.tuple(
      FastCheck.oneof(FastCheck.constantFrom("page[limit]", "page[start_cursor]", "sort", "filter[title]"), strange),
      strange
    ),
    { nil: undefined }
  ),
  body
})

describe("strange requests", () => {
  const requests = FastCheck.sample(request, { numRuns: 600, seed: 7 })

  it.scopedLive.each([requests.slice(0, 300), requests.slice(300)])(
    "are answered in the envelope, never with 5xx, and in SQLite as in memory",
    (some) =>
      Effect.gen(function*() {
        const one = yield* service().pipe(inMemory)
        const context = yield* Layer.build(Layer.provide(SqlFileTable.layer, database))
        const other = yield* Effect.provide(service(), context)
        const [here, there] = [yield* one.uploaded("ann"), yield* other.uploaded("ann")]
        for (const { body, method, parameter, path, strange } of some) {
          const search = parameter === undefined
            ? ""
            : `?${encodeURIComponent(wellFormed(parameter[0]))}=${encodeURIComponent(wellFormed(parameter[1]))}`
          const target = (id: string) =>
            path.replace("{id}", id).replace("{strange}", encodeURIComponent(wellFormed(strange))) + search
          const options = method === "POST" ? { body } : {}
          // kept for the next request
          if (method === "DELETE" && path === "/v1/files/{id}") continue
          const [left, right] = [
            yield* one.call("ann", method, target(here), options),
            yield* other.call("ann", method, target(there), options)
          ]
          const told = `${method} ${target(here)} ${body}`
          assert.isBelow(left.status, 500, told)
          assert.strictEqual(left.status, right.status, told)
          if (left.status >= 400) {
            const refused = Schema.decode(Schema.parseJson(Refusal))
            assert.deepStrictEqual(yield* refused(left.text), yield* refused(right.text), told)
          }
        }
      }),
    120_000
  )
})

describe("a service at work", () => {
  it.scoped("asks its table once in ten seconds, however often it is probed, and is not ready without it", () => {
    let asked = 0
    const table = FileTableMemory.make()
    const failing = Layer.succeed(FileTable, {
      ...table,
      find: (tenant, id) =>
        Effect.suspend(() =>
          ++asked < 3 ? table.find(tenant, id) : Effect.fail(
            new TableFailed({
              operation: "find a file",
              cause: "away"
            })
          )
        )
    })
    return Effect.gen(function*() {
      const { call } = yield* service()
      const probe = Effect.map(call("nobody", "GET", "/readyz"), ({ status }) => status)
      assert.strictEqual((yield* call("nobody", "GET", "/livez")).status, 200)
      assert.deepStrictEqual([yield* probe, yield* probe, asked], [200, 200, 1])
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual([yield* probe, asked], [200, 2])
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual([yield* probe, yield* probe, asked], [503, 503, 3])
    }).pipe(Effect.provide(failing))
  })

  const hangs = Effect.uninterruptible(Effect.never)
  const skewed = new StorageRefused.StorageRefused({
    status: 403,
    code: "RequestTimeTooSkewed",
    reason: "The difference is too large.",
    details: {}
  })

  it.scoped.each<readonly [string, (store: FileStoreService) => FileStoreService, number, RegExp]>([
    ["nothing", (store) => store, 200, /^ok\n$/],
    [
      "a store that is away",
      (store) => ({ ...store, ready: StorageRefused.make("SlowDown") }),
      503,
      /^not ready\nstore: .*SlowDown/
    ],
    ["a store that hangs", (store) => ({ ...store, ready: hangs }), 503, /^not ready\nstore: no answer/],
    ["a clock", (store) => ({ ...store, ready: skewed }), 503, /^not ready\nclock: /],
    ["no room", (store) => ({ ...store, room: Effect.succeed(0) }), 200, /^ok\nroom: /],
    [
      "a disk without an answer",
      (store) => ({ ...store, room: StorageRefused.make("InternalError") }),
      200,
      /^ok\nroom: the disk does not say/
    ],
    ["a disk that hangs", (store) => ({ ...store, room: hangs }), 200, /^ok\nroom: no answer/]
  ])(
    "names what fails when it is asked whether it is ready: %s",
    ([, instead, status, text]) =>
      Effect.gen(function*() {
        const { call } = yield* service({}, {}, instead)
        const probe = yield* Effect.fork(call("nobody", "GET", "/readyz"))
        yield* TestClock.adjust("6 seconds")
        const answer = yield* Fiber.join(probe)
        assert.strictEqual(answer.status, status)
        assert.match(answer.text, text)
      }).pipe(inMemory)
  )

  it.scoped("begins no upload for which there is no room, of either kind", () =>
    Effect.gen(function*() {
      const { call } = yield* service({}, {}, (store) => ({ ...store, room: Effect.succeed(5) }))
      for (const path of ["/v2/files/upload", "/v2/files/large-upload"]) {
        const begun = (size: number) => call("ann", "POST", path, { body: JSON.stringify({ name: "a", size }) })
        assert.strictEqual((yield* begun(5)).status, 201)
        const refused = yield* begun(6)
        assert.strictEqual(refused.status, 507)
        assert.include(refused.text, "InsufficientStorage")
      }
    }).pipe(inMemory))

  it.scoped("counts what it does", () =>
    Effect.gen(function*() {
      const { call, uploaded } = yield* service()
      yield* uploaded("ann")
      const { headers, text } = yield* call("nobody", "GET", "/metrics")
      assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
      assert.match(text, /^# TYPE stevedore_files_total counter$/m)
      assert.match(text, /^stevedore_files_total\{state="finalized"\} [1-9]\d*$/m)
      assert.match(text, /^stevedore_requests_total\{status="201"\} [1-9]\d*$/m)
      assert.match(text, /^stevedore_store_seconds_bucket\{operation="seal",le="\+Inf"\} [1-9]\d*$/m)
    }).pipe(inMemory))

  it.effect("names and labels what it counts as Prometheus reads it", () =>
    Effect.gen(function*() {
      const odd = Metric.counter("1 odd-name", { description: "two\nlines", incremental: true })
      yield* Metric.increment(Metric.tagged(odd, "a b", "say \"x\"\\\n"))
      yield* Metric.increment(Metric.tagged(odd, "a b", "other"))
      const lines = (yield* ServerMetrics.text).split("\n").filter((line) => line.includes("_1_odd_name"))
      assert.deepStrictEqual(lines, [
        "# HELP _1_odd_name two lines",
        "# TYPE _1_odd_name counter",
        "_1_odd_name{a_b=\"say \\\"x\\\"\\\\\\n\"} 1",
        "_1_odd_name{a_b=\"other\"} 1"
      ])
    }))

  it.scoped("shows no token, no signature and no secret in its logs", () => {
    const shown: Array<string> = []
    const logger = Logger.make(({ annotations, cause, message }) => {
      shown.push(JSON.stringify([message, String(cause), [...annotations]]))
    })
    return Effect.gen(function*() {
      const { answers, call, tokens, uploaded } = yield* service()
      yield* uploaded("ann")
      yield* call("ann", "GET", `/v1/files?page[start_cursor]=${tokens["ann"]}`)
      yield* call("stranger", "GET", "/v1/files")
      const signatures = answers.flatMap(({ text }) => /X-Amz-Signature=([0-9a-f]+)/.exec(text)?.[1] ?? [])
      assert.isAbove(signatures.length, 0)
      const all = shown.join("\n")
      for (const secret of [...Object.values(tokens), ...signatures, "very-secret"]) assert.notInclude(all, secret)
    }).pipe(inMemory, Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
