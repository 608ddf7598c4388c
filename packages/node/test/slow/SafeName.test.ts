import { assert, describe, it } from "@effect/vitest"
import { SafeName } from "@stevedore/node"
import { FastCheck as fc } from "effect"
import { basename, win32 } from "node:path"
import { runs } from "../../../testing/test/support/runs.js"

const { safeName } = SafeName

describe("safeName", () => {
  it("leaves a plain name as it is", () => {
    for (const name of ["interview.mp4", "Año nuevo (1).tar.gz", "写真.png", "a - b_c+d, e.txt", "no extension"]) {
      assert.strictEqual(safeName(name), name.normalize("NFC"))
    }
  })

  it("neutralizes path separators, device names, leading dashes and invisible characters", () => {
    const names: ReadonlyArray<readonly [given: string, made: string]> = [
      ["../../etc/passwd", "_.._etc_passwd"],
      ["/etc/passwd", "_etc_passwd"],
      ["C:\\Windows\\system32", "C__Windows_system32"],
      ["a\u0000b\nc\u001b[31m.txt", "abc[31m.txt"],
      ["-rf", "rf"],
      ["~root", "root"],
      [".bashrc", "bashrc"],
      ["..", "download"],
      ["", "download"],
      ["   ", "download"],
      ["name. . ", "name"],
      ["CON", "_CON"],
      ["nul.txt", "_nul.txt"],
      ["Com1.tar.gz", "_Com1.tar.gz"],
      ["console.txt", "console.txt"],
      ["invoice\u202Efdp.exe", "invoicefdp.exe"],
      ["a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"]
    ]
    for (const [given, made] of names) assert.strictEqual(safeName(given), made)
  })

  it("shortens a long name to 255 bytes at a character boundary, and keeps its extension", () => {
    const name = safeName(`${"é".repeat(400)}.mp4`)
    assert.isAtMost(Buffer.byteLength(name), 255)
    assert.isTrue(name.endsWith("é.mp4"))
    assert.isAtMost(Buffer.byteLength(safeName(`a.${"x".repeat(400)}`)), 255)
  })

  it("turns any text into a file name without a directory, and leaves its own results unchanged", () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
        fc.constantFrom("/", "\\", ".", "..", "-", "~", ":", "\u0000", "\u202E", " ", "con", "lpt1", "COM¹")
      )
    })
    fc.assert(
      fc.property(hostile, (given) => {
        const name = safeName(given)
        assert.isAbove(name.length, 0)
        assert.isAtMost(Buffer.byteLength(name), 255)
        assert.strictEqual(basename(name), name)
        assert.strictEqual(win32.basename(name), name)
        assert.notMatch(name, /^[-.~\s]|[.\s]$|[\p{Cc}\p{Cf}/\\:*?"<>|]/u)
        assert.notMatch(name, /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i)
        assert.strictEqual(safeName(name), name)
      }),
      { numRuns: runs(500) }
    )
  })
})
