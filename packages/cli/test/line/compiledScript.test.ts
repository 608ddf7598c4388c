import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CompiledScript from "../../src/line/compiledScript.js"

const says = (word: string) =>
  `"use strict"\nrequire("node:fs").writeFileSync(require("node:path").join(__dirname, "said"), "${word}, " + typeof this)`

const place = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-script-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
).pipe(Effect.map((directory) => {
  const script = join(directory, "script.cjs")
  const kept = join(directory, "kept")
  const said = join(directory, "said")
  writeFileSync(script, says("Ahoy"))
  return {
    script,
    kept,
    /** Runs it as a process of its own would: whether it was compiled before, and what it said. */
    run: (keptAt: string | undefined = kept): readonly [boolean, string] => {
      const atExit: Array<() => void> = []
      rmSync(said, { force: true })
      const wasCompiled = CompiledScript.run(script, keptAt, (keep) => atExit.push(keep))
      for (const keep of atExit) keep()
      return [wasCompiled, readFileSync(said, "utf8")]
    }
  }
}))

describe("a script with cached compiled code", () => {
  it.scoped("is compiled once, into a private file that the next run leaves unchanged", () =>
    Effect.map(place, ({ kept, run }) => {
      assert.deepStrictEqual(run(), [false, "Ahoy, undefined"])
      assert.strictEqual(statSync(kept).mode & 0o777, 0o600)
      const before = readFileSync(kept)
      assert.deepStrictEqual(run(), [true, "Ahoy, undefined"])
      assert.deepStrictEqual(readFileSync(kept), before)
    }))

  it.scoped("is compiled again when it changes, even if its length stays the same", () =>
    Effect.map(place, ({ run, script }) => {
      run()
      writeFileSync(script, says("Ohoy"))
      assert.deepStrictEqual(run(), [false, "Ohoy, undefined"])
      assert.deepStrictEqual(run(), [true, "Ohoy, undefined"])
    }))

  it.scoped("is compiled again when the cache is truncated", () =>
    Effect.map(place, ({ kept, run }) => {
      run()
      const whole = readFileSync(kept)
      for (const length of [0, 3, 8, Math.floor(whole.length / 2), whole.length - 1]) {
        writeFileSync(kept, whole.subarray(0, length))
        assert.deepStrictEqual(run(), [false, "Ahoy, undefined"])
        assert.deepStrictEqual(run(), [true, "Ahoy, undefined"])
      }
    }))

  it.scoped("is compiled again when one byte of the cache is changed", () =>
    Effect.map(place, ({ kept, run }) => {
      run()
      const whole = readFileSync(kept)
      for (let at = 0; at < whole.length; at += 29) {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ 0x10
        writeFileSync(kept, damaged)
        assert.deepStrictEqual(run(), [false, "Ahoy, undefined"])
        assert.deepStrictEqual(run(), [true, "Ahoy, undefined"])
      }
    }))

  it.scoped("runs even if the cache cannot be written or read", () =>
    Effect.map(place, ({ kept, run, script }) => {
      assert.deepStrictEqual(run(join(script, "kept")), [false, "Ahoy, undefined"])
      run()
      chmodSync(kept, 0o000)
      assert.strictEqual(run()[1], "Ahoy, undefined")
    }))
})
