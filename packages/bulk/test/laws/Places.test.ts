import { HttpClient, HttpClientResponse } from "@effect/platform"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { UploadSources } from "@stevedore/core"
import { Sandbox } from "@stevedore/testing"
import { Config, ConfigProvider, Effect, Either, Fiber, Layer, Redacted, Schedule, Stream } from "effect"
import { bytes, database, Life, reached, sql } from "../support/lives.js"
import { waitsForItsMachine } from "../support/pinned.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const origin = "https://archive.example.org"

interface Asked {
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A web server with ranges and etags, whose files can change, and that may be busy. */
const web = (files: Map<string, Uint8Array<ArrayBuffer>>, tags = new Map<string, string>()) => {
  const asked: Array<Asked> = []
  const state: { busy: number; hasRanges: boolean; described: Readonly<Record<string, string>> } = {
    busy: 0,
    hasRanges: true,
    described: { "content-type": "audio/wav" }
  }
  const answer = ({ headers, path }: Asked): Response => {
    const content = files.get(path)
    const tag = tags.get(path) ?? "\"v1\""
    if (state.busy-- > 0) return new Response(null, { status: 503, headers: { "retry-after": "0" } })
    if (content === undefined) return new Response(null, { status: 404 })
    if (!state.hasRanges) return new Response(content, { headers: { "content-length": `${content.length}` } })
    if (headers["if-match"] !== undefined && headers["if-match"] !== tag) return new Response(null, { status: 412 })
    const [, start = "0", end = "0"] = /^bytes=(\d+)-(\d+)$/.exec(headers["range"] ?? "") ?? []
    return new Response(content.slice(Number(start), Number(end) + 1), {
      status: 206,
      headers: { ...state.described, etag: tag, "content-range": `bytes ${start}-${end}/${content.length}` }
    })
  }
  const client = HttpClient.make((request, url) =>
    Effect.sync(() => {
      const one = { path: url.pathname, headers: request.headers }
      asked.push(one)
      return HttpClientResponse.fromWeb(request, answer(one))
    })
  )
  return { asked, state, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

const upload = { threshold: 40, parts: 4, concurrency: 1 }

const runner = (
  client: Effect.Effect.Success<typeof database>,
  { layer }: Pick<ReturnType<typeof web>, "layer">,
  life = new Life(),
  options: BulkRunner.Options = {}
) =>
  Layer.merge(BulkRunner.layer({ files: 2, upload, ...options }), Bulk.layerClient).pipe(
    Layer.provide(
      BulkSources.layerHttp({ origins: { [origin]: Redacted.make({ authorization: "Bearer very-secret" }) } })
    ),
    Layer.provide(layer),
    Layer.provide(reached(life)),
    Layer.provideMerge(sql(client, life))
  )

const large = bytes(80)

const contents = () =>
  new Map([["/2026/a%20b/%C3%BC%23%3F.wav", Uint8Array.from(bytes(30))], ["/2026/large.wav", Uint8Array.from(large)]])

const job = (paths = ["a b/ü#?.wav", "large.wav"]) =>
  Bulk.submit("job", BulkSources.ranges(`${origin}/2026`, Stream.fromIterable(paths.map((path) => ({ path })))))

const worked = Effect.flatMap(job(), ({ id }) => Bulk.runChunk(id, 0))

const failures = Effect.gen(function*() {
  const { failures } = yield* Bulk.get("job")
  return Array.from(yield* Stream.runCollect(failures), ({ error, path }) => [
    path,
    error._tag,
    "reason" in error ? error.reason : undefined
  ])
})

const submitted = Effect.flatMap(job(["large.wav"]), ({ id }) => Bulk.runChunk(id, 0))

const operations = Effect.map(Sandbox.report, ({ requests }) => requests.map(({ operation }) => operation))

/** What a second machine asks of the service when a first one is gone after two of four parts. */
const takenOver = (
  client: Effect.Effect.Success<typeof database>,
  server: ReturnType<typeof web>,
  meanwhile: Effect.Effect<void, unknown, SqlClient>,
  options: BulkRunner.Options = {}
) =>
  Effect.gen(function*() {
    const stuck = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(
        HttpClient.HttpClient,
        HttpClient.tapRequest(({ headers }) => headers["range"] === "bytes=40-59" ? Effect.never : Effect.void)
      )
    ).pipe(Layer.provide(server.layer))
    const life = new Life()
    const first = yield* Effect.forkDaemon(
      Effect.provide(submitted, runner(client, { layer: stuck }, life, options))
    )
    const receipts = Effect.flatMap(SqlClient, (sql) => sql`select part from bulk_receipt`)
    yield* Effect.repeat(receipts, { until: ({ length }) => length === 2, schedule: Schedule.spaced("5 millis") })
    life.die()
    yield* Fiber.interruptFork(first)
    yield* meanwhile
    const before = yield* operations
    const second = runner(client, server, new Life(), options)
    assert.strictEqual(yield* Effect.provide(submitted, second), "done")
    return (yield* operations).slice(before.length)
  }).pipe(Effect.provide(sql(client)))

const rest = ["putPart", "putPart", "completeLarge"]
const whole = ["initiateLarge", "putPart", "putPart", ...rest]

describe("files of a web server", () => {
  it.live("are read by ranges of one version, with the headers of the machine, which no row has", () =>
    Effect.gen(function*() {
      const client = yield* database
      const server = web(contents())
      server.state.busy = 1
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* worked, "done")
        yield* proof([
          UploadSources.fromBytes("a b/ü#?.wav", bytes(30), { mediaType: "audio/wav" }),
          UploadSources.fromBytes("large.wav", large, { mediaType: "audio/wav" })
        ])
      }).pipe(Effect.provide(runner(client, server)))
      assert.isTrue(server.asked.every(({ headers }) => headers["authorization"] === "Bearer very-secret"))
      const ranges = server.asked.filter(({ headers }) => headers["range"] !== "bytes=0-0")
      assert.isAtLeast(ranges.length, 5)
      assert.isTrue(ranges.every(({ headers }) => headers["if-match"] === "\"v1\""))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("that change meanwhile fail, and no file has bytes of two versions", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = contents()
      const tags = new Map<string, string>()
      const server = web(files, tags)
      const changing = {
        ...server,
        layer: Layer.effect(
          HttpClient.HttpClient,
          Effect.map(
            HttpClient.HttpClient,
            HttpClient.tapRequest((request) =>
              Effect.sync(() => {
                if (!request.url.includes("large") || request.headers["range"] !== "bytes=40-59") return
                files.set("/2026/large.wav", Uint8Array.from(large, (byte) => byte ^ 255))
                tags.set("/2026/large.wav", "\"v2\"")
              })
            )
          )
        ).pipe(Layer.provide(server.layer))
      }
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* worked, "done")
        assert.deepStrictEqual(yield* failures, [["large.wav", "SourceChanged", undefined]])
        yield* proof([UploadSources.fromBytes("a b/ü#?.wav", bytes(30), { mediaType: "audio/wav" })])
      }).pipe(Effect.provide(runner(client, changing)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  for (
    const [what, described] of [
      ["as it was", { "content-type": "audio/wav" }],
      ["with another date", { "content-type": "audio/wav", "last-modified": "Thu, 26 Nov 2026 08:00:00 GMT" }],
      ["with another type", { "content-type": "audio/x-wav" }]
    ] as const
  ) {
    it.live(`go on in their middle on another machine, which finds the same etag ${what}`, () =>
      Effect.gen(function*() {
        const client = yield* database
        const server = web(new Map([["/2026/large.wav", Uint8Array.from(large)]]))
        const meanwhile = Effect.sync(() => void (server.state.described = described))
        assert.deepStrictEqual(yield* takenOver(client, server, meanwhile), rest)
        const source = UploadSources.fromBytes("large.wav", large, { mediaType: "audio/wav" })
        yield* Effect.provide(proof([source]), sql(client))
      }).pipe(Effect.scoped, Effect.provide(service())))
  }

  it.live("start over on another machine that finds another etag, with its type", () =>
    Effect.gen(function*() {
      const client = yield* database
      const contents = new Map([["/2026/large.wav", Uint8Array.from(large)]])
      const tags = new Map<string, string>()
      const server = web(contents, tags)
      const changed = large.map((byte) => byte ^ 255)
      const meanwhile = Effect.sync(() => {
        contents.set("/2026/large.wav", Uint8Array.from(changed))
        tags.set("/2026/large.wav", "\"v2\"")
        server.state.described = { "content-type": "audio/x-wav" }
      })
      assert.deepStrictEqual(yield* takenOver(client, server, meanwhile), whole)
      const source = UploadSources.fromBytes("large.wav", changed, { mediaType: "audio/x-wav" })
      yield* Effect.provide(proof([source]), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("fail one by one if the server does not have them, or has no ranges", () =>
    Effect.gen(function*() {
      const client = yield* database
      const server = web(contents())
      yield* Effect.gen(function*() {
        const { id } = yield* job(["missing.wav", "../secret.wav"])
        yield* Bulk.runChunk(id, 0)
        assert.deepStrictEqual(yield* failures, [
          ["missing.wav", "SourceUnreadable", "NotFound"],
          ["../secret.wav", "InvalidSource", undefined]
        ])
        const { cancel, forget } = yield* Bulk.get("job")
        yield* Effect.zipRight(cancel, forget)
        server.state.hasRanges = false
        const { id: other } = yield* job(["large.wav"])
        yield* Bulk.runChunk(other, 0)
        assert.deepStrictEqual(yield* failures, [["large.wav", "SourceUnreadable", "ReadOnce"]])
      }).pipe(Effect.provide(runner(client, server)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.effect("have a base and an origin that are checked before anything", () =>
    Effect.gen(function*() {
      const client = yield* database
      const names = Effect.gen(function*() {
        for (const base of ["archive", "ftp://a/b", "https://user@a/", "https://a/?sig=1", "https://a/#b"]) {
          const submitted = yield* Effect.either(Bulk.submit("job", BulkSources.ranges(base, Stream.empty)))
          assert.strictEqual(Either.isLeft(submitted) && submitted.left._tag, "InvalidSource", base)
        }
        return yield* Bulk.names
      })
      assert.deepStrictEqual(yield* Effect.provide(names, Layer.provide(Bulk.layerClient, sql(client))), [])
      for (const origin of ["archive", "https://a/b"]) {
        const sources = BulkSources.layerHttp({ origins: { [origin]: Redacted.make({}) } })
        const built = yield* Effect.either(Layer.build(Layer.provide(sources, web(new Map()).layer)))
        assert.strictEqual(Either.isLeft(built) && built.left._tag, "InvalidSource", origin)
      }
    }).pipe(Effect.scoped))
})

describe("the pre-signed URLs of a file in parts", () => {
  for (const keepUrls of [true, false]) {
    it.live(
      keepUrls ? "are in the database, so that a successor goes on" : "are not in the database unless they may be",
      () =>
        Effect.gen(function*() {
          const client = yield* database
          const server = web(new Map([["/2026/large.wav", Uint8Array.from(large)]]))
          const tables = ["bulk_job", "bulk_chunk", "bulk_file", "bulk_ledger", "bulk_receipt", "bulk_rate"]
          const meanwhile = Effect.gen(function*() {
            const sql = yield* SqlClient
            const rows = yield* Effect.forEach(tables, (table) => sql`select * from ${sql(table)}`)
            assert.isAbove(rows.flat().length, 4)
            assert.strictEqual(/x-amz-signature/i.test(JSON.stringify(rows)), keepUrls)
          })
          assert.deepStrictEqual(yield* takenOver(client, server, meanwhile, { keepUrls }), keepUrls ? rest : whole)
          const source = UploadSources.fromBytes("large.wav", large, { mediaType: "audio/wav" })
          yield* Effect.provide(proof([source]), sql(client))
        }).pipe(Effect.scoped, Effect.provide(service()))
    )
  }
})

describe("a mount of one machine", () => {
  it.effect("that is not set is named, with the variable it is read from", () =>
    Effect.gen(function*() {
      const mounted = BulkSources.layerMounted({ archive: Config.string("ARCHIVE_ROOT") })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(mounted))).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map()))
      )
      assert.deepInclude(error, { kind: "configuration", field: "mounts.archive", where: "ARCHIVE_ROOT" })
    }))
})

describe("files of one machine", () => {
  it.live("are uploaded by the runners of that machine only", () =>
    Effect.gen(function*() {
      const client = yield* database
      const on = (host: string) =>
        BulkQueue.layer({ upload, drain: "1 second" }).pipe(
          Layer.provide(BulkSources.layerLocal({ host })),
          Layer.provide(sql(client))
        )
      yield* waitsForItsMachine(client, on, Effect.void)
    }).pipe(Effect.scoped, Effect.provide(service())))
})
