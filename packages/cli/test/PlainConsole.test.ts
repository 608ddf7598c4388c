import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as PlainConsole from "../src/PlainConsole.js"

describe("PlainConsole", () => {
  it("wraps a line between words, keeps its indent, and does not count colour codes as width", () => {
    assert.strictEqual(
      PlainConsole.tidied("--config FILE.json\n  Fields \u001b[1mbaseUrl\u001b[0m, token, tokenFile", 20),
      "--config FILE.json\n  Fields \u001b[1mbaseUrl\u001b[0m,\n  token, tokenFile"
    )
  })

  const word = FastCheck.string({ minLength: 1, maxLength: 12, unit: FastCheck.constantFrom(..."abc-") })

  it.prop("makes no line wider than the terminal if each word fits, and loses no word", [
    FastCheck.array(FastCheck.array(word, { minLength: 1 })),
    FastCheck.integer({ min: 12, max: 80 })
  ], ([lines, columns]) => {
    const tidied = PlainConsole.tidied(lines.map((words) => words.join(" ")).join("\n"), columns)
    assert.isTrue(tidied.split("\n").every((line) => line.length <= columns))
    assert.deepStrictEqual(tidied.split(/\s+/).filter((one) => one !== ""), lines.flat())
  })
})
