import { assert, describe, it } from "@effect/vitest"
import { Timeouts } from "@stevedore/core"
import { Duration, FastCheck as fc } from "effect"
import type * as AttemptWatch from "../../src/upload/attempt.js"
import * as AttemptTimers from "../../src/upload/attemptTimers.js"

const ceilings = Timeouts.make()

const secondsOf = ({ answer, connect, stall }: Timeouts.Limits) => ({
  connect: Duration.toSeconds(connect),
  stall: Duration.toSeconds(stall),
  answer: Duration.toSeconds(answer)
})

const observing = (sample: AttemptWatch.Sample, times = 50) => {
  const timers = AttemptTimers.make(ceilings)
  for (let time = 0; time < times; time++) timers.observe(sample)
  return timers
}

const step = fc.oneof(
  fc.record({
    connect: fc.option(fc.nat(60_000), { nil: undefined }),
    stall: fc.option(fc.nat(120_000), { nil: undefined }),
    answer: fc.option(fc.nat(240_000), { nil: undefined })
  }),
  fc.constantFrom("connect" as const, "body" as const, "answer" as const, "call" as const)
)

describe("AttemptTimers", () => {
  it("are the time-outs in force until three attempts have ended well", () => {
    assert.deepStrictEqual(AttemptTimers.make(ceilings).current(), ceilings)
    assert.deepStrictEqual(observing({ connect: 1, stall: 1, answer: 1 }, 2).current(), ceilings)
    assert.notDeepEqual(observing({ connect: 1, stall: 1, answer: 1 }, 3).current(), ceilings)
  })

  it("on a quick line give up at the floor: 5 seconds to connect, 10 without progress, 10 for the answer", () => {
    const timers = observing({ connect: 50, stall: 20, answer: 300 })
    assert.deepStrictEqual(secondsOf(timers.current()), { connect: 5, stall: 10, answer: 10 })
  })

  it("follow each phase by itself: a phase that was not seen keeps its time-out", () => {
    const timers = observing({ answer: 100 })
    assert.deepStrictEqual(secondsOf(timers.current()), { connect: 30, stall: 60, answer: 10 })
  })

  it("give a slow line twice of what it takes, and a line that varies more", () => {
    const { answer } = secondsOf(observing({ answer: 20_000 }).current())
    assert.approximately(answer, 40, 1)
    const varying = AttemptTimers.make(ceilings)
    for (let time = 0; time < 50; time++) varying.observe({ answer: time % 2 === 0 ? 16_000 : 24_000 })
    assert.isAbove(secondsOf(varying.current()).answer, 60)
  })

  it("a time-out begins the calm anew that takes a doubling back", () => {
    const quick = { connect: 50, stall: 20, answer: 300 }
    const timers = observing(quick, 31)
    timers.timedOut("answer")
    for (let time = 0; time < 31; time++) timers.observe(quick)
    assert.strictEqual(secondsOf(timers.current()).answer, 20)
    timers.observe(quick)
    assert.strictEqual(secondsOf(timers.current()).answer, 10)
  })

  it("a time-out doubles the limit of its phase up to the time-out in force, and calm takes it back", () => {
    const timers = observing({ connect: 50, stall: 20, answer: 300 })
    const limits: Array<number> = []
    for (let time = 0; time < 6; time++) {
      timers.timedOut("answer")
      limits.push(secondsOf(timers.current()).answer)
    }
    assert.deepStrictEqual(limits, [20, 40, 80, 120, 120, 120])
    assert.deepStrictEqual(secondsOf(timers.current()), { connect: 5, stall: 10, answer: 120 })
    for (let time = 0; time < 200; time++) timers.observe({ answer: 300 })
    assert.strictEqual(secondsOf(timers.current()).answer, 10)
  })

  it("time-outs at the time-out in force double nothing: however many there were, the same calm takes them back", () => {
    const after = (timeOuts: number) => {
      const timers = observing({ answer: 300 })
      for (let time = 0; time < timeOuts; time++) timers.timedOut("answer")
      for (let time = 0; time < 32; time++) timers.observe({ answer: 300 })
      return secondsOf(timers.current()).answer
    }
    assert.deepStrictEqual([after(4), after(5), after(40)], [80, 80, 80])
  })

  it.prop("are never longer than the time-outs in force, and never shorter than the floors unless those are", [
    fc.record({ connect: fc.integer({ min: 1, max: 90_000 }), stall: fc.integer({ min: 1, max: 90_000 }) }),
    fc.array(step, { maxLength: 100 })
  ], ([{ connect, stall }, steps]) => {
    const inForce = Timeouts.make({ connect: Duration.millis(connect), stall: Duration.millis(stall) })
    const timers = AttemptTimers.make(inForce)
    for (const next of steps) {
      if (typeof next === "string") timers.timedOut(next)
      else timers.observe(next)
      const now = timers.current()
      for (const [timer, floor] of [["connect", 5000], ["stall", 10_000], ["answer", 10_000]] as const) {
        const ceiling = Duration.toMillis(inForce[timer])
        assert.isAtMost(Duration.toMillis(now[timer]), ceiling)
        assert.isAtLeast(Duration.toMillis(now[timer]), Math.min(floor, ceiling))
      }
      assert.deepStrictEqual([now.call, now.total], [inForce.call, inForce.total])
    }
  })
})
