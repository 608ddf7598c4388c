import { assert } from "@effect/vitest"
import { readFileSync } from "node:fs"

const budgets: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL("../../../bench/src/budgets.json", import.meta.url), "utf8")
)

/** What was counted is within the budget of the same name. Fails with what grew, and by how much. */
export const withinBudget = (counted: Readonly<Record<string, number>>) =>
  assert.deepStrictEqual(
    Object.entries(counted).flatMap(([name, count]) => {
      const most = budgets[name] ?? NaN
      return count <= most ? [] : [`${name}: ${Math.round(count * 100) / 100}, at most ${most}`]
    }),
    []
  )
