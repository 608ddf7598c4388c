import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkRateLimit, BulkRunner, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import type { RateLimit, UploadSource } from "@stevedore/core"
import { Checksum, ObjectStorage, ServiceApi } from "@stevedore/core"
import * as Sqlite from "@stevedore/server/Sqlite"
import { FaultScript, Sandbox } from "@stevedore/testing"
import type { Tracer } from "effect"
import {
  Chunk,
  Clock,
  Duration,
  Effect,
  Either,
  Fiber,
  identity,
  Layer,
  Metric,
  Option,
  Redacted,
  Stream,
  TestClock
} from "effect"
import { locking } from "../../../server/test/support/locked.js"
import * as ChunkRows from "../../src/jobs/chunkRows.js"
import { bytes, database, Life, sources, sql } from "../support/lives.js"
import { folder } from "../support/pinned.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const upload = { threshold: 40, parts: 2, concurrency: 2 }

const queue = (client: SqlClient) =>
  BulkQueue.layer({ files: 4, upload, drain: "2 seconds" }).pipe(
    Layer.provideMerge(BulkSources.layer({})),
    Layer.provideMerge(sql(client))
  )

const runner = (client: SqlClient, options: BulkRunner.Options = {}, life = new Life()) =>
  Layer.merge(BulkRunner.layer({ files: 2, upload, ...options }), Bulk.layerClient).pipe(
    Layer.provideMerge(BulkSources.layer({})),
    Layer.provideMerge(sql(client, life))
  )

const missing = (source: UploadSource): UploadSource => ({ ...source, name: "missing.bin", size: 0 })

