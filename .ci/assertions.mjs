// For every test: what Effect makes is iterable, for `yield*`, and each step of that looks alike. By itself chai compares
// two of them by their steps where they have another number of fields: it would take Some for None.
import { effect, it, layer, prop, scoped } from "@effect/vitest"
import { Effect } from "effect"
import { chai } from "vitest"

/** @type {(left: unknown, right: unknown) => false | null} */
const comparator = (left, right) =>
  Effect.isEffect(left) && Effect.isEffect(right) && Object.keys(left).length !== Object.keys(right).length
    ? false
    : null

chai.config.deepEqual = (expected, actual) => chai.util.eql(expected, actual, { comparator })

// `layer` of @effect/vitest leaves its own methods on the `it` that all files of a process share: after one that
// excludes the test services, a later file would run by the clock of the machine.
Object.assign(it, { effect, layer, prop, scoped })
