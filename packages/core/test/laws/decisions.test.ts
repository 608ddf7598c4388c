import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { decisions } from "../upload/decisions.js"

/** A prime, so that the sample meets every combination. */
const every = 41

// Written by decisions(every), as pairs of an outcome and of the situations that have it
const known: unknown = JSON.parse(readFileSync(new URL("decisions.json", import.meta.url), "utf8"))

describe("what is decided", () => {
  it("in each situation is what the table says", () => {
    const outcomes: Record<string, Array<string>> = {}
    for (const [situation, outcome] of Object.entries(decisions(every))) (outcomes[outcome] ??= []).push(situation)
    assert.deepStrictEqual(outcomes, known)
  })
})
