import { assert, describe, it } from "@effect/vitest"
import { ScreenWakeLock } from "@stevedore/browser"
import { Effect, Exit, Scope } from "effect"
import * as FakePage from "./fixtures/fakePage.js"

/** Counts the locks that are held, and those that were asked for. */
const locks = (request?: () => Promise<never>) => {
  const counts = { asked: 0, held: 0 }
  const lock = () => {
    counts.held++
    return Promise.resolve({
      release: () => {
        counts.held--
        return Promise.resolve()
      }
    })
  }
  return {
    counts,
    wakeLock: {
      request: (kind: string) => {
        counts.asked++
        assert.strictEqual(kind, "screen")
        return request === undefined ? lock() : request()
      }
    }
  }
}

const holding = Effect.gen(function*() {
  const scope = yield* Scope.make()
  yield* Scope.extend(ScreenWakeLock.scoped, scope)
  yield* FakePage.settled
  return { close: Scope.close(scope, Exit.void) }
})

describe("ScreenWakeLock", () => {
  it.scoped("holds one lock for as long as the scope is open", () =>
    Effect.gen(function*() {
      const { counts, wakeLock } = locks()
      const page = yield* FakePage.make({ wakeLock })
      const { close } = yield* holding
      assert.deepStrictEqual(counts, { asked: 1, held: 1 })
      page.setOnline(false)
      yield* FakePage.settled
      assert.deepStrictEqual(counts, { asked: 1, held: 1 })
      yield* close
      assert.deepStrictEqual(counts, { asked: 1, held: 0 })
      assert.strictEqual(page.listeners(), 0)
    }))

  it.scoped("requests the lock again when the page becomes visible, and not while it is hidden", () =>
    Effect.gen(function*() {
      const { counts, wakeLock } = locks()
      const page = yield* FakePage.make({ wakeLock })
      const { close } = yield* holding
      page.setVisible(false)
      yield* FakePage.settled
      assert.deepStrictEqual(counts, { asked: 1, held: 0 })
      page.setVisible(true)
      yield* FakePage.settled
      assert.deepStrictEqual(counts, { asked: 2, held: 1 })
      yield* close
      assert.strictEqual(counts.held, 0)
    }))

  it.scoped("does not fail if the lock is rejected, and requests it again when the page becomes visible", () =>
    Effect.gen(function*() {
      const { counts, wakeLock } = locks(() => Promise.reject(new DOMException("low battery", "NotAllowedError")))
      const page = yield* FakePage.make({ wakeLock })
      const { close } = yield* holding
      page.setVisible(false)
      yield* FakePage.settled
      page.setVisible(true)
      yield* FakePage.settled
      assert.deepStrictEqual(counts, { asked: 2, held: 0 })
      yield* close
    }))

  it.scoped("does not fail in a browser without wake locks", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      const { close } = yield* holding
      yield* close
      assert.strictEqual(page.listeners(), 0)
    }))
})
