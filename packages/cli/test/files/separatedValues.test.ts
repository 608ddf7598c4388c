import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import * as SeparatedValues from "../../src/files/separatedValues.js"

const parsed = (text: string) => {
  const rows = SeparatedValues.parse(text)
  return Either.match(rows, {
    onLeft: ({ line, problem }) => `line ${line}: ${problem}`,
    onRight: (all) => all.map(({ cells }) => Object.values(cells))
  })
}

const cell = fc.string({ unit: fc.constantFrom("a", "é", "e\u0301", "\"", ",", ";", "\t", "\r", "\n", " ", "=") })

describe("SeparatedValues", () => {
  it.prop(
    "reads every row that it writes, with either line end and any content of the cells",
    [fc.array(fc.tuple(cell, cell), { minLength: 1 }), fc.constantFrom("\n", "\r\n")],
    ([rows, end]) => {
      const text = [["one", "two"], ...rows].map(SeparatedValues.line).join(end)
      const kept = rows.filter((cells) => cells.some((value) => value !== ""))
      assert.deepStrictEqual(parsed(text), kept)
    }
  )

  it.prop(
    "either reads a table to its end, or says where it stops",
    [fc.string({ unit: fc.constantFrom("a", "\"", ",", "\r", "\n", "\r\n") })],
    ([text]) => {
      const rows = SeparatedValues.parse(`x,y\n${text}`)
      if (Either.isLeft(rows)) return assert.isAtLeast(rows.left.line, 1)
      // what is no separator, quote or line end is in some cell
      const read = rows.right.flatMap(({ cells }) => Object.values(cells)).join("")
      assert.strictEqual(read.replaceAll(/[^a]/g, ""), text.replaceAll(/[^a]/g, ""))
    }
  )

  it.each<readonly [what: string, text: string, found: unknown]>([
    ["a lone carriage return in a cell", "path,note\na,1\nb,2\r3\nc,4", /^line 3: a carriage return that ends no line/],
    ["two before a line break", "path\na\r\r\nb", /^line 2: a carriage return/],
    ["the line ends of an old Mac", "path,note\ra,1\rb,2\r", /^line 1: a carriage return/],
    ["a quote that is cut", "path,note\na,\"one\nb,two", /^line 2: a quoted cell that does not end/],
    ["text after a quoted cell", "path\n\"a\"b\nc", /^line 2: text after a quoted cell/],
    ["more cells than the header", "path,note\na,1\nb,2,3", /^line 3: 3 cells, but the header has 2/],
    ["a column twice", "path,path\na,b", /^line 1: the header has the column "path" twice/],
    ["lines in quoted cells before it", "path\n\"a\nb\"\n\"c", /^line 4: a quoted cell that does not end/],
    ["empty cells beyond the header", "path,note\na,1,,\n", [["a", "1"]]],
    ["fewer cells", "note,path\nx\n", [["x", ""]]],
    ["the separator that a spreadsheet declares", "sep=;\r\npath;note\r\n\"a;b\";1,2", [["a;b", "1,2"]]],
    ["nothing", "", []]
  ])("%s", (_, text, found) => {
    const result = parsed(text)
    if (found instanceof RegExp) assert.match(String(result), found)
    else assert.deepStrictEqual(result, found)
  })
})
