// The same as `.ci/assertions.mjs` for Effect 3: each step of what Effect makes looks alike.
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { chai } from "vitest"

const comparator = (left, right) =>
  Effect.isEffect(left) && Effect.isEffect(right) && Object.keys(left).length !== Object.keys(right).length
    ? false
    : null

chai.config.deepEqual = (expected, actual) => chai.util.eql(expected, actual, { comparator })

fc.configureGlobal({ numRuns: 20 })