describe("a job", () => {
  it.live("ends with an outcome for each file, and is there only once", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(7)
      const api = yield* ServiceApi.ServiceApi
      // the records of all files below 40 bytes tell the checksum of their content
      const isTold = (size: number) => size < 40
      const reporting = Layer.succeed(ServiceApi.ServiceApi, {
        ...api,
        completeLargeUpload: (given) =>
          Effect.map(api.completeLargeUpload(given), (record) => {
            const size = given.parts.reduce((sum, part) => sum + part.size, 0)
            return isTold(size) ? { ...record, checksum: Checksum.ofBytes(Checksum.crc32, bytes(size)) } : record
          })
      })
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable([...files, ...files.slice(0, 1).map(missing)]), {
          chunkSize: 3
        })
        assert.deepStrictEqual(yield* job.await, { uploaded: 7, failed: 1, cancelled: 0 })
        const failures = Chunk.toReadonlyArray(yield* Stream.runCollect(job.failures))
        assert.deepStrictEqual(failures.map(({ error, path }) => [path, error._tag]), [["missing.bin", "EmptySource"]])
        const again = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        assert.strictEqual(again.id, job.id)
        const there = Chunk.toReadonlyArray(yield* Stream.runCollect(job.files))
        assert.deepStrictEqual(
          there.map(({ path, proof }) => [path, proof]),
          files.map(({ name, size }) => [name, isTold(size) ? "stored" : "unproven"])
        )
        yield* proof(files)
        assert.deepStrictEqual((yield* job.status).state, "done")
        yield* job.forget
        assert.deepStrictEqual(yield* Bulk.names, [])
        assert.strictEqual(Either.getLeft(yield* Effect.either(Bulk.get("job")))._tag, "Some")
      }).pipe(Effect.provide(Layer.provide(queue(client), reporting)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("goes on after another program has locked its file for longer than is waited, and does nothing twice", () =>
    Effect.gen(function*() {
      const file = `${yield* folder}/jobs.db`
      const client = yield* Sqlite.make({ file, wait: "20 millis" })
      const other = yield* Sqlite.make({ file })
      yield* Effect.provide(Bulk.migrate, sql(client))
      const files = sources(20)
      const { held, letGo } = yield* locking(file)
      const outcomes = ({ unsafe }: SqlClient) =>
        unsafe("select seq, state, file_id, proof from bulk_file order by seq")
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 3 })
        yield* held.pipe(
          Effect.zipRight(Effect.sleep("200 millis")),
          Effect.zipRight(letGo),
          Effect.zipRight(Effect.zipWith(outcomes(client), outcomes(other), assert.deepStrictEqual)),
          Effect.zipRight(Effect.sleep("20 millis")),
          Effect.repeatN(4)
        )
        assert.deepStrictEqual(yield* job.await, { uploaded: 20, failed: 0, cancelled: 0 })
        assert.lengthOf(
          (yield* Sandbox.report).requests.filter(({ operation }) => operation.startsWith("initiate")),
          20
        )
        yield* proof(files)
      }).pipe(Effect.provide(queue(client)))
      assert.lengthOf(yield* other`select seq from bulk_file where state = 1`, 20)
    }).pipe(Effect.scoped, Effect.provide([Reactivity.layer, service()])))

  it.live("that is paused begins nothing, and one that is cancelled keeps what it has", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(9)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 3 })
        yield* job.pause
        assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "refused")
        assert.lengthOf(yield* Sandbox.files, 0)
        assert.deepStrictEqual(yield* Bulk.working, [])
        yield* job.resume
        const rows = yield* ChunkRows.make
        const claim = yield* rows.claim({ job: job.id, n: 2, pass: undefined }, "dock-7/42")
        assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "done")
        const [{ silentMillis = -1, ...working } = {}, ...others] = yield* Bulk.working
        assert.deepStrictEqual([working, others], [
          { runner: "dock-7/42", job: "job", chunk: 2, uploaded: 0, failed: 0 },
          []
        ])
        assert.isAtLeast(silentMillis, 0)
        if (claim !== undefined) yield* rows.release(claim)
        assert.deepStrictEqual(yield* Bulk.working, [])
        yield* job.cancel
        assert.strictEqual(yield* Bulk.runChunk(job.id, 1), "refused")
        assert.deepStrictEqual(yield* job.await, { uploaded: 3, failed: 0, cancelled: 6 })
        yield* proof(files.slice(0, 3))
      }).pipe(Effect.provide(runner(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("retries what has failed", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(2)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        yield* job.await
        assert.strictEqual((yield* job.status).failed, 1)
        yield* job.retryFailed
        assert.deepStrictEqual(yield* job.await, { uploaded: 2, failed: 0, cancelled: 0 })
        yield* proof(files)
      }).pipe(Effect.provide(queue(client)))
    }).pipe(Effect.scoped, Effect.provide(service({ faults: FaultScript.on("initiate").answer(400, "BadRequest") }))))

  it.live("retries in one statement, which nobody can be stopped in the middle of", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(4)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 2 })
        yield* Bulk.runChunk(job.id, 0)
        yield* Bulk.runChunk(job.id, 1)
        assert.deepInclude(yield* job.status, { uploaded: 2, failed: 2 })
        const life = new Life()
        yield* Effect.gen(function*() {
          const same = yield* Bulk.get("job")
          const before = life.events
          yield* same.retryFailed
          // one that goes out, and its answer
          assert.strictEqual(life.events - before, 2)
        }).pipe(Effect.provide(Layer.provide(Bulk.layerClient, sql(client, life))))
        assert.deepInclude(yield* job.status, { state: "running", uploaded: 2, failed: 0 })
        assert.strictEqual(yield* Stream.runCount(job.failures), 0)
        yield* Bulk.runChunk(job.id, 0)
        yield* Bulk.runChunk(job.id, 1)
        assert.deepInclude(yield* job.status, { uploaded: 4, failed: 0 })
        yield* proof(files)
      }).pipe(Effect.provide(runner(client)))
    }).pipe(
      Effect.scoped,
      Effect.provide(service({ faults: FaultScript.on("initiate").times(2).answer(400, "BadRequest") }))
    ))

  it.live("has spans that name the one of its submit, and metrics of its own, in every process", () =>
    Effect.gen(function*() {
      const client = yield* database
      const spans: Array<Tracer.Span> = []
      const tracer = yield* Effect.tracer
      const traced = Effect.withTracer({
        ...tracer,
        span: (...span) => {
          const made = tracer.span(...span)
          spans.push(made)
          return made
        }
      })
      const job = yield* Bulk.submit("traced", BulkSources.fromIterable(sources(2))).pipe(
        Effect.provide(runner(client)),
        traced
      )
      yield* Effect.gen(function*() {
        yield* Bulk.submit("traced", BulkSources.fromIterable(sources(2)))
        return yield* Bulk.runChunk(job.id, 0)
      }).pipe(Effect.provide(runner(client)), traced)
      const submit = spans.find(({ name }) => name === "Bulk.submit")
      const chunk = spans.find(({ name }) => name === "Bulk.runChunk")
      assert.deepStrictEqual(chunk?.links.map(({ span }) => [span.traceId, span.spanId]), [
        [submit?.traceId, submit?.spanId]
      ])
      assert.notStrictEqual(chunk?.traceId, submit?.traceId)
      assert.strictEqual(chunk?.attributes.get("job.name"), "traced")
      const files = yield* Metric.value(
        Metric.counter("stevedore_bulk_files", {
          description: "Files of bulk jobs that have an outcome, by job and outcome",
          incremental: true
        }).pipe(Metric.tagged("job", "traced"), Metric.tagged("outcome", "Uploaded"))
      )
      assert.strictEqual(files.count, 2)
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("that was loaded halfway is loaded again", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(3)
      yield* Effect.gen(function*() {
        const broken = { ...BulkSources.fromIterable(files), entries: Stream.fail("broken") }
        assert.strictEqual(Either.getLeft(yield* Effect.either(Bulk.submit("job", broken)))._tag, "Some")
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        assert.strictEqual((yield* job.status).total, 3)
        assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "done")
        yield* proof(files)
      }).pipe(Effect.provide(runner(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

describe("a chunk", () => {
  it.live("that is delivered twice at once is uploaded once, and the first runner completes nothing any more", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(6)
      const storage = yield* ObjectStorage.ObjectStorage
      // the first runner is slow: everything that it has put is there only after it was replaced
      const slow = Layer.succeed(ObjectStorage.ObjectStorage, {
        ...storage,
        put: (request) => Effect.delay(storage.put(request), "700 millis")
      })
      const first = yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        return yield* Bulk.runChunk(job.id, 0)
      }).pipe(Effect.provide(Layer.provide(runner(client, { heartbeat: "50 millis", files: 6 }), slow)), Effect.fork)
      yield* Effect.sleep("400 millis")
      const second = yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        return yield* Bulk.runChunk(job.id, 0)
      }).pipe(Effect.provide(runner(client)))
      assert.strictEqual(second, "done")
      assert.strictEqual(yield* Fiber.join(first), "lost")
      yield* Effect.provide(proof(files), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))

  const poisoned = (end: "killed" | "stopped") =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(5)
      const poison = "file-1.bin"
      const storage = yield* ObjectStorage.ObjectStorage
      let deaths = 0
      const life = Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        return yield* Bulk.runChunk(job.id, 0)
      })
      const dying = Effect.gen(function*() {
        const died = yield* Effect.makeLatch()
        const process = new Life()
        const layer = Layer.succeed(ObjectStorage.ObjectStorage, {
          ...storage,
          put: (request) =>
            request.name === poison
              ? Effect.zipRight(
                Effect.suspend(() => {
                  if (end === "killed") process.die()
                  return died.open
                }),
                Effect.never
              )
              : storage.put(request)
        })
        return yield* Effect.raceFirst(
          // nobody waits for what a dead process would do at its end
          Effect.provide(life, Layer.provide(runner(client, {}, process), layer)).pipe(
            end === "killed" ? Effect.disconnect : identity
          ),
          Effect.as(died.await, "died")
        )
      })
      let answer = yield* dying
      while (answer === "died" && deaths < 10) {
        deaths += 1
        answer = yield* dying
      }
      return { answer, client, deaths, files, poison }
    })

  it.live("whose file ends its process is tried alone, and only that file is Crashed", () =>
    Effect.gen(function*() {
      const { answer, client, deaths, files, poison } = yield* poisoned("killed")
      assert.deepStrictEqual([answer, deaths], ["done", 4])
      yield* Effect.gen(function*() {
        const job = yield* Bulk.get("job")
        const failures = Chunk.toReadonlyArray(yield* Stream.runCollect(job.failures))
        assert.deepStrictEqual(failures.map(({ error, path }) => [path, error._tag]), [[poison, "Crashed"]])
        // its session is kept, for a retry, and ends with the job
        yield* job.cancel
        yield* job.forget
        yield* proof(files.filter(({ name }) => name !== poison))
      }).pipe(Effect.provide(runner(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("whose runners are stopped at the same file again and again fails no file", () =>
    Effect.gen(function*() {
      const { answer, client, deaths, files } = yield* poisoned("stopped")
      assert.deepStrictEqual([answer, deaths], ["died", 10])
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        assert.strictEqual(yield* Bulk.runChunk(job.id, 0), "done")
        assert.deepInclude(yield* job.status, { uploaded: 5, failed: 0 })
      }).pipe(Effect.provide(runner(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

describe("a database that does not answer", () => {
  it.effect("is told to who watches a job, after fifteen seconds", () =>
    Effect.gen(function*() {
      const client = yield* database
      yield* Effect.provide(Effect.asVoid(Bulk.submit("job", BulkSources.files("/", Stream.empty))), runner(client))
      const hanging = new Life()
      yield* Effect.gen(function*() {
        const job = yield* Bulk.get("job")
        hanging.state = "over"
        const failsInTime = <A, E extends { readonly _tag: string }, R>(asked: Effect.Effect<A, E, R>) =>
          Effect.gen(function*() {
            const waiting = yield* Effect.fork(Effect.flip(asked))
            yield* TestClock.adjust("15 seconds")
            assert.strictEqual((yield* Fiber.join(waiting))._tag, "SqlError")
          })
        yield* failsInTime(job.status)
        yield* failsInTime(Bulk.get("job"))
        yield* failsInTime(Bulk.names)
        yield* failsInTime(job.pause)
        yield* failsInTime(Stream.runDrain(job.failures))
      }).pipe(Effect.provide(Layer.provide(Bulk.layerClient, sql(client, hanging))))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

describe("a rate limit in the database", () => {
  it("has a name for each token of a service, which does not tell the token", () => {
    const name = (baseUrl: string, token: string) => BulkRateLimit.tokenName({ baseUrl, token: Redacted.make(token) })
    const one = name("https://api.example.com", "api.first")
    assert.match(one, /^[0-9a-f]{32}$/)
    assert.strictEqual(name("https://api.example.com/", "api.first"), one)
    assert.notStrictEqual(name("https://api.example.com", "api.second"), one)
    assert.notStrictEqual(name("https://eu.example.com", "api.first"), one)
  })

  it.live("is one for several processes, and what one has taken and not used is lost for one window only", () =>
    Effect.gen(function*() {
      const client = yield* database
      const options = { token: "t", limit: 10, window: "200 millis", slice: 4 } as const
      yield* Effect.gen(function*() {
        const gates = yield* Effect.replicateEffect(BulkRateLimit.make(options), 2)
        const [one, other] = gates
        if (one === undefined || other === undefined) return assert.fail("two gates")
        let passed = 0
        const call = (gate: typeof one) =>
          gate.pass(() => Effect.sync(() => passed += 1), { operation: "c", attempt: 1 })
        // a process that takes a slice, uses one call of it, and is never seen again
        yield* call(yield* BulkRateLimit.make(options))
        const fiber = yield* Effect.fork(
          Effect.forEach([one, other], (gate) => Effect.replicateEffect(call(gate), 10), { concurrency: 2 })
        )
        yield* Effect.sleep("100 millis")
        assert.isAtMost(passed, 7)
        yield* Fiber.join(fiber)
        assert.strictEqual(passed, 21)
        const database = yield* SqlClient
        const rows = yield* database<{ used: number }>`select used from bulk_rate`
        assert.strictEqual(Option.isSome(Option.fromNullable(rows[0])), true)
      }).pipe(Effect.provide(sql(client)))
    }).pipe(Effect.scoped))

  it.live("is used to 95 % by several processes, of which one dies, and a service that enforces it refuses nothing", () =>
    Effect.gen(function*() {
      const client = yield* database
      const [limit, window] = [100, 400]
      const windows: Array<number> = []
      let endsAt = 0
      let refused = 0
      const answered = Effect.map(Clock.currentTimeMillis, (now) => {
        if (now >= endsAt) {
          endsAt = now + window
          windows.push(0)
        }
        const calls = windows.pop() ?? 0
        if (calls === limit) refused += 1
        windows.push(Math.min(limit, calls + 1))
      })
      yield* Effect.gen(function*() {
        const gate = BulkRateLimit.make({ token: "t", limit, window: Duration.millis(window) })
        const call = ({ pass }: RateLimit.Service) => pass(() => answered, { operation: "c", attempt: 1 })
        const runners = yield* Effect.replicateEffect(gate, 3)
        const working = yield* Effect.fork(
          Effect.forEach(runners, (one) => Effect.forever(call(one)), { concurrency: 3, discard: true })
        )
        // in each window one more, which takes a slice, uses one call of it, and is never seen again
        const dying = yield* Effect.fork(
          Effect.forever(Effect.zipRight(Effect.flatMap(gate, call), Effect.sleep("700 millis")))
        )
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => windows.length === 4 })
        yield* Fiber.interruptAll([working, dying])
      }).pipe(Effect.provide(sql(client)))
      assert.strictEqual(refused, 0)
      for (const calls of windows.slice(0, 3)) assert.isAtLeast(calls, 0.95 * limit)
    }).pipe(Effect.scoped))
})

describe("a directory", () => {
  it.effect("has no file outside of its root", () =>
    Effect.gen(function*() {
      const service = yield* BulkSources.make({ directories: true })
      for (const path of ["../secret", "/etc/passwd", "a/../../secret"]) {
        const opened = yield* Effect.either(
          service.open({ job: "j", queue: "directory", location: "/tmp", path, mediaType: undefined })
        )
        assert.strictEqual(Either.isLeft(opened) && opened.left._tag, "InvalidSource")
      }
    }))
})
