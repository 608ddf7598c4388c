import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as GroupedAppends from "../../src/ledger/groupedAppends.js"

/** Appends that wait until they are let through, and what has been written. */
const slow = Effect.gen(function*() {
  const written: Array<string> = []
  const gates: Array<Deferred.Deferred<void, string>> = []
  const append = GroupedAppends.make((path, content) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void, string>()
      gates.push(gate)
      yield* Deferred.await(gate)
      written.push(`${path}:${content}`)
    })
  )
  const next = (failure?: string) =>
    Effect.gen(function*() {
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      const gate = gates.shift()
      assert(gate !== undefined, "nothing waits for the disk")
      yield* failure === undefined ? Deferred.succeed(gate, undefined) : Deferred.fail(gate, failure)
      yield* Effect.repeatN(Effect.yieldNow(), 10)
    })
  return { append, next, written, waiting: () => gates.length }
})

describe("groupedAppends", () => {
  it.effect("writes what comes during a write with the next one, in order, and ends each with its own", () =>
    Effect.gen(function*() {
      const { append, next, waiting, written } = yield* slow
      const first = yield* Effect.fork(append("a", "1"))
      const other = yield* Effect.fork(append("b", "1"))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      const rest = yield* Effect.forEach(["2", "3", "4"], (line) => Effect.fork(append("a", line)))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      yield* next()
      yield* Fiber.join(first)
      assert.deepStrictEqual(written, ["a:1"])
      assert.isNull(
        yield* Fiber.poll(rest[0] ?? Fiber.never).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit))
      )
      yield* next()
      yield* Fiber.join(other)
      yield* next()
      yield* Fiber.joinAll(rest)
      assert.deepStrictEqual(written, ["a:1", "b:1", "a:234"])
      assert.strictEqual(waiting(), 0)
    }))

  it.effect("has at most two writes under way, of any files", () =>
    Effect.gen(function*() {
      const { append, next, waiting } = yield* slow
      const fibers = yield* Effect.forEach(["a", "b", "c", "d"], (path) => Effect.fork(append(path, "1")))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      assert.strictEqual(waiting(), 2)
      for (const _ of fibers) yield* next()
      yield* Fiber.joinAll(fibers)
    }))

  it.effect("tells all of a group that it failed, and writes the next one", () =>
    Effect.gen(function*() {
      const { append, next, written } = yield* slow
      const blocking = yield* Effect.forEach(["x", "y"], (path) => Effect.fork(append(path, "1")))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      const group = yield* Effect.forEach(["1", "2"], (line) => Effect.fork(append("a", line)))
      yield* next()
      yield* next()
      yield* next("full")
      assert.deepStrictEqual(yield* Effect.forEach(group, Fiber.await), [Exit.fail("full"), Exit.fail("full")])
      const after = yield* Effect.fork(append("a", "3"))
      yield* next()
      yield* Fiber.join(after)
      yield* Fiber.joinAll(blocking)
      assert.deepStrictEqual(written, ["x:1", "y:1", "a:3"])
    }))

  it.effect("ends only when the bytes are written, even if it is interrupted", () =>
    Effect.gen(function*() {
      const { append, next, written } = yield* slow
      const writing = yield* Effect.fork(append("a", "1"))
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      const interrupting = yield* Effect.fork(Fiber.interrupt(writing))
      yield* next()
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(written, ["a:1"])
    }))
})
