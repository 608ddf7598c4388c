import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as Browser from "@stevedore/browser"
import * as Cli from "@stevedore/cli"
import * as Core from "@stevedore/core"
import { ErrorKind, SourceError, UploadError } from "@stevedore/core"
import * as Node from "@stevedore/node"
import * as Testing from "@stevedore/testing"
import {
  Arbitrary,
  Array as Arr,
  Cause,
  Effect,
  FastCheck as fc,
  Layer,
  Logger,
  Option,
  Predicate,
  Schema
} from "effect"
import { inspect } from "node:util"

const packages = { core: Core, node: Node, browser: Browser, cli: Cli, testing: Testing }

interface ErrorClass {
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

/** Every error that a package exports. */
const errors: ReadonlyArray<ErrorClass> = Object.entries(packages).flatMap(([of, modules]) => {
  const exported: ReadonlyArray<unknown> = Object.values(modules).flatMap((module) => Object.values(module))
  return Array.from(new Set(exported.filter(isErrorClass)), (value) => describedBy(of, value))
})

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

describe("the errors of all packages", () => {
  it("are found", () => {
    assert.isAbove(errors.length, 60)
    assert.deepStrictEqual(Arr.dedupe(errors.map(({ of }) => of)), ["core", "node", "cli", "testing"])
  })

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
    assert.lengthOf(found, 1)
    assert.isTrue(kinds.has(found[0]), String(found[0]))
    if (of === "core") {
      assert.strictEqual(
        found[0],
        Object.entries(ErrorKind.table).find(([name]) => name === tag)?.[1][0]
      )
    }
  })

  it("the table of kinds has a row for each error of core, and no other", () => {
    const tags = errors.filter(({ of }) => of === "core").map(({ tag }) => tag)
    assert.deepStrictEqual(Object.keys(ErrorKind.table).sort(), tags.sort())
  })
})

describe("an error of an HttpApi", () => {
  const uploads = HttpApiGroup.make("uploads").add(
    HttpApiEndpoint.get("upload", "/").addSuccess(Schema.Void).addError(UploadError.UploadError)
  )
  const api = HttpApi.make("api").add(uploads)

  const respondTo = (error: UploadError.UploadError) =>
    Effect.acquireUseRelease(
      Effect.sync(() =>
        HttpApiBuilder.toWebHandler(
          HttpApiBuilder.api(api).pipe(
            Layer.provide(
              HttpApiBuilder.group(api, "uploads", (group) => group.handle("upload", () => Effect.fail(error)))
            ),
            Layer.merge(HttpServer.layerContext)
          )
        )
      ),
      ({ handler }) => Effect.promise(() => handler(new Request("http://localhost/"))),
      ({ dispose }) => Effect.promise(() => dispose())
    )

  it.effect("has the status of the table, and decodes to itself", () =>
    Effect.gen(function*() {
      const samples = new Map(
        fc.sample(Arbitrary.make(UploadError.UploadError), 500).map((error) => [error._tag, error])
      )
      assert.isAbove(samples.size, 28)
      for (const [tag, error] of samples) {
        const response = yield* respondTo(error)
        assert.strictEqual(response.status, ErrorKind.table[tag][1], tag)
        const body = yield* Effect.promise(() => response.json())
        const decoded = yield* Schema.decodeUnknown(UploadError.UploadError)(body)
        assert.strictEqual(String(decoded), String(error))
      }
    }))

  it("is a visitor's, with a 4xx, only if it is about the input, and follows from the kind", () => {
    const lawful: Readonly<Record<ErrorKind.ErrorKind, ReadonlyArray<number>>> = {
      input: [404, 413, 422],
      // a download that stayed incomplete was tried again before
      tryLater: [502, 503],
      configuration: [502],
      outcomeUnknown: [502],
      refused: [502]
    }
    for (const [tag, [kind, status]] of Object.entries(ErrorKind.table)) assert.include(lawful[kind], status, tag)
  })

  it.effect("has the fields that the page about HTTP requests names, and not its message", () =>
    Effect.gen(function*() {
      const response = yield* respondTo(new SourceError.EmptySource({ fileName: "zero.bin", attempts: 0 }))
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), {
        _tag: "EmptySource",
        kind: "input",
        fileName: "zero.bin",
        attempts: 0
      })
    }))
})

describe("catchKind", () => {
  const failing: Effect.Effect<string, UploadError.UploadError> = Effect.fail(
    new UploadError.CompletionUnknown({ fileId: "f1", because: "TimedOut" })
  )

  it.effect("handles the errors of one kind, with their own fields, in both forms", () =>
    Effect.gen(function*() {
      const lookFor = (error: { readonly fileId: string }) => Effect.succeed(error.fileId)
      assert.strictEqual(yield* failing.pipe(ErrorKind.catchKind("outcomeUnknown", lookFor)), "f1")
      assert.strictEqual(yield* ErrorKind.catchKind(failing, "outcomeUnknown", lookFor), "f1")
    }))

  it.effect("leaves the others, and their types say so", () =>
    Effect.gen(function*() {
      const rest = failing.pipe(
        ErrorKind.catchKind("input", () => Effect.succeed("")),
        ErrorKind.catchKind("tryLater", () => Effect.succeed("")),
        ErrorKind.catchKind("configuration", () => Effect.succeed("")),
        ErrorKind.catchKind("refused", () => Effect.succeed(""))
      )
      const unknown: "CompletionUnknown" | "ContentUnverified" = (yield* Effect.flip(rest))._tag
      assert.strictEqual(unknown, "CompletionUnknown")
      const none: Effect.Effect<string> = ErrorKind.catchKind(rest, "outcomeUnknown", () => Effect.succeed("looked"))
      assert.strictEqual(yield* none, "looked")
    }))

  it.effect("passes on what has no kind, and defects", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(ErrorKind.catchKind(Effect.fail("words"), "input", () => Effect.void))
      assert.strictEqual(error, "words")
      const exit = yield* Effect.exit(ErrorKind.catchKind(Effect.die("a bug"), "input", () => Effect.void))
      assert.deepStrictEqual(
        exit._tag === "Failure" ? Cause.dieOption(exit.cause) : Option.none(),
        Option.some("a bug")
      )
    }))
})
