import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import { typed } from "../src/CommandWords.js"

/** As a program on Windows takes its command line apart: backslashes mean something before a quote alone. */
const readOnWindows = (line: string): ReadonlyArray<string> => {
  const words = [""]
  let isQuoted = false
  for (const [piece, slashes = ""] of line.matchAll(/(\\*)"|\\+|[^\\"]/g)) {
    if (piece === " " && !isQuoted) words.push("")
    else if (piece.endsWith("\"")) {
      const isQuote = slashes.length % 2 === 0
      if (isQuote) isQuoted = !isQuoted
      words.push(`${words.pop()}${"\\".repeat(Math.floor(slashes.length / 2))}${isQuote ? "" : "\""}`)
    } else words.push(`${words.pop()}${piece}`)
  }
  return words
}

describe("CommandWords", () => {
  it("plain words stay as they are, others are quoted as the platform's shell wants it", () => {
    const words = ["upload", "my interviews/", "--concurrency", "8"]
    assert.strictEqual(typed(words, "linux"), "stevedore upload 'my interviews/' --concurrency 8")
    assert.strictEqual(typed(["it's"], "linux"), "stevedore 'it'\\''s'")
    assert.strictEqual(typed(["upload", "C:\\my files\\a.mp4"], "win32"), "stevedore upload \"C:\\my files\\a.mp4\"")
    assert.strictEqual(typed(["upload", "C:\\files\\a.mp4"], "win32"), "stevedore upload C:\\files\\a.mp4")
  })

  const word = FastCheck.string({ unit: FastCheck.constantFrom(..."ab '\"\\$`!*~&|;<>(){}#\u00e9") })

  it("a program on Windows reads a directory that ends in a backslash, and what follows it", () => {
    const words = ["upload", "C:\\my files\\", "a,b", "@c", "--json"]
    const line = typed(words, "win32")
    assert.strictEqual(line, "stevedore upload \"C:\\my files\\\\\" \"a,b\" \"@c\" --json")
    assert.deepStrictEqual(readOnWindows(line), ["stevedore", ...words])
  })

  it.prop("a program on Windows reads from what is typed the words that were given", [
    FastCheck.array(FastCheck.string({ unit: FastCheck.constantFrom(..."ab '\"\\,@&") }), { maxLength: 5 })
  ], ([words]) => assert.deepStrictEqual(readOnWindows(typed(words, "win32")), ["stevedore", ...words]))

  it.prop("a shell reads from what is typed the words that were given", [FastCheck.array(word, { maxLength: 5 })], (
    [words]
  ) => {
    const shell = `stevedore() { printf '%s\\0' "$@"; }; ${typed(["-", ...words], "linux")}`
    const read = execFileSync("/bin/sh", ["-c", shell], { encoding: "utf8" }).split("\0")
    assert.deepStrictEqual(read, ["-", ...words, ""])
  }, { fastCheck: { numRuns: 25 } })
})
