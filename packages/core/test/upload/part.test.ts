import { assert, describe, it } from "@effect/vitest"
import {
  Checksum,
  ConnectionError,
  ObjectStorage,
  SourceError,
  StorageError,
  TransferGate,
  UploadError,
  UploadSources
} from "@stevedore/core"
import type { OpenSource } from "@stevedore/core/UploadSource"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Option, Stream, TestClock } from "effect"
import * as UrlError from "../../src/errors/storageWords.js"
import { longestHeldWhole } from "../../src/source/sequentialReader.js"
import * as UploadRun from "../../src/upload/control.js"
import * as PartTransfer from "../../src/upload/part.js"
import { presigned } from "../fixtures/presignedUrls.js"
import { inTime } from "../fixtures/uploads.js"

const receipt = { etag: "\"e\"", requestId: undefined, checksums: {} }

type Put = ObjectStorage.Service["put"]

const storage = (put: Put) =>
  Layer.merge(
    Layer.succeed(ObjectStorage.ObjectStorage, { put, get: () => Effect.die("not asked for") }),
    TransferGate.layer()
  )

const taken: Put = (request) =>
  Effect.scoped(Effect.as(request.section.body((chunk) => request.onSent(chunk.byteLength)), receipt))

const transfer = (
  changes: Partial<OpenSource> = {},
  given?: UploadRun.UploadRun,
  held = false,
  changed: Partial<PartTransfer.PartTransfer> = {}
) =>
  Effect.gen(function*() {
    const source = UploadSources.fromBytes("a.bin", new TextEncoder().encode("123456789"))
    const opened = yield* source.open
    const run = given ?? (yield* UploadRun.make(9, 4))
    yield* run.monitor.beginSession(1, [])
    return yield* PartTransfer.run({
      run,
      look: Effect.void,
      partNumber: 1,
      source: { ...source, held },
      opened: { ...opened, ...changes },
      range: { offset: 0, length: 9 },
      url: presigned({ part: 1 }),
      kind: "part",
      encryptionHeaders: {},
      ...changed
    })
  }).pipe(Effect.scoped)

const reset = (attempts: number) =>
  new ConnectionError.ConnectionFailed({ peer: "storage", origin: "https://s", arrived: "unknown", attempts })

