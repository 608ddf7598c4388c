import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Printable from "../../src/print/printable.js"

// whatever a terminal may obey: C0, DEL and C1, and the marks that turn the direction of writing; and what shows nothing
const commands =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udfff]/

const text = FastCheck.string({
  unit: FastCheck.oneof(
    FastCheck.constantFrom(
      "\u001b",
      "\n",
      "\u009b",
      "\u202e",
      "\t",
      "\u061c",
      "\u2028",
      "\u200b",
      "\ufeff",
      "\u{e0041}"
    ),
    FastCheck.string({ minLength: 1, maxLength: 1 })
  )
})

describe("Printable", () => {
  it.prop("a line contains no terminal control characters and no line breaks", [text], ([given]) => {
    assert.notMatch(Printable.line(given), commands)
    assert.strictEqual([...Printable.line(given)].length, [...given].length)
  })

  it.prop("a column contains no tab and no terminal control characters", [FastCheck.array(text)], ([given]) => {
    const columns = given.length === 0 ? [] : Printable.columns(given).split("\t")
    assert.strictEqual(columns.length, given.length)
    assert.notMatch(columns.join(""), commands)
  })

  it.prop("JSON has no raw control characters, and loses nothing", [FastCheck.dictionary(text, text)], ([given]) => {
    const line = Printable.json(given)
    assert.notMatch(line, commands)
    assert.deepStrictEqual(JSON.parse(line), JSON.parse(JSON.stringify(given)))
  })

  it.prop("fitted text takes at most the given columns, and exactly as many if it is ASCII", [
    text,
    FastCheck.integer({ min: 0, max: 60 })
  ], ([given, columns]) => {
    const fitted = Printable.fitted(given, columns)
    assert.isAtMost(Printable.width(fitted), columns)
    assert.notMatch(fitted, commands)
    if (/^[ -~]*$/.test(given)) assert.strictEqual(fitted.length, columns)
  })

  it("fitted text that is too long keeps its start and its end", () => {
    assert.strictEqual(Printable.fitted("2030-01-02 kick-off with the customer.mp4", 20), "2030-01-0..tomer.mp4")
  })

  it.prop("wrapped text keeps all words, and a line is too long only if it is a single word", [
    FastCheck.array(FastCheck.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
    FastCheck.integer({ min: 1, max: 40 })
  ], ([words, columns]) => {
    const lines = Printable.wrapped(words.join(" "), columns)
    assert.strictEqual(lines.join(" "), words.join(" "))
    for (const line of lines) assert.isTrue(line.length <= columns || !line.includes(" "))
  })

  it("wrapped text does not count colour codes as columns", () => {
    assert.deepStrictEqual(Printable.wrapped("\u001b[1mbold\u001b[0m word", 9), ["\u001b[1mbold\u001b[0m word"])
  })
})
