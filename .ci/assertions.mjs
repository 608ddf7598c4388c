// For every test. One that asserts nothing fails: it would pass whatever the code does.
//
// What Effect makes is iterable, for `yield*`, and each step of that looks alike. By itself chai compares
// two of them by their steps where they have another number of fields: it would take Some for None.
import { effect, it, layer, prop, scoped } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach, chai } from "vitest"
import { root } from "./packages.mjs"

// no test writes into the home of whoever runs it, and none finds what tests of another process are running
process.env.XDG_STATE_HOME = `${root}/.cache/state/${process.env.VITEST_POOL_ID}`

/** @type {(left: unknown, right: unknown) => false | null} */
const comparator = (left, right) =>
  Effect.isEffect(left) && Effect.isEffect(right) && Object.keys(left).length !== Object.keys(right).length
    ? false
    : null

chai.config.deepEqual = (expected, actual) => chai.util.eql(expected, actual, { comparator })

// `layer` of @effect/vitest leaves its own methods on the `it` that all files of a process share: after one that
// excludes the test services, a later file would run by the clock of the machine.
Object.assign(it, { effect, layer, prop, scoped })

// this file runs once for each file of a process, and what it changes in chai stays
const key = Symbol.for("stevedore/assertions")
const { prototype } = chai.Assertion
/** @type {{ made: number }} */
const assertions = Reflect.get(prototype, key) ?? { made: 0 }
if (!Reflect.has(prototype, key)) {
  Reflect.set(prototype, key, assertions)
  const { assert } = prototype
  /** @this {typeof prototype} @param {Parameters<typeof assert>} parts */
  prototype.assert = function(...parts) {
    assertions.made++
    return assert.apply(this, parts)
  }
}

beforeEach(() => {
  assertions.made = 0
})

afterEach(({ task }) => {
  // what a test of types asserts, the compiler checks
  if (assertions.made > 0 || task.file.name.endsWith("Types.test.ts") || task.result?.state === "fail") return
  throw new Error(`"${task.name}" asserts nothing`)
})
