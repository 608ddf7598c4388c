import { assert, describe, it } from "@effect/vitest"
import {
  TransferGate,
  type UploadEvent,
  UploadLedger,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Chunk, Effect, Exit, FastCheck as fc, Fiber, Layer, Stream } from "effect"
import { runs } from "../../../../testing/test/support/runs.js"
import { bytes, tiny } from "../../fixtures/uploads.js"
import { inVirtualTime } from "../../fixtures/virtualTime.js"

/** A source at which a look takes a while, as on a disk. */
const onDisk = (size: number, name: string): UploadSource => {
  const source = UploadSources.fromBytes(name, bytes(size))
  return {
    ...source,
    fingerprint: { ...source.fingerprint, identity: name },
    open: Effect.map(source.open, (opened) => ({ ...opened, unchanged: Effect.sleep("20 millis") }))
  }
}

const troubled = FaultScript.on("putPart").always().delay("300 millis")
  .and(FaultScript.on("putPart").times(3).answer(503, "SlowDown"))
  .and(FaultScript.on("putPart").times(3).answer(500, "InternalError"))
  .and(FaultScript.on("complete").loseAnswer())

const world = Layer.provideMerge(UploadLedger.layerMemory, tiny({ faults: troubled }))

type Wish = Exclude<keyof Uploads.UploadHandle, "progress" | "events"> | "listen"

// what is named twice is asked for twice as often
const wishes: ReadonlyArray<Wish> = [
  "pause",
  "pause",
  "resume",
  "resume",
  "pauseScoped",
  "cancel",
  "listen",
  "await"
]

const step = fc.record({
  of: fc.nat(3),
  wish: fc.constantFrom(...wishes),
  millis: fc.constantFrom(0, 0, 1, 10, 40, 300, 700)
})

const heardBy = (handle: Uploads.UploadHandle): Effect.Effect<ReadonlyArray<UploadEvent.UploadEvent>> =>
  Effect.map(Stream.runCollect(handle.events), Chunk.toReadonlyArray)

const fulfilled = (handle: Uploads.UploadHandle, wish: Wish) => {
  if (wish === "listen") return Effect.map(heardBy(handle), checkEvents)
  return wish === "pauseScoped"
    ? Effect.scoped(Effect.zipRight(handle.pauseScoped, Effect.sleep("400 millis")))
    : handle[wish]
}

const lastEvents: ReadonlyArray<string> = ["Completed", "Failed", "Cancelled"]

const checkEvents = (events: ReadonlyArray<UploadEvent.UploadEvent>): void => {
  const tags = events.map(({ _tag }) => _tag)
  assert.strictEqual(tags.findIndex((tag) => lastEvents.includes(tag)), tags.length - 1, "the last one is the last")
  let isPaused = false
  const stored = new Set<number>()
  let parts = 0
  for (const event of events) {
    if (event._tag === "Paused" || event._tag === "Resumed") {
      assert.strictEqual(isPaused, event._tag === "Resumed", `${event._tag} follows its other: ${tags}`)
      isPaused = !isPaused
    }
    if (event._tag === "SessionOpened") parts = event.parts.total
    if (event._tag === "PartStarted") assert.isFalse(isPaused, `nothing begins while it is paused: ${tags}`)
    if (event._tag === "PartStored") stored.add(event.part)
    if (event._tag === "Completed") assert.strictEqual(stored.size, parts)
  }
}

describe("several uploads, whatever is done with their handles", () => {
  it.effect.prop(
    "each ends as it was told to, reports the same to everybody, takes nothing from the others, and leaves nothing",
    {
      sizes: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 2, maxLength: 4 }),
      steps: fc.array(step, { maxLength: 30, size: "max" })
    },
    ({ sizes, steps }) =>
      inVirtualTime(
        Effect.gen(function*() {
          const handles = yield* Effect.forEach(sizes, (size, index) =>
            Effect.map(
              Uploads.start(onDisk(size, `file-${index}`), { strategy: "multipart", concurrency: 3 }),
              (handle) => ({ handle, size, isCancelled: false })
            ))
          const fromStart = yield* Effect.forEach(handles, ({ handle }) => Effect.fork(heardBy(handle)))
          const meanwhile: Array<Fiber.Fiber<unknown, unknown>> = []
          for (const { millis, of, wish } of steps) {
            const one = handles[of % handles.length]
            if (one === undefined) {
              continue
            }
            if (wish === "cancel") one.isCancelled = true
            const { handle } = one
            meanwhile.push(yield* Effect.fork(fulfilled(handle, wish)))
            yield* Effect.sleep(millis)
          }
          yield* Effect.forEach(handles, ({ handle }) => handle.resume)
          for (const [index, { handle, isCancelled, size }] of handles.entries()) {
            const exit = yield* Effect.exit(handle.await)
            const events = yield* Effect.flatMap(Effect.fromNullable(fromStart[index]), Fiber.join)
            checkEvents(events)
            yield* handle.pause
            assert.deepStrictEqual(yield* heardBy(handle), events)
            const { confirmed, phase } = yield* handle.progress.get
            if (Exit.isSuccess(exit)) {
              assert.deepStrictEqual([phase, confirmed], ["completed", size])
              assert.deepStrictEqual(yield* Sandbox.stored(exit.value.id), bytes(size))
            } else {
              assert.deepStrictEqual([isCancelled, phase], [true, "cancelled"], String(exit))
            }
          }
          for (const fiber of meanwhile) {
            const exit = yield* Fiber.await(fiber)
            if (Exit.isFailure(exit)) assert.isTrue(Exit.isInterrupted(exit), String(exit))
          }
          const gate = yield* TransferGate.TransferGate
          assert.deepInclude(yield* gate.state, { inFlight: 0, waiting: 0, bufferedBytes: 0 })
          const { breaches, requests } = yield* Sandbox.report
          assert.deepStrictEqual([breaches, requests.filter(({ outcome }) => outcome === "open")], [[], []])
        }).pipe(Effect.scoped, Effect.provide(world))
      ).pipe(Effect.asVoid),
    { fastCheck: { numRuns: runs(20) }, timeout: 120_000 }
  )
})
