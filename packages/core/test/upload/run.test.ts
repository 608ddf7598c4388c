import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import * as UploadRun from "../../src/upload/control.js"
import { givingWayAt } from "../fixtures/givingWay.js"

const everyStep = Array.from({ length: 100 }, (_, step) => step)

const afterwards = (run: UploadRun.UploadRun) =>
  Effect.gen(function*() {
    const { phase } = yield* run.monitor.progress.get
    yield* run.monitor.publish({ _tag: "Cancelled" })
    const told = [...yield* Stream.runCollect(run.monitor.events)].map(({ _tag }) => _tag).slice(0, -1)
    return { told, isOff: run.transferSwitch.isOff(), looksPaused: phase === "paused" }
  })

describe("UploadRun", () => {
  it.effect.each(
    [
      ["is followed by another's resume", UploadRun.resume],
      ["is interrupted", (_: UploadRun.UploadRun, pausing: Fiber.Fiber<void>) => Fiber.interrupt(pausing)]
    ] as const
  )(
    "a pause that %s is told as it was done, at whichever step it gives way",
    ([, meanwhile]) =>
      Effect.gen(function*() {
        for (const step of everyStep) {
          const run = yield* UploadRun.make(9, 1)
          yield* Effect.gen(function*() {
            const pausing = yield* Effect.fork(UploadRun.pause(run))
            const other = yield* Effect.fork(meanwhile(run, pausing))
            yield* Fiber.awaitAll([pausing, other])
          }).pipe(Effect.withScheduler(givingWayAt(step)))
          const { isOff, looksPaused, told } = yield* afterwards(run)
          assert.include([[], ["Paused"], ["Paused", "Resumed"]].map(String), String(told))
          assert.deepStrictEqual([looksPaused, told.at(-1) === "Paused"], [isOff, isOff], `step ${step}: ${told}`)
        }
      })
  )
})
