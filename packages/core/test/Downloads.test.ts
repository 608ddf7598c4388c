import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  DownloadError,
  Downloads,
  HttpObjectStorage,
  ObjectStorage,
  PresignedUrl,
  RetryPolicy,
  ServiceApi,
  ServiceConfig,
  Timeouts
} from "@stevedore/core"
import {
  Chunk,
  Duration,
  Effect,
  Either,
  Exit,
  FastCheck as fc,
  Fiber,
  Layer,
  Option,
  Redacted,
  Stream,
  TestClock
} from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { unstalled } from "../src/base/fibers.js"
import * as StorageAttempt from "../src/storage/attempt.js"
import { assertSurvivesJson } from "./fixtures/encoding.js"
import * as FakeContent from "./fixtures/fakeContent.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"

const bytesOf = (size: number, seed = 31): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => (index * seed + (index >> 8)) % 251)

const collected = <E, R>(stream: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

const run = (options: FakeContent.Options, downloadOptions?: Downloads.Options) => {
  const { got, layer } = FakeContent.make(options)
  return collected(Downloads.stream("f1", downloadOptions)).pipe(
    Effect.either,
    Effect.map((result) => ({ result, got })),
    Effect.provide(layer)
  )
}

const assertBytes = (actual: Uint8Array, expected: Uint8Array) =>
  assert.isTrue(Buffer.from(actual).equals(Buffer.from(expected)), "the bytes are the file's")

const modes = ["content", "redirect", "link"] as const

const file = bytesOf(1000)

const wantedRange = fc.option(
  fc.record({
    offset: fc.double({ min: 0, max: 0.999, noNaN: true }),
    length: fc.option(fc.double({ min: 0, max: 1.5, noNaN: true }), { nil: undefined })
  }),
  { nil: undefined }
)

const history = fc.record({
  size: fc.integer({ min: 1, max: 400 }),
  range: wantedRange,
  mode: fc.constantFrom(...modes),
  ranges: fc.boolean(),
  conditions: fc.boolean(),
  mishaps: fc.array(
    fc.record({ kind: fc.constantFrom("cutAfter", "endAfter"), bytes: fc.integer({ min: 0, max: 200 }) }),
    { maxLength: 5 }
  )
})

describe("Downloads.stream", () => {
  it.effect.prop(
    "gives the range of the file byte for byte, or fails: for any cuts, with or without ranges and conditions",
    [history],
    ([{ conditions, mishaps, mode, range, ranges, size }]) =>
      Effect.gen(function*() {
        const bytes = bytesOf(size)
        const offset = Math.floor((range?.offset ?? 0) * size)
        const length = range?.length === undefined ? undefined : Math.max(1, Math.floor(range.length * size))
        const { result } = yield* run(
          {
            bytes,
            mode,
            ranges,
            conditions,
            mishaps: mishaps.map(({ bytes, kind }) => ({ [kind]: bytes }))
          },
          range === undefined ? {} : { range: { offset, length } }
        )
        if (result._tag === "Right") {
          assertBytes(result.right, bytes.subarray(offset, offset + (length ?? size)))
        } else {
          assert.include(["ConnectionFailed", "DownloadIncomplete"], result.left._tag)
          assert.isAtLeast(mishaps.length, 3)
        }
      }),
    { fastCheck: { numRuns: runs(40) } }
  )

  for (const mode of modes) {
    describe(`in ${mode} mode`, () => {
      it.effect("asks once for the whole file; the token goes to the service alone", () =>
        Effect.gen(function*() {
          const { got, result } = yield* run({ bytes: file, mode })
          assert(result._tag === "Right")
          assertBytes(result.right, file)
          assert.deepStrictEqual(got.map(({ peer }) => peer), mode === "content" ? ["service"] : ["service", "storage"])
          for (const { headers, peer } of got) {
            assert.strictEqual(headers["authorization"], peer === "service" ? "Bearer api.secret" : undefined)
            assert.strictEqual(headers["range"], undefined)
          }
        }))

      it.effect("goes on where it was cut, by range and etag, as often as it makes progress", () =>
        Effect.gen(function*() {
          const mishaps = [100, 1, 300, 7, 7, 7, 7].map((cutAfter) => ({ cutAfter }))
          const { got, result } = yield* run({ bytes: file, mode, mishaps })
          assert(result._tag === "Right")
          assertBytes(result.right, file)
          const asked = got.filter(({ peer }) => peer === (mode === "content" ? "service" : "storage"))
          assert.deepStrictEqual(
            asked.map(({ headers }) => [headers["range"], headers["if-match"]]),
            [
              [undefined, undefined],
              ...[100, 101, 401, 408, 415, 422, 429].map((start) => [`bytes=${start}-999`, "\"one\""])
            ]
          )
        }))

      it.effect("is SourceChanged when the file is another one by then", () =>
        Effect.gen(function*() {
          for (const conditions of [true, false]) {
            for (const ranges of [true, false]) {
              const { result } = yield* run({
                bytes: file,
                mode,
                conditions,
                ranges,
                mishaps: [{ cutAfter: 50 }, { replacedBy: { bytes: bytesOf(1000, 7), etag: "\"two\"" } }]
              })
              assert(result._tag === "Left" && result.left._tag === "SourceChanged")
              assert.strictEqual(result.left.transfer, "download")
              assert.match(result.left.message, /Download it again/)
            }
          }
        }))

      it.effect("skips what is there already when the server does not know ranges", () =>
        Effect.gen(function*() {
          const { result } = yield* run(
            { bytes: file, mode, ranges: false, mishaps: [{ cutAfter: 333 }] },
            { range: { offset: 10, length: 700 } }
          )
          assert(result._tag === "Right")
          assertBytes(result.right, file.subarray(10, 710))
        }))
    })
  }

  it.effect("gives up after as many cuts without progress as the policy allows, with their number and what is known", () =>
    Effect.gen(function*() {
      const { got, result } = yield* run({
        bytes: file,
        mishaps: Array.from({ length: 9 }, () => ({ cutAfter: 0, hint: "cors" as const }))
      })
      assert(result._tag === "Left")
      assert.deepInclude(result.left, { _tag: "ConnectionFailed", attempts: 3, code: "ECONNRESET", hint: "cors" })
      assert.strictEqual(got.length, 3)
      const short = yield* run({ bytes: file, mishaps: Array.from({ length: 9 }, () => ({ endAfter: 0 })) })
      assert(short.result._tag === "Left")
      assert.deepInclude(short.result.left, { _tag: "DownloadIncomplete", attempts: 3, expected: 1000, received: 0 })
      assert.strictEqual(short.got.length, 3)
    }))

  it.effect("is twice as patient once bytes have come, for then the connection is what fails", () =>
    Effect.gen(function*() {
      const mishaps = (
        nothing: number
      ) => [{ cutAfter: 333 }, ...Array.from({ length: nothing }, () => ({ cutAfter: 0 }))]
      const whole = yield* run({ bytes: file, mishaps: mishaps(4) })
      assert(whole.result._tag === "Right")
      assertBytes(whole.result.right, file)
      const unavailable = yield* run({
        bytes: file,
        mishaps: [{ cutAfter: 333 }, ...Array.from({ length: 4 }, () => ({ status: 503 }))]
      })
      assert.strictEqual(unavailable.result._tag, "Right")
      const broken = yield* run({ bytes: file, mishaps: mishaps(9) })
      assert(broken.result._tag === "Left")
      assert.deepStrictEqual([broken.result.left.attempts, broken.got.length], [6, 6])
    }))

  it.effect("is not taken up again without a proof that the rest is of the same file", () =>
    Effect.gen(function*() {
      for (const etag of [undefined, "W/\"weak\""]) {
        const cut = yield* run({ bytes: file, etag, mishaps: [{ cutAfter: 10 }] })
        assert(cut.result._tag === "Left" && cut.result.left._tag === "ConnectionFailed")
        const short = yield* run({ bytes: file, etag, mishaps: [{ endAfter: 10 }] })
        assert(short.result._tag === "Left" && short.result.left._tag === "DownloadIncomplete")
        assert.deepStrictEqual([short.result.left.expected, short.result.left.received], [1000, 10])
        const untouched = yield* run({ bytes: file, etag, mishaps: [{ cutAfter: 0 }] })
        assert.strictEqual(untouched.result._tag, "Right")
      }
    }))

  it.effect("is not taken up again when the caller or the policy does not want it", () =>
    Effect.gen(function*() {
      const { result } = yield* run({ bytes: file, mishaps: [{ cutAfter: 10 }] }, { resume: false })
      assert.strictEqual(result._tag, "Left")
      const { got, layer } = FakeContent.make({ bytes: file, mishaps: [{ cutAfter: 10 }] })
      const once = yield* collected(Downloads.stream("f1")).pipe(
        Effect.provide(RetryPolicy.none),
        Effect.flip,
        Effect.provide(layer)
      )
      assert.strictEqual(once._tag, "ConnectionFailed")
      assert.strictEqual(got.length, 1)
    }))

  it.effect("does not ask for links for ever when each is dead", () =>
    Effect.gen(function*() {
      const mishaps = Array.from(
        { length: 50 },
        () => ({ status: 403, body: "<Error><Code>ExpiredToken</Code></Error>" })
      )
      const { got, result } = yield* run({ bytes: file, mode: "link", mishaps })
      assert(result._tag === "Left" && result.left._tag === "UrlExpired")
      assert.strictEqual(got.length, 6)
    }))

  it.effect("repeats what storage could not do for now, and nothing that stays as it is", () =>
    Effect.gen(function*() {
      const passing = yield* run({ bytes: file, mode: "link", mishaps: [{ status: 503 }, { status: 500 }] })
      assert.strictEqual(passing.result._tag, "Right")
      const gone = yield* run({ bytes: file, mode: "link", mishaps: [{ status: 404 }] })
      assert(gone.result._tag === "Left" && gone.result.left._tag === "StorageRejected")
      assert.strictEqual(gone.got.length, 2)
    }))

  it.effect("refuses ranges that are none, before a request, and ranges behind the end", () =>
    Effect.gen(function*() {
      for (
        const range of [{ offset: -1 }, { offset: 0.5 }, { offset: 0, length: 0 }, { offset: 0, length: 1.5 }, {
          offset: NaN
        }]
      ) {
        const { got, result } = yield* run({ bytes: file }, { range })
        assert(result._tag === "Left" && result.left._tag === "InvalidRange")
        assert.strictEqual(got.length, 0)
      }
      for (const mode of modes) {
        for (const ranges of [true, false]) {
          const { result } = yield* run({ bytes: file, mode, ranges }, { range: { offset: 1000 } })
          assert(result._tag === "Left" && result.left._tag === "InvalidRange")
        }
      }
    }))

  it.effect("is TimedOut when no bytes come for the time that stalls are allowed, and goes on from there", () =>
    Effect.gen(function*() {
      const { got, layer } = FakeContent.make({ bytes: file, mishaps: [{ stallAfter: 50 }, { stallAfter: 50 }] })
      const fiber = yield* Effect.fork(
        collected(Downloads.stream("f1")).pipe(Timeouts.with({ stall: "10 seconds" }), Effect.provide(layer))
      )
      for (let step = 0; step < 8; step++) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        yield* TestClock.adjust("5 seconds")
      }
      assertBytes(yield* Fiber.join(fiber), file)
      assert.deepStrictEqual(got.map(({ headers }) => headers["range"]), [undefined, "bytes=50-999", "bytes=100-999"])
    }))

  it.effect("is TimedOut when storage does not answer, also where nothing may be interrupted", () =>
    Effect.gen(function*() {
      const { layer } = FakeContent.make({ bytes: file, mode: "link" })
      const silent = Layer.merge(layer, ObjectStorage.layerNoop({ get: () => Effect.never }))
      const once = Effect.flip(collected(Downloads.stream("f1"))).pipe(Effect.provide(RetryPolicy.none))
      const fiber = yield* Effect.forkDaemon(Effect.provide(Effect.uninterruptible(once), silent))
      yield* TestClock.adjust("1 hour")
      const error = yield* Effect.map(Fiber.poll(fiber), Option.map(Exit.getOrElse(() => undefined)))
      assert.deepInclude(Option.getOrThrow(error), { _tag: "TimedOut", peer: "storage", phase: "answer" })
    }))
})

