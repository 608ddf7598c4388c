import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Option } from "effect"
import * as LimitRate from "../../src/options/limitRate.js"

const parsed = (text: string): LimitRate.LimitRate => Option.getOrElse(LimitRate.parse(text), () => assert.fail(text))

describe("LimitRate", () => {
  it.each<readonly [text: string, entries: ReadonlyArray<readonly [from: number, rate: number]>]>([
    ["20M", [[0, 20_000_000]]],
    ["500 kB/s", [[0, 500_000]]],
    ["64KiB", [[0, 65_536]]],
    ["off", [[0, Infinity]]],
    ["OFF", [[0, Infinity]]],
    ["08:00,5M 18:00,off", [[480, 5_000_000], [1080, Infinity]]],
    [" 18:30,off  7:05,1.5MB ", [[425, 1_500_000], [1110, Infinity]]],
    ["00:00,1k", [[0, 1000]]]
  ])("reads %s", (text, entries) => {
    assert.deepStrictEqual(parsed(text).entries.map(({ from, rate }) => [from, rate] as const), entries)
  })

  it.each(["", "fast", "0", "-5M", "5M 6M", "24:00,5M", "8,5M", "08:60,5M", "08:00,", "08:00,5M 08:00,6M", "08:00 5M"])(
    "refuses %s",
    (text) => {
      assert.deepStrictEqual(LimitRate.parse(text), Option.none())
    }
  )

  it("has at each minute the rate of the last entry before it, which may be yesterday's", () => {
    const limit = parsed("08:00,5M 18:00,off 06:00,1M")
    const rates = [0, 359, 360, 479, 480, 1079, 1080, 1439].map((minute) => LimitRate.at(limit, minute).rate)
    assert.deepStrictEqual(rates, [Infinity, Infinity, 1e6, 1e6, 5e6, 5e6, Infinity, Infinity])
    assert.strictEqual(LimitRate.at(limit, 500).most, Infinity)
    assert.deepStrictEqual(LimitRate.at(parsed("2M"), 700), { rate: 2e6, most: 2e6 })
  })

  it("counts minutes by the clock of this machine", () => {
    fc.assert(fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }), (date) => {
      assert.strictEqual(LimitRate.minuteOf(date.getTime()), date.getHours() * 60 + date.getMinutes())
    }))
  })
})
