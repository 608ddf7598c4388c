import { assert, describe, it } from "@effect/vitest"
import { Duration, FastCheck } from "effect"
import * as Measure from "../../src/parts/measure.js"

const sizes = FastCheck.integer({ min: 0, max: 10_000_000_000 })

const factors: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }

describe("Measure", () => {
  it.prop("a formatted size has at most 8 characters, and is off by at most about 0.05 units", [sizes], ([size]) => {
    const text = Measure.bytes(size)
    const [number = "", unit = ""] = text.split(" ")
    const factor = factors[unit] ?? NaN
    assert.isAtMost(text.length, 8)
    assert.isBelow(Number(number), 1000)
    assert.isAtMost(Math.abs(Number(number) * factor - size), factor === 1 ? 0 : factor * 0.0501)
  })

  it("a size that would round up to 1000 is formatted in the next unit", () => {
    assert.strictEqual(Measure.bytes(999), "999 B")
    assert.strictEqual(Measure.bytes(1000), "1.0 kB")
    assert.strictEqual(Measure.bytes(999_949), "999.9 kB")
    assert.strictEqual(Measure.bytes(999_950), "1.0 MB")
    assert.strictEqual(Measure.bytes(999_950_000_000), "1.0 TB")
    assert.strictEqual(Measure.speed(12_500_000), "12.5 MB/s")
  })

  // of two sizes by chance, the one is hardly ever just below the other
  const shares = FastCheck.oneof(
    FastCheck.tuple(sizes, sizes),
    FastCheck.tuple(sizes, FastCheck.integer({ min: 0, max: 1000 })).map(([done, left]) => [done, done + left] as const)
  )

  it.prop("a percentage is an integer from 0 to 100, and 100 only if all is done", [shares], ([[done, whole]]) => {
    const percent = Measure.percent(done, whole)
    assert.isTrue(Number.isInteger(percent) && percent >= 0 && percent <= 100)
    assert.strictEqual(percent === 100, done >= whole)
  })

  it("a duration is formatted to the second, and below one second to the millisecond", () => {
    assert.strictEqual(Measure.duration(Duration.millis(83_400)), "1m 23s")
    assert.strictEqual(Measure.duration(Duration.millis(250.4)), "250ms")
    assert.strictEqual(Measure.duration(Duration.millis(1400)), "1s")
    assert.strictEqual(Measure.duration(Duration.infinity), "forever")
    assert.strictEqual(Measure.duration(Duration.hours(47)), "1d 23h")
    assert.strictEqual(Measure.duration(Duration.hours(49)), "2 days")
    assert.strictEqual(Measure.duration(Duration.seconds(1_000_000_000)), "31 years")
  })

  it.prop(
    "a duration has four short words at most, whatever it is",
    { nanos: FastCheck.bigInt(0n, 10n ** 30n) },
    ({ nanos }) => {
      assert.match(
        Measure.duration(Duration.nanos(nanos)),
        /^(?:\d{1,3}ms|(?:1d ?)?(?:\d{1,2}h ?)?(?:\d{1,2}m ?)?(?:\d{1,2}s)?|\d{1,3} days|\d+ years|0)$/
      )
    }
  )
})
