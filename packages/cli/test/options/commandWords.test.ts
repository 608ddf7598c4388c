import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import { runs } from "../../../testing/test/support/runs.js"
import { typed } from "../../src/options/commandWords.js"

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
  it("keeps plain words as they are, and quotes others for the platform's shell", () => {
    const words = ["upload", "my interviews/", "--concurrency", "8"]
    assert.strictEqual(typed(words, "linux"), "stevedore upload 'my interviews/' --concurrency 8")
    assert.strictEqual(typed(["upload", "a"], "linux", "npx @stevedore/cli"), "npx @stevedore/cli upload a")
    assert.strictEqual(typed(["it's"], "linux"), "stevedore 'it'\\''s'")
    assert.strictEqual(typed(["upload", "C:\\my files\\a.mp4"], "win32"), "stevedore upload \"C:\\my files\\a.mp4\"")
    assert.strictEqual(typed(["upload", "C:\\files\\a.mp4"], "win32"), "stevedore upload C:\\files\\a.mp4")
  })

  const word = FastCheck.string({ unit: FastCheck.constantFrom(..."ab '\"\\$`!*~&|;<>(){}#\u00e9") })

  it("quotes a directory that ends in a backslash so that a Windows program reads the same words", () => {
    const words = ["upload", "C:\\my files\\", "a,b", "@c", "--json"]
    const line = typed(words, "win32")
    assert.strictEqual(line, "stevedore upload \"C:\\my files\\\\\" \"a,b\" \"@c\" --json")
    assert.deepStrictEqual(readOnWindows(line), ["stevedore", ...words])
  })

  it.prop("a Windows program reads the given words back from the command line", [
    FastCheck.array(FastCheck.string({ unit: FastCheck.constantFrom(..."ab '\"\\,@&") }), { maxLength: 5 })
  ], ([words]) => assert.deepStrictEqual(readOnWindows(typed(words, "win32")), ["stevedore", ...words]))

  it.prop("a POSIX shell reads the given words back from the command line", [FastCheck.array(word, { maxLength: 5 })], (
    [words]
  ) => {
    const shell = `stevedore() { printf '%s\\0' "$@"; }; ${typed(["-", ...words], "linux")}`
    const read = execFileSync("/bin/sh", ["-c", shell], { encoding: "utf8" }).split("\0")
    assert.deepStrictEqual(read, ["-", ...words, ""])
  }, { fastCheck: { numRuns: runs(25) } })
})
