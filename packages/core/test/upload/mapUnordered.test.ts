import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Deferred, Effect, Exit, Fiber, Option, Stream } from "effect"
import { mapUnordered } from "../../src/upload/mapUnordered.js"

describe("mapUnordered", () => {
  it.effect.each([1, 3, 16, Number.MAX_SAFE_INTEGER])(
    "runs each element once, and at most %d at once",
    (atOnce) =>
      Effect.gen(function*() {
        let running = 0
        let most = 0
        const run = (element: number) =>
          Effect.gen(function*() {
            running += 1
            most = Math.max(most, running)
            yield* Effect.yieldNow()
            running -= 1
            return element
          })
        const results = yield* Stream.runCollect(mapUnordered(Stream.range(1, 100), atOnce, run))
        const all = Chunk.toReadonlyArray(results).toSorted((one, other) => one - other)
        assert.deepStrictEqual(all, Array.from({ length: 100 }, (_, index) => index + 1))
        assert.isAtMost(most, atOnce)
        assert.isAtLeast(most, Math.min(atOnce, 3))
      })
  )

  it.effect("emits a result as soon as it is known, whichever element it is of", () =>
    Effect.gen(function*() {
      const never = mapUnordered(Stream.make(1, 2, 3), 2, (element) =>
        element === 1 ? Effect.never : Effect.succeed(element))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(never, 2))), [2, 3])
    }))

  it.effect("starts only so many elements before their results are consumed", () =>
    Effect.gen(function*() {
      let started = 0
      const go = yield* Deferred.make<void>()
      const run = (element: number) => Effect.sync(() => (started += 1, element))
      const reading = yield* mapUnordered(Stream.iterate(1, (before) => before + 1), 4, run).pipe(
        Stream.mapEffect(() => Deferred.await(go)),
        Stream.take(3),
        Stream.runDrain,
        Effect.fork
      )
      yield* Effect.yieldNow().pipe(Effect.repeatN(1000))
      assert.isBelow(started, 30)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(reading)
      assert.isBelow(started, 40)
    }))

  it.effect("fails with the failure of the elements after the results that were known, and stops what is running", () =>
    Effect.gen(function*() {
      const stopped: Array<number> = []
      const elements = Stream.concat(Stream.make(1, 2), Stream.fail("broken" as const))
      const run = (element: number) =>
        element === 1
          ? Effect.succeed(element)
          : Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped.push(element)))
      const seen: Array<number> = []
      const exit = yield* mapUnordered(elements, 2, run).pipe(
        Stream.runForEach((result) => Effect.sync(() => seen.push(result))),
        Effect.exit
      )
      assert.deepStrictEqual(exit, Exit.fail("broken"))
      assert.deepStrictEqual(seen, [1])
      assert.deepStrictEqual(stopped, [2])
    }))

  it.effect("dies of the defect of an element", () =>
    Effect.gen(function*() {
      const defect = new Error("of an element")
      const exit = yield* mapUnordered(Stream.make(1, 2), 1, () => Effect.die(defect)).pipe(
        Stream.runDrain,
        Effect.exit
      )
      assert.deepStrictEqual(Exit.causeOption(exit).pipe(Option.flatMap(Cause.dieOption)), Option.some(defect))
    }))

  it.effect("waits until nothing is running when it is interrupted", () =>
    Effect.gen(function*() {
      let running = 0
      const run = () =>
        Effect.acquireUseRelease(
          Effect.sync(() => running += 1),
          () => Effect.never,
          () => Effect.zipRight(Effect.yieldNow(), Effect.sync(() => running -= 1))
        )
      const reading = yield* Effect.fork(Stream.runDrain(mapUnordered(Stream.range(1, 100), 5, run)))
      yield* Effect.yieldNow().pipe(Effect.repeatN(100))
      assert.strictEqual(running, 5)
      yield* Fiber.interrupt(reading)
      assert.strictEqual(running, 0)
    }))

  it.effect("ends with its consumer, also in an uninterruptible region such as acquireRelease", () =>
    Effect.gen(function*() {
      const endless = mapUnordered(
        Stream.iterate(1, (before) => before + 1),
        3,
        (element) => element === 2 ? Effect.never : Effect.succeed(element)
      )
      const first = yield* Effect.acquireRelease(Stream.runHead(endless), () => Effect.void)
      assert.deepStrictEqual(first, Option.some(1))
    }).pipe(Effect.scoped))
})
