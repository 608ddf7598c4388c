import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, FastCheck, Schema } from "effect"
import * as Feasibility from "../../src/errors/feasibility.js"

const steady = (likely: number) => ({ likely, least: likely, most: likely })

const measured = (wishes: Partial<Feasibility.Measured> = {}): Feasibility.Measured => ({
  size: 10_000_000_000,
  sent: 15_000_000,
  remaining: 9_985_000_000,
  secondsLeft: 10_770,
  sessionSeconds: 10_800,
  secondsSending: 30,
  speed: steady(512_500),
  ...wishes
})

describe("Feasibility", () => {
  it("10 GB in 3 hours need 7.4 Mbit/s: 4.1 are known to be too few after half a minute", () => {
    assert.strictEqual(
      Feasibility.describe(Feasibility.assess(measured())),
      "impossible: needs 7.4 Mbit/s, has 4.1"
    )
  })

  it.each([
    [12_430_000, "99"],
    [12_440_000, "100"],
    [16_666_667, "133"],
    [1_250_000_000, "10000"],
    [512_500, "4.1"],
    [2_500, "0.020"]
  ])("%d bytes per second are shown as a plain number of Mbit/s, however many they are", (rate, megabits) => {
    assert.strictEqual(
      Feasibility.describe({ _tag: "AtRisk", needs: rate, has: rate }),
      `at risk: needs ${megabits} Mbit/s, has ${megabits}`
    )
  })

  it("nothing is known before 30 seconds of sending or 5 % of the file", () => {
    assert.strictEqual(Feasibility.assess(measured({ secondsSending: 29 }))._tag, "Unknown")
    assert.strictEqual(
      Feasibility.assess(measured({ secondsSending: 10, sent: 500_000_000, speed: steady(50_000_000) }))._tag,
      "Feasible"
    )
  })

  it("a connection that may still become faster is at risk, until it has been watched for two minutes", () => {
    const slow = { speed: steady(700_000) }
    assert.strictEqual(Feasibility.assess(measured(slow))._tag, "AtRisk")
    assert.strictEqual(Feasibility.assess(measured({ ...slow, secondsSending: 120 }))._tag, "Impossible")
  })

  it("a stalled connection says nothing about its speed", () => {
    assert.strictEqual(Feasibility.assess(measured({ speed: steady(0), secondsSending: 300 }))._tag, "Unknown")
  })

  it("half a minute without a connection does not lower its best rate", () => {
    const interrupted = { likely: 500_000, least: 125_000, most: 1_000_000 }
    assert.strictEqual(Feasibility.assess(measured({ speed: interrupted, secondsSending: 300 }))._tag, "AtRisk")
  })

  it("too late for this session is not too late for a new one", () => {
    const late = { secondsLeft: 60, speed: steady(5_000_000) }
    assert.strictEqual(Feasibility.assess(measured(late))._tag, "AtRisk")
    assert.strictEqual(Feasibility.assess(measured({ ...late, secondsLeft: -1 }))._tag, "Unknown")
  })

  it("a file that is completely sent waits for its responses, however late it is", () => {
    assert.notStrictEqual(Feasibility.assess(measured({ remaining: 0, secondsLeft: 1 }))._tag, "Impossible")
  })

  it.prop("more speed or more time never makes it worse", {
    likely: FastCheck.integer({ min: 1, max: 10_000_000 }),
    more: FastCheck.integer({ min: 0, max: 10_000_000 }),
    secondsLeft: FastCheck.integer({ min: 1, max: 20_000 }),
    longer: FastCheck.integer({ min: 0, max: 20_000 })
  }, ({ likely, longer, more, secondsLeft }) => {
    const rank = { Unknown: 0, Feasible: 1, AtRisk: 2, Impossible: 3 }
    const at = (speed: number, left: number) =>
      rank[Feasibility.assess(measured({ speed: steady(speed), secondsLeft: left }))._tag]
    assert.isAtMost(at(likely + more, secondsLeft), at(likely, secondsLeft))
    assert.isAtMost(at(likely, secondsLeft + longer), at(likely, secondsLeft))
  })

  it.prop("survives encoding", [Arbitrary.make(Feasibility.Feasibility)], ([feasibility]) => {
    const wire = Schema.encodeSync(Feasibility.Feasibility)(feasibility)
    assert.deepStrictEqual(Schema.decodeUnknownSync(Feasibility.Feasibility)(wire), feasibility)
  })
})
