import { assert, describe, it } from "@effect/vitest"
import { Timeouts, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Cause, Effect, Fiber, TestClock } from "effect"
import { bounded, watched } from "../src/WatchUpload.js"

const source = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })

const withLines = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const shown = yield* Effect.console
    const result = yield* Effect.withConsole(effect, {
      ...shown,
      log: (...words) => Effect.sync(() => lines.push(words.slice(0, 4).join(" ")))
    })
    return { lines, result }
  })

describe("WatchUpload", () => {
  it.effect("a second after the other, a line tells how much of the file storage has", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(withLines(watched(source)))
      yield* TestClock.adjust("20 seconds")
      const { lines, result } = yield* Fiber.join(running)
      assert.strictEqual(result.name, "notes.txt")
      assert.isAtLeast(lines.length, 8)
      assert.isTrue(lines.every((line) => /^(preparing|uploading|completing) 0 of 5$/.test(line)), lines.join("\n"))
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").delay("10 seconds") }))))

  it.effect("after two hours the upload is cancelled, and its request with it", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(Effect.flip(withLines(bounded(source))))
      yield* TestClock.adjust("2 hours")
      assert.isTrue(Cause.isTimeoutException(yield* Fiber.join(running)))
      const { requests } = yield* Sandbox.report
      assert.deepStrictEqual(requests.filter(({ operation }) => operation === "put").map(({ outcome }) => outcome), [
        "aborted"
      ])
    }).pipe(
      Timeouts.with({ connect: "1 day", stall: "1 day", answer: "1 day" }),
      Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").delay("150 minutes") }))
    ))
})