describe("PartTransfer", () => {
  it.effect("the receipt has the checksum of the bytes as they were sent", () =>
    Effect.gen(function*() {
      const transferred = yield* transfer()
      // CRC-32 of "123456789" is cbf43926
      assert.strictEqual(transferred.checksum, "y/Q5Jg==")
    }).pipe(Effect.provide(storage(taken))))

  it.effect("without checksums, the receipt has none, and a Blob is not read besides being sent", () => {
    const bodies: Array<string> = []
    const observed = Effect.dieMessage("read a second time")
    const blob = new Blob(["123456789"])
    const sending: Put = (request) =>
      Effect.scoped(Effect.gen(function*() {
        const body = yield* request.section.body(() => undefined)
        if (body._tag === "BlobBody") yield* body.observed
        bodies.push(body._tag)
        return receipt
      }))
    return Effect.gen(function*() {
      const whole = { offset: 0, length: 9 }
      const asBlob = Effect.succeed({
        range: whole,
        body: () => Effect.succeed({ _tag: "BlobBody", blob, observed } as const)
      })
      assert.isUndefined((yield* transfer()).checksum)
      assert.isUndefined((yield* transfer({ section: () => asBlob })).checksum)
      assert.deepStrictEqual(bodies, ["BytesBody", "BlobBody"])
    }).pipe(Effect.provide([storage(sending), Checksum.none]))
  })

  it.effect("a different checksum from storage means damage in transit: the part is sent again", () => {
    let puts = 0
    return Effect.gen(function*() {
      const transferred = yield* inTime(transfer())
      assert.strictEqual(transferred.attempts, 2)
    }).pipe(
      Effect.provide(storage((request) =>
        Effect.map(
          taken(request),
          (taken) => ({ ...taken, checksums: { crc32: ++puts === 1 ? "AAAAAA==" : "y/Q5Jg==" } })
        )
      ))
    )
  })

  it.effect("damage that no retry ends is told with both checksums, the part, its last request and the attempts", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(inTime(transfer()))
      assert.deepInclude(error, {
        _tag: "ChecksumMismatch",
        algorithm: "crc32",
        sent: "y/Q5Jg==",
        stored: "AAAAAA==",
        part: 1,
        requestId: "r1",
        attempts: 5
      })
    }).pipe(
      Effect.provide(
        storage((request) =>
          Effect.map(taken(request), (taken) => ({ ...taken, requestId: "r1", checksums: { crc32: "AAAAAA==" } }))
        )
      )
    ))

  it.effect("an attempt that a pause cuts off is no success for the gate, is closed, and is repeated without being counted", () => {
    const exits: Array<string> = []
    let puts = 0
    return Effect.gen(function*() {
      const gate = yield* TransferGate.TransferGate
      const run = yield* UploadRun.make(9, 4)
      const pass = <A, E, R>(passing: Effect.Effect<A, E, R>, passage?: TransferGate.Passage): Effect.Effect<A, E, R> =>
        gate.pass(Effect.onExit(passing, (exit) => Effect.sync(() => exits.push(exit._tag))), passage)
      const fiber = yield* Effect.fork(
        Effect.provideService(transfer({}, run), TransferGate.TransferGate, { ...gate, pass })
      )
      yield* TestClock.adjust("1 second")
      yield* UploadRun.pause(run)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([exits, puts], [["Failure"], 1])
      yield* UploadRun.resume(run)
      assert.strictEqual((yield* inTime(Fiber.join(fiber))).attempts, 2)
      assert.deepStrictEqual([exits, puts], [["Failure", "Success"], 2])
    }).pipe(Effect.provide(storage((request) => Effect.suspend(() => ++puts === 1 ? Effect.never : taken(request)))))
  })

  it.effect("a part that is paused while its source is checked starts no attempt: no event, nothing is sent, and none is counted", () => {
    let puts = 0
    return Effect.gen(function*() {
      const run = yield* UploadRun.make(9, 4)
      const fiber = yield* Effect.fork(transfer({ unchanged: Effect.sleep("1 second") }, run))
      yield* TestClock.adjust("500 millis")
      yield* UploadRun.pause(run)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(puts, 0)
      yield* UploadRun.resume(run)
      assert.strictEqual((yield* inTime(Fiber.join(fiber))).attempts, 1)
      yield* run.monitor.publish({ _tag: "Cancelled" })
      const told = [...yield* Stream.runCollect(run.monitor.events)].map(({ _tag }) => _tag)
      assert.deepStrictEqual(told, ["Paused", "Resumed", "PartStarted", "PartStored", "Cancelled"])
    }).pipe(Effect.provide(storage((request) =>
      Effect.suspend(() => {
        puts += 1
        return taken(request)
      })
    )))
  })

  it.effect("no attempt of an upload that cannot finish in time is started, not even for a moment", () => {
    let puts = 0
    const tooLate = new UploadError.DeadlineUnreachable({
      fileName: "a.bin",
      size: 9,
      needs: 2,
      has: 1,
      deadline: new Date(0)
    })
    return Effect.gen(function*() {
      const run = yield* UploadRun.make(9, 4)
      const look = Effect.suspend(() => puts === 0 ? Effect.void : tooLate)
      assert.strictEqual(yield* inTime(Effect.flip(transfer({}, run, false, { look }))), tooLate)
      assert.strictEqual(puts, 1)
      yield* run.monitor.publish({ _tag: "Cancelled" })
      const told = [...yield* Stream.runCollect(run.monitor.events)].map(({ _tag }) => _tag)
      assert.deepStrictEqual(told, ["PartStarted", "PartFailed", "Cancelled"])
    }).pipe(Effect.provide(storage((request) =>
      Effect.suspend(() => {
        puts += 1
        return Effect.fail(reset(request.attempt))
      })
    )))
  })

  it.effect("a storage that begins the body anew by itself gets the checksum of what it has sent last", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* transfer()).checksum, "y/Q5Jg==")
    }).pipe(Effect.provide(storage((request) => Effect.zipRight(taken(request), taken(request))))))

  it.effect("the gate is told whose a part is and how long, for its memory and for each attempt", () => {
    const told: Array<unknown> = []
    return Effect.gen(function*() {
      const gate = yield* TransferGate.TransferGate
      const run = yield* UploadRun.make(9, 4)
      const telling = TransferGate.layerNoop({
        hold: (bytes, owner) => Effect.sync(() => void told.push(["hold", bytes, owner === run])),
        pass: (passing, passage) => {
          told.push(["pass", passage?.bytes, passage?.owner === run])
          return gate.pass(passing, passage)
        }
      })
      yield* inTime(Effect.provide(transfer({}, run, true), telling))
      assert.deepStrictEqual(told, [["hold", 9, true], ["pass", 9, true], ["pass", 9, true]])
    }).pipe(Effect.provide(storage((request) => request.attempt === 1 ? Effect.fail(reset(1)) : taken(request))))
  })

  it.effect.each<readonly [PartTransfer.PartTransfer["kind"], number, boolean]>([
    ["single", longestHeldWhole, true],
    ["single", longestHeldWhole + 1, false],
    ["part", longestHeldWhole + 1, true]
  ])("memory is claimed before a stream is read into it, and not for one that passes through: %s of %i bytes", ([
    kind,
    length,
    isClaimed
  ]) => {
    const claimed: Array<number> = []
    const unread = new SourceError.SourceUnreadable({ fileName: "a.bin", reason: "Failed" })
    return Effect.gen(function*() {
      const changed = { kind, range: { offset: 0, length } }
      assert.strictEqual(
        yield* Effect.flip(transfer({ section: () => Effect.fail(unread) }, undefined, true, changed)),
        unread
      )
      assert.deepStrictEqual(claimed, isClaimed ? [length] : [])
    }).pipe(Effect.provide([
      storage(taken),
      TransferGate.layerNoop({ hold: (bytes) => Effect.sync(() => void claimed.push(bytes)) })
    ]))
  })

  it.effect("one event reports that the computer slept, however many parts it has cut off, and each is sent again", () => {
    let puts = 0
    return Effect.gen(function*() {
      const run = yield* UploadRun.make(9, 4)
      yield* TestClock.adjust("1 hour")
      const parts = yield* Effect.fork(Effect.replicateEffect(transfer({}, run), 2, { concurrency: 2 }))
      yield* TestClock.adjust("1 second")
      run.serverClock.fired(run.serverClock.monotonic() - 600_000)
      assert.deepStrictEqual((yield* inTime(Fiber.join(parts))).map(({ attempts }) => attempts), [2, 2])
      yield* run.monitor.publish({ _tag: "Cancelled" })
      const told = [...yield* Stream.runCollect(run.monitor.events)].filter(({ _tag }) => _tag === "Woke")
      assert.lengthOf(told, 1)
    }).pipe(Effect.provide(storage((request) => Effect.suspend(() => ++puts <= 2 ? Effect.never : taken(request)))))
  })

  it.effect("storage judges the URL's deadline by the server's clock", () => {
    const offsets: Array<number> = []
    return Effect.gen(function*() {
      const run = yield* UploadRun.make(9, 4)
      run.serverClock.opened(60_000)
      yield* transfer({}, run)
      assert.deepStrictEqual(offsets, [60_000])
    }).pipe(Effect.provide(storage((request) => {
      offsets.push(request.clockOffset)
      return taken(request)
    })))
  })

  it.effect("bytes that could not be observed in transit have no checksum", () =>
    Effect.gen(function*() {
      assert.isUndefined((yield* transfer()).checksum)
    }).pipe(Effect.provide(storage(() => Effect.succeed(receipt)))))

  it.effect("the previous attempt is over when the next one starts", () => {
    const events: Array<string> = []
    return Effect.gen(function*() {
      yield* inTime(transfer())
      assert.deepStrictEqual(events, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
    }).pipe(Effect.provide(storage((request) =>
      Effect.acquireUseRelease(
        Effect.sync(() => events.push(`begin ${request.attempt}`)),
        () => request.attempt < 3 ? Effect.zipRight(Effect.sleep("3 hours"), Effect.fail(reset(1))) : taken(request),
        () => Effect.zipRight(Effect.sleep("1 second"), Effect.sync(() => events.push(`end ${request.attempt}`)))
      )
    )))
  })

  it.effect("the source is checked before each attempt: a changed source is not sent", () => {
    let puts = 0
    return Effect.gen(function*() {
      const changed = Effect.suspend(() =>
        puts === 0 ? Effect.void : Effect.fail(new SourceError.SourceChanged({ fileName: "a.bin", what: "size" }))
      )
      const error = yield* inTime(Effect.flip(transfer({ unchanged: changed })))
      assert.strictEqual(error._tag, "SourceChanged")
      assert.strictEqual(puts, 1)
    }).pipe(Effect.provide(storage((request) =>
      Effect.suspend(() => {
        puts += 1
        return Effect.fail(reset(request.attempt))
      })
    )))
  })

  it.effect("a source that could not be read is asked whether it changed, after the attempt that read it has ended", () => {
    let reading = 0
    const unreadable = new SourceError.SourceUnreadable({ fileName: "a.bin", reason: "NotFound" })
    const changed = new SourceError.SourceChanged({ fileName: "a.bin", what: "modified" })
    const failing = storage(() =>
      Effect.acquireUseRelease(
        Effect.sync(() => reading += 1),
        () => Effect.fail(unreadable),
        () => Effect.sync(() => reading -= 1)
      )
    )
    let looks = 0
    const unchanged = Effect.suspend(() => ++looks % 2 === 1 ? Effect.void : reading > 0 ? Effect.never : changed)
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* inTime(Effect.flip(transfer({ unchanged }))), changed)
      assert.deepStrictEqual(yield* inTime(Effect.flip(transfer())), unreadable)
    }).pipe(Effect.provide(failing))
  })

  it.effect("storage's time in a refusal changes nothing: no estimate of a clock gives up the URLs of the next session", () =>
    Effect.gen(function*() {
      const run = yield* UploadRun.make(9, 4)
      const error = yield* inTime(Effect.flip(transfer({}, run)))
      assert.strictEqual(error._tag, "UrlExpired")
      run.serverClock.opened(60_000)
      assert.closeTo(run.serverClock.now(), 60_000 + (yield* Clock.currentTimeMillis), 10_000)
    }).pipe(
      Effect.provide(
        storage(() =>
          Effect.fail(
            new StorageError.UrlExpired({ reason: "Refused", serverTime: new Date(5 * 3_600_000), attempts: 1 })
          )
        )
      )
    ))

  it.effect("a URL that is not valid yet is waited for, as long as storage's clock says", () =>
    Effect.gen(function*() {
      let attempts = 0
      const early = new UrlError.UrlNotYetValid({
        start: new Date(4000),
        serverTime: new Date(1000),
        retryAfter: Duration.seconds(4),
        attempts: 1
      })
      const layer = storage(() => Effect.suspend(() => ++attempts === 1 ? Effect.fail(early) : Effect.succeed(receipt)))
      const before = yield* Clock.currentTimeMillis
      yield* inTime(Effect.provide(transfer(), layer))
      assert.strictEqual(attempts, 2)
      assert.isAtLeast((yield* Clock.currentTimeMillis) - before, 4000)
    }))

  it.effect.each<readonly [what: string, error: StorageError.StorageError, pauses: ReadonlyArray<number>]>([
    [
      "a SlowDown",
      new StorageError.StorageUnavailable({ status: 503, code: "SlowDown", retryAfter: Duration.seconds(7) }),
      [7000]
    ],
    ["a broken connection", reset(1), []]
  ])("the gate is told to pause by a SlowDown, for the wait that the server asks for, and by nothing else: %s", ([
    _,
    error,
    pauses
  ]) => {
    const told: Array<number> = []
    return Effect.gen(function*() {
      assert.strictEqual((yield* inTime(transfer())).attempts, 2)
      assert.deepStrictEqual(told, pauses)
    }).pipe(Effect.provide([
      storage((request) => request.attempt === 1 ? Effect.fail(error) : taken(request)),
      TransferGate.layerNoop({
        pause: (duration) => Effect.sync(() => void told.push(Duration.toMillis(duration)))
      })
    ]))
  })

  it.effect("one SlowDown holds back everybody's parts for as long as this one waits", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.TransferGate
      const fiber = yield* Effect.fork(transfer())
      yield* TestClock.adjust("1 millis")
      const other = yield* Effect.fork(gate.pass(Effect.void))
      yield* TestClock.adjust("29 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(other)))
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(yield* Fiber.poll(other), Option.some(Exit.void))
      yield* Fiber.join(fiber)
    }).pipe(Effect.provide(storage((request) =>
      request.attempt === 1
        ? Effect.fail(
          new StorageError.StorageUnavailable({
            status: 503,
            code: "SlowDown",
            retryAfter: Duration.seconds(30),
            attempts: 1
          })
        )
        : taken(request)
    ))))
})
