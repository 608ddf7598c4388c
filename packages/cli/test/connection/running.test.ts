import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Option, Ref } from "effect"
import * as Running from "../../src/connection/running.js"

const prepared = Effect.gen(function*() {
  const state = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const register = yield* Effect.withConfigProvider(
    Running.register,
    ConfigProvider.fromMap(new Map([["XDG_STATE_HOME", state]]))
  )
  return Option.getOrThrow(register)
})

it.scopedLive("a command is told a limit until it has done it, and what it is told meanwhile is not lost", () =>
  Effect.gen(function*() {
    const { isTold, take, tell } = yield* prepared
    const taken = yield* Ref.make<ReadonlyArray<string>>([])
    const begun = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const change = (limit: string) =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Deferred.await(go)),
        Effect.zipRight(Ref.update(taken, (limits) => [...limits, limit]))
      )
    yield* take("a", change)
    assert.isFalse(yield* isTold("a"))
    yield* tell("a", "5M")
    assert.isTrue(yield* isTold("a"))
    const first = yield* Effect.fork(take("a", change))
    yield* Deferred.await(begun)
    assert.isTrue(yield* isTold("a"))
    yield* tell("a", "off")
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(first)
    assert.isTrue(yield* isTold("a"))
    yield* take("a", change)
    assert.isFalse(yield* isTold("a"))
    assert.deepStrictEqual(yield* Ref.get(taken), ["5M", "off"])
  }).pipe(Effect.provide(NodeContext.layer)))
