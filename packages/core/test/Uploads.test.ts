import { assert, describe, it } from "@effect/vitest"
import {
  Checksum,
  ObjectStorage,
  RetryPolicy,
  UploadError,
  UploadLedger,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { FaultScript, Recorder, Sandbox } from "@stevedore/testing"
import { Cause, Chunk, Clock, Duration, Effect, Exit, Fiber, Layer, Option, Schema, Stream, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { recognizable } from "./fixtures/ledgers.js"
import { bytes, inTime, requestsOf, sourceOf, tiny } from "./fixtures/uploads.js"

const isUploadError = Schema.is(UploadError.UploadError)

/** The most PUTs that were in flight at once. */
const countingStorage = (seen: { most: number }) =>
  Layer.effect(
    ObjectStorage.ObjectStorage,
    Effect.map(ObjectStorage.ObjectStorage, (storage) => {
      let inFlight = 0
      return {
        ...storage,
        put: (request) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              inFlight += 1
              seen.most = Math.max(seen.most, inFlight)
            }),
            () => Effect.zipRight(Effect.sleep("1 second"), storage.put(request)),
            () => Effect.sync(() => inFlight -= 1)
          )
      }
    })
  )

/** A storage whose disk turns a bit of every part. */
const damagingStorage = <A, E, R>(layer: Layer.Layer<A | ObjectStorage.ObjectStorage, E, R>) =>
  Layer.merge(
    layer,
    Layer.effect(
      ObjectStorage.ObjectStorage,
      Effect.map(ObjectStorage.ObjectStorage, (storage): ObjectStorage.Service => ({
        ...storage,
        put: (request) =>
          storage.put({
            ...request,
            section: {
              ...request.section,
              body: (observe) =>
                Effect.map(request.section.body(observe), (body) =>
                  body._tag === "BytesBody"
                    ? { _tag: "BytesBody", bytes: body.bytes.map((byte, index) => index === 0 ? byte ^ 1 : byte) }
                    : body)
            }
          })
      }))
    ).pipe(Layer.provide(layer))
  )

const putsInFlight = Effect.map(
  Sandbox.report,
  ({ requests }) => requests.filter((request) => request.outcome === "open").length
)

const verified = Uploads.upload(sourceOf(200), { strategy: "multipart" }).pipe(Uploads.readBack(sourceOf(200)))