describe("Downloads.open", () => {
  it.effect("gives sections of one file by one link, with what is known of it", () =>
    Effect.gen(function*() {
      const { got, layer } = FakeContent.make({ bytes: file, mode: "link" })
      yield* Effect.gen(function*() {
        const download = yield* Downloads.open("f1")
        assert.strictEqual(got.length, 0)
        const first = yield* download.section({ range: { offset: 0, length: 400 } })
        assert.deepStrictEqual([first.offset, first.ranged, first.peer], [0, true, "storage"])
        assert.deepStrictEqual(first.length, Option.some(400))
        assert.deepStrictEqual(first.totalLength, Option.some(1000))
        assert.deepStrictEqual(first.etag, Option.some("\"one\""))
        const rest = yield* download.section({ range: { offset: 400 }, etag: "\"one\"" })
        assert.deepStrictEqual(rest.length, Option.some(600))
        const sections = yield* Effect.all([collected(first.bytes), collected(rest.bytes)], { concurrency: 2 })
        assertBytes(Buffer.concat(sections), file)
        const other = yield* Effect.flip(download.section({ range: { offset: 400 }, etag: "\"other\"" }))
        assert.strictEqual(other._tag, "SourceChanged")
      }).pipe(Effect.scoped, Effect.provide(layer))
      assert.strictEqual(got.filter(({ peer }) => peer === "service").length, 1)
    }))
})

