import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import type { SourceError } from "@stevedore/core"
import { ServiceApi, ServiceError } from "@stevedore/core"
import type { UploadSource } from "@stevedore/core"
import { Chunk, Effect, Either, FastCheck as fc, Fiber, Layer, Option, Redacted, Stream, TestClock } from "effect"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import type { Server } from "node:http"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FileError } from "../../src/BulkError.js"
import * as Halts from "../../src/runner/halts.js"
import { database, sources, sql } from "../support/lives.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const unauthorized = new ServiceError.Unauthorized({ operation: "initiateUpload", status: 401, issues: [] })

const full = new ServiceError.Forbidden({
  operation: "initiateUpload",
  status: 403,
  issues: [{ code: "QuotaExceeded", title: "No room" }]
})

const away = new ServiceError.ServiceUnavailable({ operation: "initiateUpload", status: 503, issues: [] })

/** The service while it refuses every call: how often it was asked is counted. */
const refusing = (world: { error: ServiceError.ServiceError | undefined; from: number; asked: number }) =>
  Layer.effect(
    ServiceApi.ServiceApi,
    Effect.map(ServiceApi.ServiceApi, (service): ServiceApi.Service => {
      const asked = <A>(call: Effect.Effect<A, ServiceError.ServiceError>) =>
        Effect.suspend(() => {
          world.asked += 1
          return world.error !== undefined && world.asked > world.from ? Effect.fail(world.error) : call
        })
      return {
        ...service,
        initiateUpload: (file) => asked(service.initiateUpload(file)),
        initiateLargeUpload: (file) => asked(service.initiateLargeUpload(file))
      }
    })
  )

const temporary = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "halts-")))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

