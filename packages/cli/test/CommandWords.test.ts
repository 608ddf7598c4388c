import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import { typed } from "../src/CommandWords.js"

describe("CommandWords", () => {
  it("plain words stay as they are, others are quoted as the platform's shell wants it", () => {
    const words = ["upload", "my interviews/", "--concurrency", "8"]
    assert.strictEqual(typed(words, "linux"), "stevedore upload 'my interviews/' --concurrency 8")
    assert.strictEqual(typed(["it's"], "linux"), "stevedore 'it'\\''s'")
    assert.strictEqual(typed(["upload", "C:\\my files\\a.mp4"], "win32"), "stevedore upload \"C:\\my files\\a.mp4\"")
    assert.strictEqual(typed(["upload", "C:\\files\\a.mp4"], "win32"), "stevedore upload C:\\files\\a.mp4")
  })

  const word = FastCheck.string({ unit: FastCheck.constantFrom(..."ab '\"\\$`!*~&|;<>(){}#\u00e9") })

  it.prop("a shell reads from what is typed the words that were given", [FastCheck.array(word, { maxLength: 5 })], (
    [words]
  ) => {
    const shell = `stevedore() { printf '%s\\0' "$@"; }; ${typed(["-", ...words], "linux")}`
    const read = execFileSync("/bin/sh", ["-c", shell], { encoding: "utf8" }).split("\0")
    assert.deepStrictEqual(read, ["-", ...words, ""])
  }, { fastCheck: { numRuns: 25 } })
})
