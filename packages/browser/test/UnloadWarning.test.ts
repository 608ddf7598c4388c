import { assert, describe, it } from "@effect/vitest"
import { UnloadWarning } from "@stevedore/browser"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as FakePage from "./fixtures/fakePage.js"

const isAsked = ({ window }: FakePage.FakePage) =>
  Effect.sync(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })))

describe("UnloadWarning", () => {
  it.scoped("asks before the page is left while the scope is open, but not afterwards", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      assert.isFalse(yield* isAsked(page))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* UnloadWarning.scoped
        assert.isTrue(yield* isAsked(page))
      }))
      assert.isFalse(yield* isAsked(page))
      assert.strictEqual(page.listeners(), 0)
    }))

  it.scoped("asks until the last of several scopes is closed", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.extend(UnloadWarning.scoped, first)
      yield* Scope.extend(UnloadWarning.scoped, second)
      yield* Scope.close(first, Exit.void)
      assert.isTrue(yield* isAsked(page))
      yield* Scope.close(second, Exit.void)
      assert.isFalse(yield* isAsked(page))
    }))

  it.scoped("asks during an effect and stops when the effect succeeds, fails or is interrupted", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      const asked = yield* UnloadWarning.during(isAsked(page))
      assert.isTrue(asked)
      assert.isFalse(yield* isAsked(page))
      yield* Effect.exit(UnloadWarning.during(Effect.fail("no")))
      assert.isFalse(yield* isAsked(page))
      const fiber = yield* Effect.fork(UnloadWarning.during(Effect.never))
      yield* FakePage.settled
      assert.isTrue(yield* isAsked(page))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* isAsked(page))
    }))
})
