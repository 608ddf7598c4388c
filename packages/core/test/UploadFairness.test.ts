import { assert, describe, it } from "@effect/vitest"
import { TransferGate, Uploads, UploadSources } from "@stevedore/core"
import { Effect, Fiber, Stream } from "effect"
import { gateOfAPage, sharedLine } from "./fixtures/sharedLine.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"

const MB = 1_000_000

const line = 2 * MB

// A gate that measures begins with six transfers, which share the line with the small file until they have ended
const gates = [
  { called: "of a page", gate: gateOfAPage, within: 15 },
  { called: "that measures", gate: TransferGate.layer(), within: 30 }
]

const started = (megabytes: number) =>
  Uploads.start(UploadSources.fromBytes(`${megabytes}.mp4`, new Uint8Array(megabytes * MB)))

const startOf = Date.UTC(2030, 0, 1)

const secondsNow = Effect.clockWith((clock) => Effect.map(clock.currentTimeMillis, (now) => (now - startOf) / 1000))

/** When an upload has sent its first byte, and when storage has confirmed a first part of it, in seconds. */
const firsts = ({ progress }: Uploads.UploadHandle) =>
  Effect.all(
    [
      Stream.filter(progress.changes, ({ sent }) => sent > 0),
      Stream.filter(progress.changes, ({ confirmed }) => confirmed > 0)
    ].map((seen) => Effect.zipRight(Stream.runHead(seen), secondsNow)),
    { concurrency: "unbounded" }
  )

describe.each(gates)("several files on a slow line, through a gate $called", ({ gate, within }) => {
  it.effect("a small one is soon done, and none waits for a large one", () =>
    inVirtualTime(
      Effect.gen(function*() {
        const large = yield* Effect.forEach([250, 90], started)
        const small = yield* started(5.2)
        const begun = yield* Effect.fork(Effect.forEach([...large, small], firsts, { concurrency: "unbounded" }))
        yield* small.await
        assert.isAtMost(yield* secondsNow, within)
        for (const [sent] of yield* Fiber.join(begun)) assert.isAtMost(sent ?? Infinity, 5)
      }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gate))),
      startOf
    ))

  it.effect("one that is added later does not wait until the large one is done", () =>
    inVirtualTime(
      Effect.gen(function*() {
        yield* started(250)
        yield* Effect.sleep("20 seconds")
        const small = yield* started(5.2)
        const [sent = Infinity] = yield* firsts(small)
        assert.isAtMost(sent, 25)
        yield* small.await
        assert.isAtMost(yield* secondsNow, 20 + within)
      }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gate))),
      startOf
    ))
})

describe("a page on a slow line", () => {
  it.effect.each([[2, 5], [0.2, 30]] as const)("has a receipt early: %s MB/s", ([speed, within]) =>
    inVirtualTime(
      Effect.gen(function*() {
        const [, confirmed = Infinity] = yield* Effect.flatMap(started(250), firsts)
        assert.isAtMost(confirmed, within)
      }).pipe(Effect.scoped, Effect.provide(sharedLine(speed * MB, gateOfAPage))),
      startOf
    ))

  it.effect.each([12, 17, 24, 25, 26, 27, 28, 40])(
    "keeps most of what it has sent when it is paused after %d s",
    (seconds) =>
      inVirtualTime(
        Effect.gen(function*() {
          const upload = yield* started(250)
          yield* Effect.sleep(`${seconds} seconds`)
          const { sent } = yield* upload.progress.get
          yield* upload.pause
          yield* Effect.sleep("20 seconds")
          const { confirmed, sent: kept } = yield* upload.progress.get
          assert.strictEqual(kept, confirmed)
          assert.isAtLeast(confirmed, 0.8 * sent)
          yield* Effect.sleep("1 minute")
          assert.strictEqual((yield* upload.progress.get).sent, kept)
        }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gateOfAPage))),
        startOf
      )
  )

  it.effect("soon uses every connection of a fast line", () =>
    inVirtualTime(
      Effect.gen(function*() {
        const upload = yield* started(250)
        yield* Effect.sleep("3 seconds")
        assert.strictEqual((yield* (yield* TransferGate.TransferGate).state).inFlight, 6)
        yield* upload.await
      }).pipe(Effect.scoped, Effect.provide(sharedLine(100 * MB, gateOfAPage))),
      startOf
    ))
})
