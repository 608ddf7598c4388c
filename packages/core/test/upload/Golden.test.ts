import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { cases, endOf, nameOf } from "./golden.js"

// A prime, so that the sample meets every combination. All of them: sampled by 1, in some minutes
const every = 211

describe("the decisions of an upload", () => {
  it.live("are those of the golden table", () =>
    Effect.gen(function*() {
      const rows: Record<string, string> = {}
      for (const [index, one] of cases.entries()) {
        if (index % every === 0) rows[nameOf(one)] = yield* endOf(one)
      }
      const golden: unknown = JSON.parse(readFileSync(new URL("golden.json", import.meta.url), "utf8"))
      assert.deepStrictEqual(rows, golden)
    }))
})
