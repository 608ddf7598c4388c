import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Option } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import * as LineSpeed from "../../src/upload/lineSpeed.js"

// The model: the last twelve full windows of five seconds, without the first two
const windowMillis = 5000
const kept = 12
const ignored = 2

/** A line that carries so many bytes in each window, at one moment of it, and one attempt that never ends. */
const carrying = (windows: ReadonlyArray<number>): LineSpeed.LineSpeed => {
  const line = LineSpeed.make()
  line.began(0)
  windows.forEach((bytes, index) => line.moved(bytes, index * windowMillis + 1000))
  return line
}

const modelOf = (windows: ReadonlyArray<number>) => {
  const rates = windows.slice(Math.max(ignored, windows.length - kept)).map((bytes) => bytes / 5)
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const likely = mean(rates)
  const deviation = Math.sqrt(mean(rates.map((rate) => (rate - likely) * (rate - likely))))
  return { likely, least: Math.max(likely / 4, likely - deviation), most: Math.max(...rates) }
}

const speedAfter = (line: LineSpeed.LineSpeed, windows: number) => Option.getOrThrow(line.speed(windows * windowMillis))

const bytes = fc.integer({ min: 1, max: 1_000_000 })

describe("the speed of the line", () => {
  it("is the rate itself, without any doubt, where the rate is constant", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 4, max: 40 }), (each, count) => {
        const { least, likely, most } = speedAfter(carrying(Array.from({ length: count }, () => each)), count)
        assert.deepStrictEqual([least, likely, most].map(Math.fround), [each / 5, each / 5, each / 5].map(Math.fround))
      }),
      { numRuns: runs(200) }
    )
  })

  it("is what a plain mean and a plain deviation say of the last minute", () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 4, maxLength: 40 }), (windows) => {
        const speed = speedAfter(carrying(windows), windows.length)
        const model = modelOf(windows)
        assert.approximately(speed.likely, model.likely, 1e-6)
        assert.approximately(speed.least, model.least, 1e-3)
        assert.strictEqual(speed.most, model.most)
      }),
      { numRuns: runs(200) }
    )
  })

  it("does not change when nothing moves, and an interruption is seen all the same", () => {
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: 0, max: 30 })),
        (windows, looks) => {
          const [quiet, asked] = [carrying(windows), carrying(windows)]
          for (const look of looks.sort((one, other) => one - other)) {
            const at = (windows.length + look) * windowMillis
            asked.moved(0, at)
            for (const read of ["speed", "busy", "sending"] as const) {
              assert.deepStrictEqual(asked[read](at), quiet[read](at))
            }
          }
          const later = (windows.length + 12) * windowMillis
          assert.isTrue(Option.isNone(quiet.speed(later)))
        }
      ),
      { numRuns: runs(200) }
    )
  })

  it("takes a line that got faster into account with the next full window, and knows no other after a minute", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 2, max: 50 }), fc.integer({ min: 4, max: 20 }), (each, times, count) => {
        const slow = Array.from({ length: count }, () => each)
        const faster = (windows: number) =>
          speedAfter(
            carrying([...slow, ...Array.from({ length: windows }, () => each * times)]),
            count + windows
          )
        assert.strictEqual(faster(1).most, each * times / 5)
        assert.isAbove(faster(1).likely, each / 5)
        assert.deepStrictEqual(Math.fround(faster(kept).least), Math.fround(each * times / 5))
      }),
      { numRuns: runs(200) }
    )
  })
})
