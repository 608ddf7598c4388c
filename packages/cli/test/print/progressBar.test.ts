import { assert, describe, it } from "@effect/vitest"
import * as UploadProgress from "@stevedore/core/UploadProgress"
import { Duration, FastCheck, Option } from "effect"
import * as ProgressBar from "../../src/print/progressBar.js"

const progress = FastCheck.record({
  phase: FastCheck.constantFrom(...UploadProgress.UploadPhase.literals),
  size: FastCheck.integer({ min: 1, max: 10_000_000_000 }),
  part: FastCheck.double({ min: 0, max: 1, noNaN: true }),
  speed: FastCheck.option(FastCheck.integer({ min: 1, max: 2_000_000_000 }), { nil: undefined })
}).map(({ part, phase, size, speed }): UploadProgress.UploadProgress => {
  const sent = Math.floor(size * part)
  return {
    ...UploadProgress.initial(size),
    phase,
    sent,
    confirmed: sent,
    parts: { total: 10, confirmed: 3 },
    sessions: 1,
    speed: Option.fromNullable(speed),
    timeLeft: Option.map(Option.fromNullable(speed), (one) => Duration.seconds((size - sent) / one))
  }
})

const at = (sent: number, phase: UploadProgress.UploadPhase = "uploading"): UploadProgress.UploadProgress => ({
  ...UploadProgress.initial(1_000_000_000),
  phase,
  sent,
  confirmed: sent,
  parts: { total: 60, confirmed: 27 },
  sessions: 1,
  speed: Option.some(12_500_000),
  timeLeft: Option.some(Duration.seconds(44))
})

describe("ProgressBar", () => {
  it.prop("is one line of ASCII, never wider than the terminal", [progress, FastCheck.integer({ min: 0, max: 300 })], (
    [now, columns]
  ) => {
    const line = ProgressBar.render(now, columns)
    assert.isAtMost(line.length, columns)
    assert.match(line, /^[\x20-\x7e]*$/)
  })

  it.prop("shows the percentage in a terminal of 5 columns or more", [
    progress,
    FastCheck.integer({ min: 5, max: 300 })
  ], ([now, columns]) => {
    assert.match(ProgressBar.render(now, columns), /\d%/)
  })

  it.prop("is full and shows 100% only in the completed phase", [progress], ([now]) => {
    const line = ProgressBar.render(now, 200)
    assert.strictEqual(/\[#+\]/.test(line), now.phase === "completed")
    assert.strictEqual(line.includes("100%"), now.phase === "completed")
  })

  it("drops the least important details first as the terminal narrows", () => {
    const widths = [100, 50, 40, 28, 10, 5].map((columns) => ProgressBar.render(at(450_000_000), columns))
    assert.deepStrictEqual(widths, [
      "[##################----------------------]  45%  450.0 MB of 1.0 GB  12.5 MB/s  44s left",
      "[#####--------]  45%  450.0 MB of 1.0 GB  44s left",
      "[##########-------------]  45%  44s left",
      "[####-------]  45%  44s left",
      " 45%",
      " 45%"
    ])
  })

  it.prop("is never wider than the terminal for a download of known or unknown size", [
    FastCheck.integer({ min: 0, max: 10_000_000_000 }),
    FastCheck.option(FastCheck.integer({ min: 0, max: 10_000_000_000 }), { nil: undefined }),
    FastCheck.integer({ min: 0, max: 300 })
  ], ([received, size, columns]) => {
    const line = ProgressBar.renderBytes({ received, size: Option.fromNullable(size) }, columns)
    assert.isAtMost(line.length, columns)
    assert.match(line, /^[\x20-\x7e]*$/)
  })

  it("shows of a download how much of it has been received", () => {
    const now = { received: 450_000_000, size: Option.some(1_000_000_000) }
    assert.strictEqual(ProgressBar.renderBytes(now, 50), "[##########-------------]  45%  450.0 MB of 1.0 GB")
    assert.strictEqual(ProgressBar.renderBytes({ ...now, size: Option.none() }, 50), "450.0 MB")
  })

  it("says that an upload has stalled instead of the time that is left, and never that no time is left", () => {
    const stalled = { ...at(450_000_000), stalledSince: Option.some(new Date(0)), speed: Option.none() }
    assert.strictEqual(ProgressBar.plain(stalled), "45%, 450.0 MB of 1.0 GB, stalled")
    assert.include(ProgressBar.plain({ ...at(999_999_999), timeLeft: Option.some(Duration.millis(80)) }), "1s left")
  })

  it("has a plain form for a log line", () => {
    assert.strictEqual(ProgressBar.plain(at(450_000_000)), "45%, 450.0 MB of 1.0 GB, 12.5 MB/s, 44s left")
    assert.strictEqual(
      ProgressBar.plain(at(1_000_000_000, "completing")),
      "99%, 1.0 GB of 1.0 GB, 12.5 MB/s, completing"
    )
  })
})
