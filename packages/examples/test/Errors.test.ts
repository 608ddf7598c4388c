import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as Browser from "@stevedore/browser"
import * as Core from "@stevedore/core"
import { ErrorKind, SourceError, UploadError } from "@stevedore/core"
import * as Node from "@stevedore/node"
import * as Testing from "@stevedore/testing"
import { Arbitrary, Array as Arr, Cause, Effect, FastCheck as fc, Layer, Option, Schema } from "effect"
import { errorsOf, laws } from "./errorLaws.js"

const packages = { core: Core, node: Node, browser: Browser, testing: Testing }

/** Every error that a package exports. */
const errors = Object.entries(packages).flatMap(([of, modules]) => errorsOf(of, Object.values(modules)))

describe("the errors of all packages", () => {
  it("are found", () => {
    assert.isAbove(errors.length, 50)
    assert.deepStrictEqual(Arr.dedupe(errors.map(({ of }) => of)), ["core", "node", "testing"])
  })

  laws(errors)

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