describe("what is true of every file of a job", () => {
  for (
    const [reason, error, most] of [
      ["token", unauthorized, 6],
      ["room", full, 6],
      // five files at most, each with the retries of its upload
      ["outage", away, 25]
    ] as const
  ) {
    it.live(`is no file's failure, and is asked little: ${reason}`, () =>
      Effect.gen(function*() {
        const client = yield* database
        const files = sources(30)
        const world = { error, from: 8, asked: 0 }
        const life = BulkQueue.layer({ files: 2, upload: { threshold: 40, parts: 2 }, drain: "1 second" }).pipe(
          Layer.provideMerge(BulkSources.layer({})),
          Layer.provideMerge(sql(client))
        )
        yield* Effect.gen(function*() {
          const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 7 })
          const runner = yield* BulkRunner.BulkRunner
          const halts = yield* Effect.repeat(Effect.delay(runner.halted, "20 millis"), {
            until: (halts) => halts.length > 0
          })
          assert.deepStrictEqual(halts.map(({ job, reason }) => [job, reason]), [["job", reason]])
          yield* Effect.sleep("1 second")
          assert.isAtMost(world.asked - world.from, most)
          assert.deepInclude(yield* job.status, { state: "running", uploaded: 8, failed: 0 })
        }).pipe(Effect.provide(Layer.provide(life, refusing(world))))
        world.from = Infinity
        yield* Effect.gen(function*() {
          const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
          assert.deepStrictEqual(yield* job.await, { uploaded: 30, failed: 0, cancelled: 0 })
          yield* proof(files)
        }).pipe(Effect.provide(Layer.provide(life, refusing(world))))
      }).pipe(Effect.scoped, Effect.provide(service())))
  }

  it.live("is seen of a directory that is gone, or that has nothing left in it", () =>
    Effect.gen(function*() {
      const client = yield* database
      for (const isEmpty of [true, false]) {
        const root = yield* temporary
        const name = `job-${isEmpty}`
        const paths = ["a.txt", "b.txt", "c.txt"]
        const written = Effect.promise(async () => {
          await mkdir(root, { recursive: true })
          await Promise.all(paths.map((path) => writeFile(join(root, path), path)))
        })
        yield* written
        const life = Layer.merge(BulkRunner.layer({ files: 1 }), Bulk.layerClient).pipe(
          Layer.provideMerge(BulkSources.layer({ mounts: { disk: root } })),
          Layer.provideMerge(sql(client))
        )
        yield* Effect.gen(function*() {
          const job = yield* Bulk.submit(name, BulkSources.directory(root, { mount: "disk" }))
          yield* Effect.promise(async () => {
            await rm(root, { recursive: true })
            if (isEmpty) await mkdir(root)
          })
          assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "released")
          assert.deepInclude(yield* job.status, { total: 3, uploaded: 0, failed: 0 })
          assert.deepStrictEqual(
            (yield* Effect.flatMap(BulkRunner.BulkRunner, ({ halted }) => halted)).map(({ reason }) => reason),
            ["directory"]
          )
        }).pipe(Effect.provide(life))
        yield* written
        yield* Effect.gen(function*() {
          const job = yield* Bulk.get(name)
          assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "done")
          assert.deepInclude(yield* job.status, { uploaded: 3, failed: 0 })
        }).pipe(Effect.provide(life))
      }
    }).pipe(Effect.scoped, Effect.provide(service())))

  const own = new ServiceError.RequestRejected({ operation: "initiateUpload", status: 400, issues: [] })
  const worlds: Readonly<Record<string, FileError>> = { unauthorized, full, away }

  it.effect.prop(
    "never ends a file, whatever fails when and for how long: each file ends by what is its own, and once",
    {
      files: fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      outages: fc.array(
        fc.record({
          of: fc.constantFrom("unauthorized", "full", "away", "up"),
          minutes: fc.integer({ min: 1, max: 10 })
        }),
        {
          maxLength: 3
        }
      )
    },
    ({ files, outages }) =>
      Effect.gen(function*() {
        const halts = yield* Halts.make
        const ended = new Map<number, Array<string>>()
        let world: FileError | undefined
        let refusals = 0
        const end = (own: FileError | undefined) => Option.fromNullable(world ?? own)
        // a runner that delivers what is left, over and over, three files at once
        const runner = Effect.gen(function*() {
          while (ended.size < files.length) {
            if (!(yield* halts.goesOn(1, Effect.never))) continue
            yield* Effect.forEach(files, (isGood, seq) =>
              ended.has(seq) ? Effect.void : Effect.suspend(() => {
                const error = end(isGood ? undefined : own)
                if (world !== undefined) refusals += 1
                return Effect.delay(Effect.succeed({ error }), "1 second")
              }).pipe(
                halts.through({ job: { id: 1, name: "job" }, seq, directory: undefined }),
                Effect.map(Option.map(({ error }) =>
                  ended.set(seq, [
                    ...ended.get(seq) ?? [],
                    Option.match(error, { onNone: () => "", onSome: ({ _tag }) => _tag })
                  ])
                ))
              ), { concurrency: 3, discard: true })
            yield* Effect.sleep("300 millis")
          }
        })
        const running = yield* Effect.fork(runner)
        for (const { minutes, of } of outages) {
          const before = refusals
          world = worlds[of]
          yield* TestClock.adjust(`${minutes} minutes`)
          // at first those at once, and then one at growing intervals, but for files of their own fault in between
          assert.isAtMost(refusals - before, 9 + minutes)
        }
        world = undefined
        yield* TestClock.adjust("30 minutes")
        yield* Fiber.join(running)
        assert.deepStrictEqual(
          [...ended].sort(([a], [b]) => a - b),
          files.map((isGood, seq) => [seq, [isGood ? "" : "RequestRejected"]])
        )
      }),
    { fastCheck: { numRuns: 20 } }
  )

  it.live(
    "leaves each row with one outcome, whatever fails and whenever a runner is stopped",
    () =>
      Effect.gen(function*() {
        const histories = fc.sample(
          fc.record({
            count: fc.integer({ min: 1, max: 12 }),
            chunkSize: fc.integer({ min: 1, max: 5 }),
            lives: fc.array(
              fc.record({
                error: fc.constantFrom(unauthorized, full, own, undefined),
                from: fc.nat(8),
                stop: fc.nat(60)
              }),
              { maxLength: 4 }
            )
          }),
          { numRuns: 6, seed: 7 }
        )
        for (const { chunkSize, count, lives } of histories) {
          const client = yield* database
          const files = sources(count)
          const life = Layer.merge(
            BulkRunner.layer({ files: 2, upload: { threshold: 40, parts: 2 } }),
            Bulk.layerClient
          )
            .pipe(Layer.provideMerge(BulkSources.layer({})), Layer.provideMerge(sql(client)))
          for (const { error, from, stop } of [...lives, { error: undefined, from: 0, stop: undefined }]) {
            yield* Effect.gen(function*() {
              const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize })
              const worked = Effect.forEach(Array.from({ length: job.chunks }, (_, n) => n), (n) =>
                Bulk.runChunk(job.id, n), {
                concurrency: 2
              }).pipe(Effect.timeoutOption("4 seconds"))
              yield* stop === undefined ? worked : Effect.timeoutOption(worked, `${stop} millis`)
              const there = Array.from(yield* Stream.runCollect(job.files), ({ path }) =>
                path)
              const failed = Array.from(yield* Stream.runCollect(job.failures), ({ error, path }) =>
                [path, error._tag] as const)
              const { failed: failures, total, uploaded } = yield* job.status
              assert.deepStrictEqual([total, uploaded, failures], [count, there.length, failed.length])
              assert.strictEqual(
                new Set([
                  ...there,
                  ...failed.map(([path]) =>
                    path
                  )
                ]).size,
                there.length + failed.length
              )
              assert.deepStrictEqual(
                failed.filter(([, tag]) =>
                  tag !== "RequestRejected"
                ),
                []
              )
              if (stop === undefined) assert.strictEqual(there.length + failed.length, count)
            }).pipe(Effect.provide(Layer.provide(life, refusing({ error, from, asked: 0 }))))
          }
        }
      }).pipe(Effect.scoped, Effect.provide(service())),
    60_000
  )

  it.effect("ends a file whose outages are its own, while others get through", () =>
    Effect.gen(function*() {
      const halts = yield* Halts.make
      const one = (seq: number, error: Option.Option<FileError>) =>
        halts.through({ job: { id: 1, name: "job" }, seq, directory: undefined })(Effect.succeed({ error }))
      let tries = 0
      const trying = yield* Effect.fork(Effect.repeat(
        Effect.suspend(() => {
          tries += 1
          return Effect.zipLeft(
            one(0, Option.some(away)),
            tries === 1 ? one(1, Option.none()) : Effect.sleep("5 minutes")
          )
        }),
        { until: Option.isSome }
      ))
      yield* TestClock.adjust("3 hours")
      assert.isTrue(Option.isSome(yield* Fiber.join(trying)))
      assert.strictEqual(tries, 21)
    }))
})