describe("Uploads", () => {
  describe("upload", () => {
    it.effect("works when the test clock stands at a fraction of a millisecond, as after a jittered schedule", () =>
      Effect.gen(function*() {
        yield* TestClock.adjust(Duration.millis(1.1))
        const file = yield* Uploads.upload(sourceOf(95), { strategy: "multipart" })
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      }).pipe(Effect.provide(tiny())))

    it.effect("a small file is uploaded in one PUT, byte for byte", () =>
      Effect.gen(function*() {
        const file = yield* Uploads.upload(sourceOf(1000))
        assert.strictEqual(file.name, "interview.mp4")
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(1000))
        assert.deepStrictEqual(file.sent, {
          bytes: 1000,
          parts: 1,
          sessions: 1,
          checksum: { algorithm: "crc32", value: "tAOEHw==" },
          proof: "unproven"
        })
        assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
      }).pipe(Effect.provide(tiny())))

    it.effect.prop(
      "whatever the size and the number of parts, storage ends up with the source",
      { size: Schema.Int.pipe(Schema.between(1, 200)), concurrency: Schema.Int.pipe(Schema.between(1, 32)) },
      ({ concurrency, size }) =>
        Effect.gen(function*() {
          const file = yield* Uploads.upload(sourceOf(size), { strategy: "multipart", concurrency })
          assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(size))
          assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
        }).pipe(Effect.provide(tiny())),
      { fastCheck: { numRuns: runs(15) } }
    )

    it.effect("a stream that can be read only once is uploaded in parts, byte for byte", () =>
      Effect.gen(function*() {
        const chunks = Stream.fromIterable(bytes(95)).pipe(Stream.map((byte) => Uint8Array.of(byte)))
        const source = UploadSources.fromStreamOnce("s.bin", chunks, { size: 95 })
        const file = yield* Uploads.upload(source, { strategy: "multipart" })
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      }).pipe(Effect.provide(tiny())))

    it.effect("a stream that produces fewer bytes than declared is SourceChanged, and Complete is not sent", () =>
      Effect.gen(function*() {
        const source = UploadSources.fromStream("s.bin", Stream.succeed(bytes(50)), { size: 95 })
        const error = yield* Effect.flip(Uploads.upload(source, { strategy: "multipart" }))
        assert.strictEqual(error._tag, "SourceChanged")
        assert.lengthOf(requestsOf(yield* Sandbox.report, "completeLarge"), 0)
      }).pipe(Effect.provide(tiny())))

    it.effect("no more parts are in flight than the concurrency allows", () => {
      const seen = { most: 0 }
      return Effect.gen(function*() {
        yield* inTime(Uploads.upload(sourceOf(200), { strategy: "multipart", concurrency: 3 }))
        assert.strictEqual(seen.most, 3)
      }).pipe(Effect.provide(Layer.provideMerge(countingStorage(seen), tiny())))
    })

    it.effect("no more parts are in flight than the gate allows, over all files", () => {
      const seen = { most: 0 }
      return Effect.gen(function*() {
        yield* inTime(Effect.all(
          [1, 2, 3].map((n) => Uploads.upload(sourceOf(100, `${n}.mp4`), { strategy: "multipart" })),
          { concurrency: "unbounded" }
        ))
        assert.strictEqual(seen.most, 5)
      }).pipe(Effect.provide(Layer.provideMerge(countingStorage(seen), tiny({ limit: 5 }))))
    })

    it.effect.each([
      { what: "an empty source", source: sourceOf(0), options: {}, tag: "EmptySource" },
      { what: "too many parts", source: sourceOf(95), options: { parts: 10_001 }, tag: "InvalidPartCount" },
      { what: "parts below the least size", source: sourceOf(95), options: { parts: 11 }, tag: "InvalidPartCount" },
      { what: "a concurrency of 0", source: sourceOf(95), options: { concurrency: 0 }, tag: "InvalidUploadOption" },
      { what: "a concurrency of 33", source: sourceOf(95), options: { concurrency: 33 }, tag: "InvalidUploadOption" },
      {
        what: "a threshold that is no number",
        source: sourceOf(95),
        options: { threshold: Number.NaN },
        tag: "InvalidUploadOption"
      },
      { what: "a threshold below 0", source: sourceOf(95), options: { threshold: -1 }, tag: "InvalidUploadOption" },
      { what: "no session", source: sourceOf(95), options: { maxSessions: 0 }, tag: "InvalidUploadOption" },
      ...["strategy", "verify", "onImpossible"].map((option) => ({
        what: `a word nobody knows for ${option}`,
        source: sourceOf(95),
        options: Object.fromEntries<never>(JSON.parse(`[["${option}", "al"]]`)),
        tag: "InvalidUploadOption"
      })),
      { what: "a long name", source: sourceOf(95, "n".repeat(1025)), options: {}, tag: "InvalidSource" },
      { what: "no name", source: sourceOf(95, ""), options: {}, tag: "InvalidSource" },
      {
        what: "a date of change that no record can hold",
        source: recognizable(bytes(95), { fingerprint: { modified: Number.NaN } }),
        options: {},
        tag: "InvalidSource"
      },
      {
        what: "a source of no kind",
        source: recognizable(bytes(95), { fingerprint: { kind: "" } }),
        options: {},
        tag: "InvalidSource"
      }
    ])("$what is refused before any request", ({ options, source, tag }) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Uploads.upload(source, options))
        assert.strictEqual(error._tag, tag)
        assert.strictEqual(error.attempts, 0)
        assert.lengthOf((yield* Sandbox.report).requests, 0)
      }).pipe(Effect.provide(tiny())))

    it.effect.each(
      [
        { size: 10_000_000_001, strategy: "auto", limit: 10_000_000_000, path: "multipart" },
        { size: 10_000_000_001, strategy: "multipart", limit: 10_000_000_000, path: "multipart" },
        { size: 5_000_000_001, strategy: "single", limit: 5_000_000_000, path: "single" }
      ] as const
    )(
      "$size bytes by $strategy exceed $limit, known before any request",
      ({ limit, path, size, strategy }) =>
        Effect.gen(function*() {
          const source = UploadSources.fromStream("big.bin", Stream.never, { size })
          const error = yield* Effect.flip(Uploads.upload(source, { strategy }))
          assert.strictEqual(error._tag, "SizeExceeded")
          if (error._tag === "SizeExceeded") {
            assert.deepStrictEqual([error.size, error.limit, error.path], [size, limit, path])
          }
          assert.lengthOf((yield* Sandbox.report).requests, 0)
        }).pipe(Effect.provide(tiny()))
    )

    it.effect("interruption stops every request at once, and nothing is completed", () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(Uploads.upload(sourceOf(95), { strategy: "multipart" }))
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(fiber)
        const { requests } = yield* Sandbox.report
        const puts = requests.filter((request) => request.operation === "putPart")
        assert.deepStrictEqual(puts.map((request) => request.outcome), Array.from({ length: 6 }, () => "aborted"))
        assert.isTrue(requests.every((request) => request.outcome !== "open"))
      }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").always().stall("answer") }))))

    it.effect("ends just as soon in an uninterruptible region", () =>
      Effect.gen(function*() {
        const ended = Effect.zipRight(Uploads.upload(sourceOf(95), { strategy: "multipart" }), Clock.currentTimeMillis)
        assert.strictEqual(yield* inTime(Effect.uninterruptible(ended)), 0)
      }).pipe(Effect.provide(tiny())))

    it.effect("fails also in an uninterruptible region, while parts of a stream wait for memory", () =>
      Effect.gen(function*() {
        const source = UploadSources.fromStream("s.bin", Stream.succeed(bytes(95)), { size: 95 })
        const error = yield* inTime(Effect.uninterruptible(Effect.flip(Uploads.upload(source, { parts: 10 }))))
        assert.strictEqual(error._tag, "StorageForbidden")
      }).pipe(Effect.provide(tiny({
        maxBufferedBytes: 20,
        faults: FaultScript.on("putPart").part(1).answer(403, "AccessDenied")
      }))))

    it.effect("stops the other parts also in an uninterruptible region once one has failed for good", () =>
      Effect.gen(function*() {
        const failed = Effect.flip(Uploads.upload(sourceOf(95), { parts: 10 }))
        const ended = Effect.zipRight(failed, Clock.currentTimeMillis)
        assert.strictEqual(yield* inTime(Effect.uninterruptible(ended)), 0)
        assert.isTrue((yield* Sandbox.report).requests.every((request) => request.outcome !== "open"))
      }).pipe(Effect.provide(tiny({
        faults: FaultScript.on("putPart").part(1).answer(403, "AccessDenied")
          .and(FaultScript.on("putPart").always().stall("answer"))
      }))))

    it.effect("interruption takes effect at once during a back-off", () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(Uploads.upload(sourceOf(95)))
        yield* TestClock.adjust("1 millis")
        yield* Fiber.interrupt(fiber)
        const seen = (yield* Sandbox.report).requests.length
        yield* TestClock.adjust("1 hour")
        assert.lengthOf((yield* Sandbox.report).requests, seen)
      }).pipe(Effect.provide(
        tiny({ backOff: true, faults: FaultScript.on("putSingle").always().answer(503) }).pipe(
          Layer.provide(RetryPolicy.layer({ base: "1 minute", cap: "1 hour" }))
        )
      )))
  })

  describe("start", () => {
    it.effect("cancel stops every request and ends the progress", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart" })
        yield* TestClock.adjust("1 second")
        yield* handle.cancel
        assert.strictEqual((yield* handle.progress.get).phase, "cancelled")
        assert.isTrue((yield* Sandbox.report).requests.every((request) => request.outcome !== "open"))
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ faults: FaultScript.on("putPart").always().stall("body") }))
      ))

    it.effect("a failure belongs to whoever awaits it: the log does not call it unhandled", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200))
        assert.strictEqual((yield* inTime(Effect.flip(handle.await)))._tag, "StorageForbidden")
        assert.deepStrictEqual((yield* Recorder.logs).filter(({ message }) => message.includes("unhandled")), [])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(
          tiny({ faults: FaultScript.on("put").always().answer(403, "AccessDenied") }),
          Recorder.layer
        ))
      ))

    it.effect("an upload started in an uninterruptible region is still cancelled at once", () =>
      Effect.gen(function*() {
        const asked = yield* Effect.acquireUseRelease(
          Uploads.start(sourceOf(200), { strategy: "multipart" }),
          () => Effect.zipRight(TestClock.adjust("1 second"), Sandbox.report),
          (handle) => handle.cancel
        )
        const after = yield* Sandbox.report
        assert.lengthOf(after.requests, asked.requests.length)
        assert.isTrue(after.requests.every((request) => request.outcome !== "open"))
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ faults: FaultScript.on("putPart").always().stall("body") }))
      ))

    it.effect("an upload cancelled before its first step ends its progress and its events too", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200))
        yield* handle.cancel
        const phases = yield* Stream.runCollect(Stream.map(handle.progress.changes, ({ phase }) => phase))
        const events = yield* Stream.runCollect(Stream.map(handle.events, ({ _tag }) => _tag))
        assert.deepStrictEqual([Chunk.toReadonlyArray(phases), Chunk.toReadonlyArray(events)], [
          ["cancelled"],
          ["Cancelled"]
        ])
      }).pipe(Effect.scoped, Effect.provide(tiny())))

    it.effect.each([1, 20])(
      "an upload that dies of a defect at byte %d ends its events with that defect, as failed",
      (at) =>
        Effect.gen(function*() {
          const source = sourceOf(30)
          const broken: UploadSource = {
            ...source,
            open: Effect.map(source.open, (opened) => ({
              ...opened,
              section: (range) =>
                range.offset + range.length > at ? Effect.die("a bug of the source") : opened.section(range)
            }))
          }
          const handle = yield* Uploads.start(broken, { strategy: "multipart", concurrency: 1 })
          const seen: Array<string> = []
          const watching = yield* Effect.fork(
            Effect.exit(Stream.runForEach(handle.events, ({ _tag }) => Effect.sync(() => seen.push(_tag))))
          )
          const exit = yield* Effect.exit(inTime(handle.await))
          const defectsOf = (exit: Exit.Exit<unknown, unknown>) =>
            Exit.isFailure(exit) ? [...Cause.defects(exit.cause)].map(String) : []
          assert.deepStrictEqual(defectsOf(exit), ["a bug of the source"])
          // whoever was watching, and whoever looks later
          for (const watched of [yield* Fiber.join(watching), yield* Effect.exit(Stream.runDrain(handle.events))]) {
            assert.deepStrictEqual(defectsOf(watched), defectsOf(exit))
          }
          assert.strictEqual(seen[0], "SessionOpened")
          assert.notInclude(seen, "Cancelled")
          const phases = yield* Stream.runCollect(Stream.map(handle.progress.changes, ({ phase }) => phase))
          assert.deepStrictEqual(Chunk.toReadonlyArray(phases), ["failed"])
        }).pipe(Effect.scoped, Effect.provide(tiny()))
    )

    it.effect.each([0, 5, 15, 25, 35])(
      "an uninterruptible upload is not interrupted after %d seconds of opening, sending and completing",
      (seconds) =>
        Effect.gen(function*() {
          const inTwoRounds = Uploads.upload(sourceOf(30), { strategy: "multipart", concurrency: 2, parts: 3 })
          const fiber = yield* Effect.fork(Effect.uninterruptible(inTwoRounds))
          yield* Effect.yieldNow()
          yield* TestClock.adjust(Duration.seconds(seconds))
          const exit = yield* Effect.fork(Fiber.interrupt(fiber))
          yield* inTime(Fiber.await(fiber))
          yield* Fiber.await(exit)
          assert.lengthOf(yield* Sandbox.files, 1)
        }).pipe(Effect.provide(tiny({
          faults: FaultScript.all((["initiate", "putPart", "complete"] as const).map((target) =>
            FaultScript.on(target).always().delay("10 seconds")
          ))
        })))
    )
  })

  describe("pause", () => {
    it.effect("leaves nothing in flight, and resume ends with the same bytes without counting an attempt", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart", concurrency: 4 })
        yield* TestClock.adjust("1500 millis")
        yield* handle.pause
        // a part that is nearly through may end
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* putsInFlight, 0)
        const paused = yield* handle.progress.get
        assert.strictEqual(paused.phase, "paused")
        const seen = (yield* Sandbox.report).requests.length
        yield* TestClock.adjust("1 hour")
        assert.lengthOf((yield* Sandbox.report).requests, seen)
        yield* handle.resume
        const file = yield* inTime(handle.await)
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(200))
        assert.strictEqual((yield* handle.progress.get).sessions, 1)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          tiny({ faults: FaultScript.on("putPart").always().delay("1 second") }).pipe(Layer.provide(RetryPolicy.none))
        )
      ))

    it.effect("lets go of a part that does not move, although it seemed nearly through and the pause is over", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart", concurrency: 4 })
        yield* TestClock.adjust("1 second")
        yield* handle.pause
        yield* TestClock.adjust("1 second")
        yield* handle.resume
        yield* TestClock.adjust("10 seconds")
        const file = yield* handle.await
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(200))
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ faults: FaultScript.on("putPart").part(2).stall("body", { afterBytes: 9 }) }))
      ))

    it.effect("just when the last part is stored keeps Complete back until it is resumed", () =>
      Effect.gen(function*() {
        let pause = Effect.void
        const handle = yield* Uploads.start(recognizable(bytes(20)), { strategy: "multipart" }).pipe(
          Effect.provideService(UploadLedger.UploadLedger, {
            ...yield* UploadLedger.UploadLedger,
            receive: () => Effect.suspend(() => pause)
          })
        )
        pause = handle.pause
        const completions = Effect.map(Sandbox.report, (report) => requestsOf(report, "completeLarge").length)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual([(yield* handle.progress.get).phase, yield* completions], ["paused", 0])
        yield* handle.resume
        yield* inTime(handle.await)
        assert.strictEqual(yield* completions, 1)
      }).pipe(Effect.scoped, Effect.provide(tiny())))

    it.effect("longer than the URLs live leads to a new session with the same bytes", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart", concurrency: 4 })
        yield* TestClock.adjust("1500 millis")
        yield* handle.pause
        yield* TestClock.adjust("4 hours")
        yield* handle.resume
        const file = yield* inTime(handle.await)
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(200))
        assert.strictEqual((yield* handle.progress.get).sessions, 2)
        const ended = Chunk.toReadonlyArray(yield* Stream.runCollect(handle.events))
          .flatMap((event) => event._tag === "SessionEnded" ? [event] : [])
        assert.deepStrictEqual(ended, [{ _tag: "SessionEnded", session: 1, because: "UrlExpired", lost: 80 }])
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ faults: FaultScript.on("putPart").always().delay("1 second") }))
      ))
  })

  describe("events", () => {
    it.effect("report what happens, part by part, and end with the file", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(20), { strategy: "multipart", concurrency: 1 })
        const file = yield* inTime(handle.await)
        const events = Chunk.toReadonlyArray(yield* Stream.runCollect(handle.events))
        assert.deepStrictEqual(
          events.map((event) => "part" in event ? `${event._tag} ${event.part}` : event._tag),
          [
            "SessionOpened",
            "PartStarted 1",
            "PartFailed 1",
            "PartStarted 1",
            "PartStored 1",
            "PartStarted 2",
            "PartStored 2",
            "Completing",
            "Completed"
          ]
        )
        const last = events.at(-1)
        assert.strictEqual(last?._tag === "Completed" ? last.file.id : undefined, file.id)
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ backOff: true, faults: FaultScript.on("putPart").answer(503) }))
      ))
  })

  describe("readBack", () => {
    it.effect.each([["with", Layer.empty], ["without", Checksum.none]] as const)(
      "reads the file back, and accepts identical bytes, %s checksums of what was sent",
      ([, checksums]) =>
        Effect.gen(function*() {
          const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart" })
          const file = yield* inTime(handle.await.pipe(Uploads.readBack(sourceOf(200))))
          assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(200))
          assert.lengthOf(requestsOf(yield* Sandbox.report, "download"), 1)
        }).pipe(Effect.scoped, Effect.provide([tiny(), checksums]))
    )

    it.effect.each([["with", Layer.empty], ["without", Checksum.none]] as const)(
      "detects bytes that storage damaged, %s checksums of what was sent",
      ([, checksums]) =>
        Effect.gen(function*() {
          const error = yield* inTime(Effect.flip(verified))
          assert.strictEqual(error._tag, "ContentDiffers")
        }).pipe(Effect.provide([damagingStorage(tiny()), checksums]))
    )

    it.effect("says that the file is stored if it cannot be read back", () =>
      Effect.gen(function*() {
        const error = yield* inTime(Effect.flip(verified))
        assert.strictEqual(error._tag === "ContentUnverified" ? error.because : error._tag, "ServiceUnavailable")
        assert.deepStrictEqual(
          yield* Sandbox.stored(error._tag === "ContentUnverified" ? error.fileId : ""),
          bytes(200)
        )
      }).pipe(Effect.provide(tiny({ faults: FaultScript.on("download").always().answer(503) }))))
  })

  describe("uploadAll", () => {
    it.effect("one bad file does not stop the others, and each has its outcome", () =>
      Effect.gen(function*() {
        const sources = [sourceOf(95, "a.mp4"), sourceOf(0, "empty.mp4"), sourceOf(50, "b.mp4")]
        const outcomes = yield* Stream.fromIterable(sources).pipe(Uploads.uploadAll(), Stream.runCollect)
        const told = Chunk.toReadonlyArray(outcomes).map((outcome) =>
          `${outcome.source.name} ${outcome._tag === "Failed" ? outcome.error._tag : outcome._tag}`
        )
        assert.deepStrictEqual(told.sort(), ["a.mp4 Uploaded", "b.mp4 Uploaded", "empty.mp4 EmptySource"])
      }).pipe(Effect.provide(tiny())))

    it.effect.each([Infinity, 1e300, 2, 0.5, 0, -1, NaN])(
      "each source has its outcome, however many may be uploaded at once: %d",
      (files) =>
        Effect.gen(function*() {
          const sources = [sourceOf(20, "a.mp4"), sourceOf(20, "b.mp4"), sourceOf(20, "c.mp4")]
          const count = yield* Stream.runCount(Uploads.uploadAll(Stream.fromIterable(sources), { files }))
          assert.strictEqual(count, 3)
        }).pipe(Effect.provide(tiny()))
    )

    it.effect("sources are pulled as needed: a stream of files may be infinite", () =>
      Effect.gen(function*() {
        let made = 0
        const endless = Stream.repeatEffect(Effect.sync(() => sourceOf(20, `${++made}.mp4`)))
        const first = yield* Uploads.uploadAll(endless, { files: 2 }).pipe(Stream.take(5), Stream.runCollect)
        assert.strictEqual(Chunk.size(first), 5)
        assert.isBelow(made, 30)
      }).pipe(Effect.provide(tiny())))
  })

  it.effect("every failure is a typed error that counts its attempts", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(Uploads.upload(sourceOf(95))))
      assert.isTrue(isUploadError(error))
      assert.strictEqual(error.attempts, 5)
      assert.strictEqual(Option.getOrUndefined(Option.some(error._tag)), "ServiceUnavailable")
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("complete").always().answer(503) }))))
})
