// `Random.make` and `Random.fixed` of Effect 3: a generator that one can hand on is made by a seed there.
import * as Hash from "effect/Hash"

const integerOf = (double) =>
  Math.floor(double * (Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER + 1)) + Number.MIN_SAFE_INTEGER

const randomOf = (next) => ({ nextDoubleUnsafe: next, nextIntUnsafe: () => integerOf(next()) })

// what a seed gives is the same each time, and another than on 3
export const make = (seed) => {
  let state = Hash.hash(seed) >>> 0
  return randomOf(() => {
    state = (state + 0x6d2b79f5) >>> 0
    const once = Math.imul(state ^ (state >>> 15), state | 1)
    const twice = once ^ (once + Math.imul(once ^ (once >>> 7), once | 61))
    return ((twice ^ (twice >>> 14)) >>> 0) / 2 ** 32
  })
}

export const fixed = (values) => {
  let drawn = 0
  return randomOf(() => values[drawn++ % values.length])
}
