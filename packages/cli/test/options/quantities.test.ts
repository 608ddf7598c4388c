import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import * as Quantities from "../../src/options/quantities.js"

const now = Date.UTC(2026, 5, 1)

const at = (text: string, zone: string): string | null =>
  Option.getOrNull(
    Option.map(
      Quantities.time(text, now, DateTime.zoneUnsafeMakeNamed(zone)),
      (millis) => new Date(millis).toISOString()
    )
  )

describe("Quantities.time", () => {
  it.each<readonly [text: string, zone: string, time: string | null]>([
    ["2026-01-31", "America/Los_Angeles", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31", "Asia/Tokyo", "2026-01-30T15:00:00.000Z"],
    ["2026-01-31T12:00", "Asia/Tokyo", "2026-01-31T03:00:00.000Z"],
    ["2026-01-31 12:00:30", "Asia/Tokyo", "2026-01-31T03:00:30.000Z"],
    ["2026-07-01", "Europe/Berlin", "2026-06-30T22:00:00.000Z"],
    ["2026-01-31T12:00Z", "Asia/Tokyo", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:00+02:00", "Asia/Tokyo", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T12:00:00+0200", "Asia/Tokyo", "2026-01-31T10:00:00.000Z"],
    ["36h", "Asia/Tokyo", "2026-05-30T12:00:00.000Z"],
    ["2026-02-30", "Asia/Tokyo", null],
    ["2026-13-01", "Asia/Tokyo", null],
    ["2026-01-31 at noon", "Asia/Tokyo", null],
    ["2026-01-31T25:00", "Asia/Tokyo", null],
    ["yesterday", "Asia/Tokyo", null]
  ])("%s in %s is %s", (text, zone, time) => {
    assert.strictEqual(at(text, zone), time)
  })

  it("takes this machine's zone by default", () => {
    const local = new Date(2026, 0, 31).getTime()
    assert.deepStrictEqual(Quantities.time("2026-01-31", now), Option.some(local))
  })
})
