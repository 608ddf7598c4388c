import { assert, describe, it } from "@effect/vitest"
import { Downloads } from "@stevedore/core"
import { Effect, Option, Stream } from "effect"
import { answeredContent, cut, type Headers } from "../fixtures/answeredContent.js"

const text = "0123456789"

const run = (answer: (headers: Headers, index: number) => Response, options: Downloads.Options = {}) => {
  const { layer, received } = answeredContent(answer)
  return Downloads.stream("f1", options).pipe(
    Stream.decodeText(),
    Stream.mkString,
    Effect.either,
    Effect.map((result) => ({ result, ranges: received.map(({ range }) => range) })),
    Effect.provide(layer)
  )
}

describe("what a transport has decoded", () => {
  // fetch decodes, and what the headers tell is of the 4 bytes that were sent
  const told = { etag: "\"one\"", "content-length": "4" }
  const encodings = [
    ["told", { ...told, "content-encoding": "gzip" }],
    ["hidden by CORS", told]
  ] as const

  for (const [name, headers] of encodings) {
    it.effect(`is whole where it ends, beyond the length that was sent: encoding ${name}`, () =>
      Effect.gen(function*() {
        const { ranges, result } = yield* run(() => new Response(text, { headers }))
        assert.deepStrictEqual(Option.getRight(result), Option.some(text))
        assert.strictEqual(ranges.length, 1)
      }))

    it.effect(`is never a success where it breaks, and is not gone on with: encoding ${name}`, () =>
      Effect.gen(function*() {
        const { ranges, result } = yield* run(() => new Response(cut("012345"), { headers }))
        assert(result._tag === "Left" && result.left._tag === "ConnectionFailed")
        assert.strictEqual(ranges.length, 1)
      }))

    it.effect(`is begun anew where it broke before its first byte: encoding ${name}`, () =>
      Effect.gen(function*() {
        const { result } = yield* run((_, index) => new Response(index === 0 ? cut("") : text, { headers }))
        assert.deepStrictEqual(Option.getRight(result), Option.some(text))
      }))

    it.effect(`gives no byte more of a range than was asked for: encoding ${name}`, () =>
      Effect.gen(function*() {
        const { result } = yield* run(() => new Response(text, { headers }), { range: { offset: 1, length: 6 } })
        assert.deepStrictEqual(Option.getRight(result), Option.some("123456"))
      }))
  }
})

describe("what is taken up again", () => {
  const etag = "\"one\""
  const length = String(text.length)
  const whole = { etag, "content-length": length }

  it.effect("is no other file's: an answer without the etag of the first proves nothing", () =>
    Effect.gen(function*() {
      for (const arrived of ["0123", ""]) {
        const { result } = yield* run((_, index) =>
          index === 0
            ? new Response(cut(arrived), { headers: whole })
            : new Response("abcdefghij", { headers: { "content-length": length } })
        )
        assert(result._tag === "Left" && result.left._tag === "SourceChanged")
      }
    }))

  it.effect("is a section of the file of an etag, or none", () => {
    const { layer } = answeredContent(() =>
      new Response("45", { status: 206, headers: { "content-range": "bytes 4-5/10" } })
    )
    return Effect.gen(function*() {
      const download = yield* Downloads.open("f1")
      const error = yield* Effect.flip(download.section({ range: { offset: 4, length: 2 }, etag }))
      assert.strictEqual(error._tag, "SourceChanged")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})
