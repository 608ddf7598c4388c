import { assert, describe, it } from "@effect/vitest"
import { SourceError, type UploadPlan, type UploadSource, UploadSources } from "@stevedore/core"
import { Cause, Effect, Either, Exit, FastCheck as fc, Redacted, Schema, Stream } from "effect"
import { inspect } from "node:util"
import { runs } from "../../testing/test/support/runs.js"

const text = (words: string): Uint8Array => new TextEncoder().encode(words)

const contentOf = (source: UploadSource, range: UploadPlan.ByteRange) =>
  Effect.scoped(
    Effect.gen(function*() {
      const { section } = yield* source.open
      const observed: Array<number> = []
      const body = yield* Effect.flatMap(section(range), (one) =>
        one.body((chunk) => {
          for (const byte of chunk) observed.push(byte)
        }))
      return { content: body._tag === "BytesBody" ? [...body.bytes] : assert.fail("expected bytes"), observed }
    })
  )

const whole = { offset: 0, length: 5 }

describe("UploadSources", () => {
  describe("from bytes", () => {
    it("describes itself", () => {
      const { fingerprint, held, mediaType, name, size } = UploadSources.fromBytes("a.txt", text("hello"), {
        mediaType: "text/plain"
      })
      assert.deepStrictEqual({ fingerprint, held, mediaType, name, size }, {
        fingerprint: { kind: "bytes", size: 5 },
        held: false,
        mediaType: "text/plain",
        name: "a.txt",
        size: 5
      })
    })

    it.effect.prop("returns any range of them, any number of times, and shows it to the observer", {
      content: fc.uint8Array({ minLength: 1 }),
      from: fc.nat(),
      length: fc.nat()
    }, ({ content, from, length }) =>
      Effect.gen(function*() {
        const source = UploadSources.fromBytes("a", content)
        const offset = from % content.byteLength
        const range = { offset, length: 1 + length % (content.byteLength - offset) }
        const expected = [...content.slice(range.offset, range.offset + range.length)]
        const once = yield* contentOf(source, range)
        assert.deepStrictEqual(once, { content: expected, observed: expected })
        assert.deepStrictEqual(yield* contentOf(source, range), once)
      }), { fastCheck: { numRuns: runs(50) } })

    it.effect("can be read through", () =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* UploadSources.fromBytes("a", text("hello")).open
        const seen: Array<string> = []
        yield* opened.readThrough({ offset: 1, length: 3 }, (chunk) => seen.push(new TextDecoder().decode(chunk)))
        assert.strictEqual(seen.join(""), "ell")
        yield* opened.unchanged
      })))

    it("has the generic media type if none is given", () => {
      assert.strictEqual(UploadSources.fromBytes("a", text("hello")).mediaType, "application/octet-stream")
    })
  })

  describe("from a stream", () => {
    it("describes itself, and its type says whether it can be opened again", () => {
      const again = UploadSources.fromStream("a", Stream.make(text("hello")), { size: 5 })
      const once = UploadSources.fromStreamOnce("a", Stream.make(text("hello")), { size: 5, mediaType: "text/plain" })
      assert.strictEqual(again._tag, "RepeatableSource")
      assert.strictEqual(once._tag, "OneShotSource")
      assert.strictEqual(once.mediaType, "text/plain")
      for (const { fingerprint, held, size } of [again, once]) {
        assert.deepStrictEqual({ fingerprint, held, size }, {
          fingerprint: { kind: "stream", size: 5 },
          held: true,
          size: 5
        })
      }
    })

    it.effect("that produces the same bytes again can be opened for a second session", () =>
      Effect.gen(function*() {
        const source = UploadSources.fromStream("a", Stream.make(text("hel"), text("lo")), { size: 5 })
        const first = yield* contentOf(source, whole)
        assert.deepStrictEqual(first.content, [...text("hello")])
        assert.deepStrictEqual(yield* contentOf(source, whole), first)
      }))

    it.effect("that can be run only once is never opened twice", () =>
      Effect.gen(function*() {
        let runs = 0
        const stream = Stream.suspend(() => {
          runs++
          return Stream.make(text("hello"))
        })
        const source = UploadSources.fromStreamOnce("a", stream, { size: 5 })
        yield* contentOf(source, whole)
        const again = yield* Effect.either(contentOf(source, whole))
        assert.deepStrictEqual(
          again,
          Either.left(new SourceError.SourceUnreadable({ fileName: "a", reason: "ReadOnce" }))
        )
        assert.strictEqual(runs, 1)
      }))

    it.effect("is not run before its first part is claimed", () =>
      Effect.scoped(Effect.gen(function*() {
        const source = UploadSources.fromStream("a", Stream.dieMessage("was run"), { size: 5 })
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(source.open)))
      })))

    it.effect("that fails is SourceUnreadable, without the failure's own message", () =>
      Effect.gen(function*() {
        const failing = Stream.fail("token api.5ecre7 refused")
        const source = UploadSources.fromStream("a", failing, { size: 5 })
        const error = yield* Effect.flip(contentOf(source, whole))
        assert.deepStrictEqual(error, new SourceError.SourceUnreadable({ fileName: "a", reason: "StreamFailed" }))
      }))

    it.effect("that fails for a reason of the system names its code, and nothing else of it", () =>
      Effect.gen(function*() {
        const cause = Object.assign(new Error("token api.5ecre7 refused"), { code: "ECONNRESET" })
        const source = UploadSources.fromStream("a", Stream.fail({ message: "read", cause }), { size: 5 })
        const error = yield* Effect.flip(contentOf(source, whole))
        assert.deepStrictEqual(
          error,
          new SourceError.SourceUnreadable({ fileName: "a", reason: "StreamFailed", code: "ECONNRESET" })
        )
      }))

    it.effect.each(["fromStream", "fromStreamOnce"] as const)(
      "%s: what it failed with is there for whoever asks, is told to look there, and is printed nowhere",
      (make) =>
        Effect.gen(function*() {
          const failure = new Error("token api.5ecre7 refused", { cause: "api.5ecre7" })
          const source = UploadSources[make]("a", Stream.fail(failure), { size: 5 })
          const error = yield* Effect.flip(contentOf(source, whole))
          assert.instanceOf(error, SourceError.SourceUnreadable)
          assert.strictEqual(error.cause && Redacted.value(error.cause), failure)
          assert.include(error.message, "its cause says why")
          assert.notMatch(error.message, /disk|device/)
          const deep = { depth: Infinity, showHidden: true, getters: true }
          for (
            const print of [
              inspect(error, deep),
              inspect(Cause.fail(error), deep),
              Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
              inspect(Cause.squash(Cause.fail(error)), deep),
              JSON.stringify(error),
              JSON.stringify(yield* Schema.encode(SourceError.SourceError)(error)),
              `${error} ${error.stack}`
            ]
          ) {
            assert.notInclude(print, "5ecre7")
          }
        })
    )

    it.effect.each(
      [
        [4, "tooLong", "\"a\" went on after 4 declared bytes: it has at least 5."],
        [6, "tooShort", "\"a\" ended after 5 of 6 declared bytes."]
      ] as const
    )("of 5 bytes, declared with %d, is SourceChanged: %s", ([size, what, words]) =>
      Effect.gen(function*() {
        const source = UploadSources.fromStream("a", Stream.make(text("hello")), { size })
        const error = yield* Effect.flip(contentOf(source, { offset: 0, length: size }))
        assert.include({ ...error }, {
          _tag: "SourceChanged",
          fileName: "a",
          what,
          expected: String(size),
          actual: "5"
        })
        assert.include(error.message, words)
        assert.notInclude(error.message, "changed while")
      }))
  })
})
