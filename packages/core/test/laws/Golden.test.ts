import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { cases, endOf, nameOf } from "../upload/golden.js"

// A prime, so that the sample meets every combination. All of them: sampled by 1, in some minutes
const every = 211

const sample = cases.filter((_, index) => index % every === 0)

const golden: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("golden.json", import.meta.url), "utf8")
)

const parts = [1, 2, 3, 4]

describe("the decisions of an upload", () => {
  it("are in the golden table, and no others", () => {
    assert.deepStrictEqual(sample.map(nameOf), Object.keys(golden))
  })

  it.live.each(parts)("are those of the golden table: part %d of 4", (part) =>
    Effect.gen(function*() {
      for (const one of sample.filter((_, index) => index % parts.length === part - 1)) {
        assert.strictEqual(yield* endOf(one), golden[nameOf(one)], nameOf(one))
      }
    }))
})
