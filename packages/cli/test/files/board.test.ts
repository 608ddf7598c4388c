import { assert, describe, it } from "@effect/vitest"
import * as UploadProgress from "@stevedore/core/UploadProgress"
import { Duration, FastCheck, Option } from "effect"
import * as UploadBoard from "../../src/files/board.js"
import * as Printable from "../../src/print/printable.js"

const uploading = (name: string, sent: number, size = 1_000_000_000): UploadBoard.Active => ({
  name,
  progress: {
    ...UploadProgress.initial(size),
    phase: "uploading",
    sent,
    confirmed: sent,
    speed: Option.some(12_500_000),
    timeLeft: Option.some(Duration.seconds((size - sent) / 12_500_000))
  }
})

const board: UploadBoard.Board = {
  active: [uploading("interviews/2030-01-02 kick-off.mp4", 450_000_000), uploading("\u6620\u753b.mp4", 10_000_000)],
  files: { total: 12, done: 3, failed: 1 },
  size: 12_000_000_000,
  settled: 4_000_000_000,
  speed: Option.some(25_000_000)
}

const anyBoard = FastCheck.record({
  names: FastCheck.array(FastCheck.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 40 }),
  done: FastCheck.nat(1000),
  failed: FastCheck.nat(10),
  part: FastCheck.double({ min: 0, max: 1, noNaN: true })
}).map(({ done, failed, names, part }): UploadBoard.Board => ({
  active: names.map((name) => uploading(name, Math.floor(part * 1_000_000_000))),
  files: { total: names.length + done + failed, done, failed },
  size: 1_000_000_000 * (names.length + done + failed),
  settled: 1_000_000_000 * (done + failed),
  speed: part < 0.1 ? Option.none() : Option.some(1_000_000)
}))

describe("UploadBoard", () => {
  it.prop("keeps each line narrower than the terminal, and shows fewer lines than the terminal has rows", [
    anyBoard,
    FastCheck.integer({ min: 2, max: 300 }),
    FastCheck.integer({ min: 2, max: 100 })
  ], ([one, columns, rows]) => {
    const lines = UploadBoard.lines(one, { columns, rows })
    assert.isBelow(lines.length, rows)
    for (const line of lines) assert.isBelow(Printable.width(line), columns)
  })

  it.prop("shows 100% if and only if every file is settled", [anyBoard], ([one]) => {
    const line = UploadBoard.plain(one)
    assert.strictEqual(line.startsWith("100%"), one.files.done + one.files.failed === one.files.total)
  })

  it("shows a line for each file that is being uploaded, and the total below", () => {
    assert.deepStrictEqual(UploadBoard.lines(board, { columns: 102, rows: 24 }), [
      "interviews/2030..02 kick-off.mp4  [#######----------]  45%  450.0 MB of 1.0 GB  12.5 MB/s  44s left",
      "\u6620\u753b.mp4                          [---------------]   1%  10.0 MB of 1.0 GB  12.5 MB/s  1m 19s left",
      "[#########----------------]  37%  3 of 12 files  1 failed  4.5 GB of 12.0 GB  25.0 MB/s  5m 2s left"
    ])
  })

  it("shows no total for a single file", () => {
    const one: UploadBoard.Board = {
      ...board,
      active: board.active.slice(0, 1),
      files: { total: 1, done: 0, failed: 0 }
    }
    assert.deepStrictEqual(UploadBoard.lines(one, { columns: 43, rows: 24 }), [
      "[##########-------------]  45%  44s left"
    ])
  })

  it("counts the files that do not fit the height of the terminal", () => {
    const many = { ...board, active: Array.from({ length: 9 }, (_, index) => uploading(`${index}.mp4`, 0)) }
    const lines = UploadBoard.lines(many, { columns: 80, rows: 9 })
    assert.strictEqual(lines.length, 6)
    assert.strictEqual(lines[4], "and 5 more")
    assert.strictEqual(UploadBoard.lines(many, { columns: 80, rows: 24 }).length, 10)
  })

  it("gives the total as one plain line for a log", () => {
    assert.strictEqual(
      UploadBoard.plain(board),
      "37%, 3 of 12 files, 1 failed, 4.5 GB of 12.0 GB, 25.0 MB/s, 5m 2s left"
    )
  })
})