describe("a job that is submitted again", () => {
  const life = (client: Effect.Effect.Success<typeof database>) =>
    BulkQueue.layer({ files: 4 }).pipe(
      Layer.provideMerge(BulkSources.layer({ directories: true })),
      Layer.provideMerge(sql(client))
    )

  it.live("uploads what is new in its directory, or has another size, also after its end, and nothing twice", () =>
    Effect.gen(function*() {
      const client = yield* database
      const root = yield* temporary
      const write = (name: string, content: string) => Effect.promise(() => writeFile(join(root, name), content))
      yield* Effect.gen(function*() {
        const night = (chunkSize = 3) =>
          Effect.flatMap(
            Bulk.submit("night", BulkSources.directory(root), { chunkSize }),
            (job) =>
              Effect.zip(
                job.await,
                Effect.map(
                  Stream.runCollect(job.files),
                  (files) => Chunk.toReadonlyArray(files).map(({ path }) => path)
                )
              )
          )
        for (const name of ["a", "b", "c", "d"]) yield* write(name, name)
        assert.deepStrictEqual(yield* night(), [{ uploaded: 4, failed: 0, cancelled: 0 }, ["a", "b", "c", "d"]])
        assert.strictEqual((yield* night())[0].uploaded, 4)
        for (const name of ["bb", "e", "f", "g"]) yield* write(name, name)
        yield* write("a", "longer")
        assert.deepStrictEqual(yield* night(), [
          { uploaded: 9, failed: 0, cancelled: 0 },
          ["a", "b", "c", "d", "a", "bb", "e", "f", "g"]
        ])
      }).pipe(Effect.provide(life(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("is refused for another place, and where it was cancelled without a file", () =>
    Effect.gen(function*() {
      const client = yield* database
      const [one, other] = [yield* temporary, yield* temporary]
      yield* Effect.promise(() => Promise.all([one, other].map((root) => writeFile(join(root, "a"), "a"))))
      yield* Effect.gen(function*() {
        const refusal = (manifest: BulkSources.Manifest<SourceError.SourceError>) =>
          Effect.map(Effect.flip(Bulk.submit("job", manifest)), ({ _tag }) => _tag)
        const job = yield* Bulk.submit("job", BulkSources.directory(one))
        yield* job.await
        assert.strictEqual(yield* refusal(BulkSources.directory(other)), "JobDiffers")
        assert.strictEqual(yield* refusal(BulkSources.directory(one, { host: "h" })), "JobDiffers")
        const more = yield* temporary
        yield* Effect.promise(() => writeFile(join(more, "a"), "a"))
        const { cancel } = yield* Bulk.submit("cancelled", BulkSources.directory(more, { host: "elsewhere" }))
        yield* cancel
        yield* Effect.promise(() => writeFile(join(more, "b"), "b"))
        const again = yield* Effect.flip(Bulk.submit("cancelled", BulkSources.directory(more, { host: "elsewhere" })))
        assert.strictEqual(again._tag, "JobDiffers")
        assert.include(again.message, "does not have 1 of the files, such as b")
        assert.deepInclude(yield* (yield* Bulk.get("cancelled")).status, { total: 1, state: "cancelled" })
      }).pipe(Effect.provide(life(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

describe("the headers of an origin", () => {
  it.live("go to that origin alone, whatever a row says and wherever it redirects", () =>
    Effect.gen(function*() {
      const seen: Array<readonly [at: string, key: string | undefined]> = []
      const served = (
        name: string,
        answer: (path: string) => readonly [status: number, location: string | undefined]
      ) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.async<Server>((resume) => {
              const server = createServer(({ headers, url = "" }, response) => {
                seen.push([name, headers["x-api-key"]?.toString()])
                const [status, location] = answer(url)
                response.writeHead(status, {
                  ...location === undefined
                    ? { etag: "\"a\"", "content-range": "bytes 0-0/5", "content-length": 1 }
                    : { location }
                })
                response.end(location === undefined ? "h" : "")
              })
              server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
            }),
            (server) => Effect.sync(() => server.close())
          ),
          (server) => {
            const address = server.address()
            return `http://127.0.0.1:${address === null || typeof address === "string" ? 0 : address.port}`
          }
        )
      const other = yield* served("other", () => [206, undefined])
      const own = yield* served("own", (path) => path === "/moved" ? [302, `${other}/x`] : [206, undefined])
      const origins = { [own]: Redacted.make({ "x-api-key": "secret" }) }
      const Sources = BulkSources.layerHttp({ origins }).pipe(Layer.provide(FetchHttpClient.layer))
      yield* Effect.gen(function*() {
        const { open } = yield* BulkSources.BulkSources
        const asked = (location: string, path: string) =>
          Effect.map(
            Effect.either(open({ job: "j", queue: `http:${own}`, location, path, mediaType: undefined })),
            (end) => [Either.isLeft(end) ? end.left._tag : "Right", seen.splice(0)]
          )
        assert.deepStrictEqual(yield* asked(`${own}/`, "here"), ["Right", [["own", "secret"]]])
        assert.deepStrictEqual(yield* asked(`${own}/`, "moved"), ["Right", [["own", "secret"], ["other", undefined]]])
        for (const location of [`${other}/`, `${own}.evil.test/`, `${own}@evil.test/`, "", "file:///etc/"]) {
          assert.deepStrictEqual(yield* asked(location, "here"), ["InvalidSource", []], location)
        }
      }).pipe(Effect.provide(Sources))
    }).pipe(Effect.scoped))
})

describe("where a row says that its files are", () => {
  it.effect("stays below the root of its mount by its real path", () =>
    Effect.gen(function*() {
      const top = yield* temporary
      const mount = join(top, "mount")
      yield* Effect.promise(async () => {
        await mkdir(join(mount, "job"), { recursive: true })
        await mkdir(join(top, "mount-secret"))
        await writeFile(join(top, "mount-secret", "key"), "key")
        await writeFile(join(mount, "job", "key"), "key")
        await symlink(join(top, "mount-secret"), join(mount, "out"))
        await symlink(join(mount, "job"), join(mount, "in"))
      })
      const { open } = yield* BulkSources.make({ mounts: { archive: mount } })
      const table: ReadonlyArray<readonly [location: string, path: string, end: string]> = [
        ["job", "key", "Right"],
        ["in", "key", "Right"],
        ["", "job/key", "Right"],
        ["/job", "key", "Right"],
        ["job/../in", "key", "Right"],
        ["out", "key", "InvalidSource"],
        ["../mount-secret", "key", "InvalidSource"],
        ["job/../../mount-secret", "key", "InvalidSource"],
        ["../../../../../../../../etc", "hostname", "InvalidSource"],
        ["job", "../out/key", "InvalidSource"]
      ]
      for (const [location, path, end] of table) {
        const file = { job: "j", queue: "mount:archive", location, path, mediaType: undefined }
        const opened: Either.Either<UploadSource, SourceError.SourceError> = yield* Effect.either(open(file))
        assert.strictEqual(Either.isLeft(opened) ? opened.left._tag : "Right", end, `${location} ${path}`)
      }
      const linked = { job: "j", queue: "mount:archive", location: "", path: "out/key", mediaType: undefined }
      const source = yield* Effect.either(open(linked))
      assert.isTrue(Either.isLeft(source) || source.right.fingerprint.kind === "refused")
    }).pipe(Effect.scoped))
})