describe("a section that takes the whole", () => {
  for (const mode of modes) {
    it.effect(`hands the same bytes to a sink, over cuts, and ends with what the sink fails with, in ${mode} mode`, () =>
      Effect.gen(function*() {
        const { layer } = FakeContent.make({ bytes: file, mode, mishaps: [{ cutAfter: 300 }, { endAfter: 200 }] })
        const drained = (sink: (chunk: Uint8Array) => Effect.Effect<void, "full">) =>
          Effect.scoped(Effect.gen(function*() {
            const download = yield* Downloads.open("f1")
            const section = yield* download.section()
            yield* section.drain(sink)
          })).pipe(Effect.provide(layer))
        const got: Array<Uint8Array> = []
        yield* drained((chunk) => Effect.sync(() => void got.push(chunk.slice())))
        assertBytes(Buffer.concat(got), file)
        assert.strictEqual(yield* Effect.flip(drained(() => Effect.fail("full"))), "full")
      }))
  }

  it.effect("has all bytes where there are no ranges, and its range where there are", () =>
    Effect.gen(function*() {
      for (const ranges of [true, false]) {
        const { layer } = FakeContent.make({ bytes: file, ranges, mishaps: [{ cutAfter: 5 }] })
        yield* Effect.gen(function*() {
          const download = yield* Downloads.open("f1")
          const section = yield* download.section({ range: { offset: 0, length: 10 }, orWhole: true })
          const expected = ranges ? 10 : 1000
          assert.deepStrictEqual(section.length, Option.some(expected))
          assertBytes(yield* collected(section.bytes), file.subarray(0, expected))
        }).pipe(Effect.scoped, Effect.provide(layer))
      }
    }))
})

