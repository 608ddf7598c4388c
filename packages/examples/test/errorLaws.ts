import { assert, it } from "@effect/vitest"
import { ErrorKind } from "@stevedore/core"
import { Arbitrary, Array as Arr, Cause, Effect, FastCheck as fc, Logger, Predicate, Schema } from "effect"
import { inspect } from "node:util"

export interface ErrorClass {
  readonly tag: string
  readonly of: string
  readonly fields: ReadonlyArray<string>
  readonly values: fc.Arbitrary<unknown>
}

const isErrorClass = (value: unknown): value is object =>
  typeof value === "function" && value.prototype instanceof Error

// An error that is no Schema could not cross a worker, so each must be one.
const describedBy = (of: string, value: object): ErrorClass => {
  if (!Schema.isSchema(value) || !Predicate.hasProperty(value, "_tag") || !Predicate.hasProperty(value, "fields")) {
    return assert.fail(`${inspect(value)} of ${of} is no Schema.TaggedError`)
  }
  return {
    tag: String(value._tag),
    of,
    fields: Object.keys(Object(value.fields)),
    values: Arbitrary.make(Schema.make<unknown>(value.ast))
  }
}

/** Every error that modules of a package export. */
export const errorsOf = (of: string, modules: ReadonlyArray<object>): ReadonlyArray<ErrorClass> => {
  const exported: ReadonlyArray<unknown> = modules.flatMap((module) => Object.values(module))
  return Array.from(new Set(exported.filter(isErrorClass)), (value) => describedBy(of, value))
}

// What stands for several failures is of the kind of these
const ofMany = new Set(["FilesFailed", "JobFailed"])

const kinds = new Set<unknown>(ErrorKind.ErrorKind.literals)

const linesOf = (value: unknown) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const loggers = [Logger.stringLogger, Logger.logfmtLogger, Logger.jsonLogger]
    for (const logger of loggers) {
      const collecting = Logger.map(logger, (line) => {
        lines.push(line)
      })
      yield* Effect.logError(Cause.fail(value)).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, collecting)))
      yield* Effect.logError(value).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, collecting)))
    }
    return lines
  })

const failureOf = (value: unknown): unknown => {
  try {
    return Effect.runSync(Effect.fail(value))
  } catch (failure) {
    return failure
  }
}

/** What holds for every error. */
export const laws = (errors: ReadonlyArray<ErrorClass>) => {
  it.each(errors)("$of $tag has no field that hides one of Error's own", ({ fields, tag, values }) => {
    assert.deepStrictEqual(
      fields.filter((field) => ["name", "message", "stack", "cause", "toString"].includes(field)),
      []
    )
    for (const error of fc.sample(values, 20)) {
      assert.isTrue(error instanceof Error && error.name === tag)
      assert.isTrue(String(error).startsWith(`${tag}: `), String(error))
    }
  })

  it.effect.each(errors)(
    "$of $tag is named by its tag wherever it is printed",
    ({ tag, values }) =>
      Effect.gen(function*() {
        for (const error of fc.sample(values, 5)) {
          const prints = [
            Cause.pretty(Cause.fail(error)),
            Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
            inspect(error),
            inspect(Cause.fail(error)),
            String(failureOf(error)),
            inspect(failureOf(error)),
            JSON.stringify(error),
            ...(yield* linesOf(error))
          ]
          for (const print of prints) assert.include(print, tag)
        }
      })
  )

  // what an expectation of a test fails with is of no kind: a program does not handle it
  it.each(errors.filter(({ of }) => of !== "testing"))("$of $tag has one kind", ({ of, tag, values }) => {
    const found = Arr.dedupe(
      fc.sample(values, 20).map((error) => Predicate.hasProperty(error, "kind") ? error.kind : undefined)
    )
    assert.isTrue(found.every((kind) => kinds.has(kind)), found.join())
    if (ofMany.has(tag)) return
    assert.lengthOf(found, 1)
    if (of === "core") {
      assert.strictEqual(
        found[0],
        Object.entries(ErrorKind.table).find(([name]) => name === tag)?.[1][0]
      )
    }
  })
}
