import { assert, describe, it } from "@effect/vitest"
import { Timeouts, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Cause, Effect, Fiber, Option, TestClock } from "effect"
import { bounded, watched } from "../../src/WatchUpload.js"

const source = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })

const withLog = (log: (line: string) => Effect.Effect<void>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.console,
    (shown) => Effect.withConsole(effect, { ...shown, log: (...words) => log(words.slice(0, 4).join(" ")) })
  )

describe("WatchUpload", () => {
  it.effect("a second after the other, a line tells how much of the file storage has", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const running = yield* watched(source).pipe(
        withLog((line) => Effect.sync(() => void lines.push(line))),
        Effect.fork
      )
      yield* TestClock.adjust("20 seconds")
      const file = yield* Fiber.join(running)
      assert.strictEqual(file.name, "notes.txt")
      assert.lengthOf(lines, 12)
      assert.strictEqual(lines.at(-1), "completed: 5 B of 5 B (100 %)")
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").delay("10 seconds") }))))

  it.effect("after two hours the upload is cancelled, and its request with it", () =>
    Effect.gen(function*() {
      const running = yield* bounded(source).pipe(
        Effect.flip,
        // a line per second for two hours adds nothing
        withLog(() => Effect.never),
        Effect.fork
      )
      yield* TestClock.adjust("119 minutes")
      assert.deepStrictEqual(yield* Fiber.poll(running), Option.none())
      yield* TestClock.adjust("1 minute")
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