describe("DownloadError", () => {
  it("survives JSON", () => {
    assertSurvivesJson(
      DownloadError.DownloadError,
      new DownloadError.DownloadIncomplete({ fileId: "f1", expected: 10, received: 3, attempts: 2 })
    )
    assertSurvivesJson(DownloadError.DownloadError, new DownloadError.InvalidRange({ fileId: "f1", offset: -1 }))
  })
})

describe("a download of a file whose size is known", () => {
  it.effect.each(modes)("ends at the first byte beyond it, in %s mode", (mode) =>
    Effect.gen(function*() {
      for (const range of [undefined, { offset: 10 }]) {
        const { got, layer } = FakeContent.make({ bytes: file, mode, etag: undefined })
        let received = 0
        const error = yield* Downloads.stream("f1", { size: 100, range }).pipe(
          Stream.runForEach((bytes) => Effect.sync(() => received += bytes.byteLength)),
          Effect.flip,
          Effect.provide(layer)
        )
        assert.include({ ...error }, { _tag: "DownloadIncomplete", expected: 100 - (range?.offset ?? 0) })
        assert.isAtMost(received, 100)
        assert.isAtMost(got.length, 2)
      }
    }))

  it.effect("is as any other if it has that size", () =>
    Effect.gen(function*() {
      const { result } = yield* run({ bytes: file }, { size: file.byteLength })
      assertBytes(Either.getOrThrow(result), file)
    }))
})

const coding = "the content coding gzip, which was not asked for"

const url = Option.getOrThrow(PresignedUrl.fromString("https://storage.test/key?X-Amz-Signature=1"))

const coded = Layer.merge(
  ServiceApi.layerNoop({ download: () => Effect.succeed({ _tag: "Link", url }) }),
  ObjectStorage.layerNoop({
    get: () =>
      Effect.succeed({
        partial: false,
        start: 0,
        length: Option.some(5),
        totalLength: Option.some(5),
        etag: Option.none(),
        checksums: {},
        coding,
        bytes: Stream.make(new TextEncoder().encode("coded"))
      })
  })
)

