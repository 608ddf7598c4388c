// `@effect/vitest` for Effect 4, with the properties of the one for Effect 3: those take arbitraries of fast-check, and
// Schemas, whose values they draw.
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import fc from "fast-check"
import * as real from "../node_modules/@effect/vitest/dist/index.js"
import * as SchemaValues from "./SchemaValues.mjs"

export * from "../node_modules/@effect/vitest/dist/index.js"

// several arbitraries are arguments, and named ones a record: the examples of a property have the same form
const propertyOf = (make, arbitraries, self) =>
  Array.isArray(arbitraries)
    ? make(...arbitraries.map(drawn), (...values) => self(values))
    : make(fc.record(Object.fromEntries(Object.entries(arbitraries).map(([name, one]) => [name, drawn(one)]))), self)

const drawn = (source) => Schema.isSchema(source) ? SchemaValues.make(source) : source

const optionsOf = (timeout) => typeof timeout === "object" ? timeout : { timeout }

const prop = (test) => (name, arbitraries, self, timeout) =>
  test(
    name,
    optionsOf(timeout),
    (context) =>
      fc.assert(
        propertyOf(fc.property, arbitraries, (values) => self(values, context)),
        optionsOf(timeout).fastCheck
      )
  )

// each run of a property begins at the start of its clock
const anew = (run) => Effect.provide(run, TestClock.layer())

const effectProp = (test, prepared) => (name, arbitraries, self, timeout) =>
  test(name, (context) =>
    Effect.contextWith((services) =>
      Effect.promise(() =>
        fc.assert(
          propertyOf(fc.asyncProperty, arbitraries, (values) =>
            Effect.runPromiseWith(services)(prepared(Effect.asVoid(Effect.scoped(self(values, context)))))),
          optionsOf(timeout).fastCheck
        )
      )
    ), timeout)

const bound = (test) => (...args) => test.each(...args)

const own = (test, prepared = (run) => run) =>
  Object.assign((...args) => test(...args), test, {
    each: bound(test),
    prop: effectProp(test, prepared),
    skipIf: (...args) => test.skipIf(...args)
  })

// what has layers of its own is given the tests of this module
const withOwn = (methods) =>
  Object.assign((...args) => methods(...args), methods, {
    effect: own(methods.effect),
    scoped: own(methods.effect),
    ...(methods.live === undefined ? {} : { live: own(methods.live), scopedLive: own(methods.live) }),
    layer: (...args) => layered(methods.layer(...args))
  })

const layered = (suite) => (...args) => suite(...args.slice(0, -1), (methods) => args.at(-1)(withOwn(methods)))

export const layer = (...args) => layered(real.layer(...args))

export const effect = own(real.it.effect, anew)
export const scoped = effect
export const live = own(real.it.live)
export const it = Object.assign((...args) => real.it(...args), real.it, {
  effect,
  scoped,
  live,
  scopedLive: live,
  each: bound(real.it),
  prop: prop(real.it)
})
