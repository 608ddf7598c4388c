import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Printable from "../../src/print/printable.js"
import * as Table from "../../src/print/table.js"

const columns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 6 },
  { header: "NAME", width: undefined },
  { header: "SIZE", width: 7, spare: true },
  { header: "DATE", width: 16, spare: true }
]

const row = ["id0001", "a-rather-long-name-of-an-interview.mp4", "12 MB", "2026-01-31T08:15:30.000Z"]

describe("Table", () => {
  it("gives one column what is left, and shows dates as people read them", () => {
    const [header = "", line = ""] = Table.lines(columns, [columns.map((column) => column.header), row], 60)
    assert.strictEqual(header.indexOf("DATE"), line.indexOf("2026-01-31 08:15"))
    assert.strictEqual(line.length, 60)
    assert.match(line, /^id0001 {2}a-rather\S*\.\.\S*\.mp4 {2}12 MB {2,}2026-01-31 08:15$/)
  })

  it("leaves out the last spare columns first where there is no room, and never the others", () => {
    assert.match(Table.lines(columns, [row], 40)[0] ?? "", /^id0001 {2}a-rather.*12 MB$/)
    assert.match(Table.lines(columns, [row], 20)[0] ?? "", /^id0001 {2}\S{10,12}$/)
  })

  it.prop("makes no line wider than the terminal, whatever is in it", [
    FastCheck.array(FastCheck.array(FastCheck.string({ unit: "binary" }), { minLength: 4, maxLength: 4 })),
    FastCheck.integer({ min: 18, max: 200 })
  ], ([rows, terminal]) => {
    for (const line of Table.lines(columns, rows, terminal)) assert.isAtMost(Printable.width(line), terminal)
  })
})