describe("a download in a content coding", () => {
  it.effect.each([undefined, 5])("is as it is stored, if its size (%s) says nothing else", (size) =>
    Effect.map(
      Effect.provide(collected(Downloads.stream("f1", { size })), coded),
      (bytes) => assert.strictEqual(bytes.toString(), "coded")
    ))

  it.effect("of another size was put into it on the way: the error names it, and no byte is taken for the file's", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.provide(collected(Downloads.stream("f1", { size: 9 })), coded))
      assert.include({ ...error }, { _tag: "InvalidResponse", path: "Content-Encoding", problem: coding })
    }))
})

describe("a download that drips", () => {
  it.effect("has stalled if it brings less than a thousand bytes in that time, and ends", () =>
    inVirtualTime(Effect.scoped(Effect.gen(function*() {
      let received = 0
      const pull = Effect.zipRight(Effect.sleep(100), Effect.succeed(Uint8Array.of(1)))
      const steady = yield* unstalled(pull, Duration.seconds(60), () => "stalled", ({ byteLength }) => byteLength)
      const end = yield* Effect.flip(Effect.forever(Effect.map(steady, () => received++)))
      assert.deepStrictEqual(end, Option.some("stalled"))
      assert.isAtMost(received, 620)
    }))))
})

const follow = (locations: ReadonlyArray<string | undefined>) => {
  const asked: Array<{ readonly href: string; readonly authorization: string | undefined }> = []
  const client = HttpClient.make((request, url) =>
    Effect.sync(() => {
      const location = locations[asked.length]
      asked.push({ href: url.href, authorization: request.headers["authorization"] })
      return HttpClientResponse.fromWeb(
        request,
        location === undefined ? new Response("hi") : new Response(null, { status: 302, headers: { location } })
      )
    })
  )
  const config = ServiceConfig.layer({ baseUrl: "https://service.test/api", token: Redacted.make("api.secret") })
  return Effect.map(
    Effect.either(collected(Downloads.stream("f1"))),
    (result) => ({ result, asked })
  ).pipe(
    Effect.provide(
      Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
        Layer.provideMerge(Layer.merge(Layer.orDie(config), Layer.succeed(HttpClient.HttpClient, client))),
        Layer.provideMerge(RetryPolicy.none)
      )
    )
  )
}

const onward = (index: number) => `https://cdn.test/${index}`

describe("a download that is redirected", () => {
  it.effect("several times is followed, relative and to other origins, and the token goes to the service alone", () =>
    Effect.gen(function*() {
      const { asked, result } = yield* follow([
        "/cdn/1?a='",
        "https://cdn.test/a?X-Amz-Signature=1",
        "//other.test/b",
        "c?d",
        "https://storage.test/e?X-Amz-Signature=2",
        undefined
      ])
      assertBytes(Either.getOrThrow(result), Buffer.from("hi"))
      assert.deepStrictEqual(asked.map(({ href }) => href).slice(1), [
        "https://service.test/cdn/1?a=%27",
        "https://cdn.test/a?X-Amz-Signature=1",
        "https://other.test/b",
        "https://other.test/c?d",
        "https://storage.test/e?X-Amz-Signature=2"
      ])
      assert.deepStrictEqual(asked.map(({ authorization }) => authorization !== undefined), [
        true,
        false,
        false,
        false,
        false,
        false
      ])
    }))

  it.effect("as often as it may be is followed, and once more is not", () =>
    Effect.gen(function*() {
      const most = Array.from({ length: StorageAttempt.mostRedirects + 1 }, (_, index) => onward(index))
      assert.isTrue(Either.isRight((yield* follow(most)).result))
      const { asked, result } = yield* follow([...most, onward(99)])
      assert.include(Either.isLeft(result) ? { ...result.left } : {}, { _tag: "StorageRejected", status: 302 })
      assert.lengthOf(asked, most.length + 1)
    }))

  it.effect.each<readonly [what: string, locations: ReadonlyArray<string>, requests: number]>([
    ["back to itself", [onward(1), onward(1)], 2],
    ["in a circle", [onward(1), onward(2), onward(1)], 3],
    ["from https to http", [onward(1), "http://cdn.test/2"], 2],
    ["to what is no URL", [onward(1), "ftp://cdn.test/2"], 2]
  ])("%s is not followed", ([_, locations, requests]) =>
    Effect.gen(function*() {
      const { asked, result } = yield* follow(locations)
      assert.include(Either.isLeft(result) ? { ...result.left } : {}, { _tag: "StorageRejected", status: 302 })
      assert.lengthOf(asked, requests)
    }))
})
