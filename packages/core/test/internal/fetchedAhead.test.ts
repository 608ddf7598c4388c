import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Effect, Exit, Fiber, Option, Stream, TestClock } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { fetchedAhead } from "../../src/list/fetchedAhead.js"

const step = (place: number) => Effect.succeed([place, place < 5 ? Option.some(place + 1) : Option.none()] as const)

describe("fetchedAhead", () => {
  it.live("gives the defect of what says whether to hurry, instead of waiting for ever", () =>
    Effect.gen(function*() {
      const exit = yield* fetchedAhead(0, step, { ahead: 1, mayHurry: Effect.die("broken") }).pipe(
        Stream.runForEach(() => Effect.sleep("1 millis")),
        Effect.exit,
        Effect.timeoutOption("1 second")
      )
      assert.deepStrictEqual(exit, Option.some(Exit.failCause(Cause.die("broken"))))
    }))

  it.effect("ends when enough was taken, also where nothing may be interrupted, as in acquireRelease", () =>
    Effect.gen(function*() {
      const two = fetchedAhead(0, step, { ahead: 1, mayHurry: Effect.succeed(true) }).pipe(
        Stream.take(2),
        Stream.runCount
      )
      const fiber = yield* Effect.forkDaemon(Effect.uninterruptible(two))
      yield* Effect.repeatN(TestClock.adjust("1 second"), 9)
      assert.deepStrictEqual(yield* Fiber.poll(fiber), Option.some(Exit.succeed(2)))
    }))

  it.live("keeps no page that was passed on, however long the list is", () =>
    Effect.gen(function*() {
      setFlagsFromString("--expose-gc")
      const collectGarbage: () => void = runInNewContext("gc")
      const given: Array<WeakRef<ReadonlyArray<number>>> = []
      const pages = fetchedAhead(
        0,
        (place) => Effect.sync(() => [[place], place < 200 ? Option.some(place + 1) : Option.none<number>()] as const),
        { ahead: 2, mayHurry: Effect.succeed(true) }
      )
      const kept = yield* pages.pipe(
        Stream.tap((page) => Effect.sync(() => given.push(new WeakRef(page)))),
        Stream.filterEffect(() => Effect.succeed(given.length === 150)),
        Stream.mapEffect(() =>
          Effect.map(Effect.sleep("10 millis"), () => {
            collectGarbage()
            return given.filter((page) => page.deref() !== undefined).length
          })
        ),
        Stream.runCollect
      )
      assert.isBelow(Chunk.unsafeHead(kept), 20)
    }))
})
