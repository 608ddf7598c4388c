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
    Effect.map((result) => ({
      result,
      ranges: received.map(({ range }) => range),
      conditions: received.map((headers) => headers["if-match"])
    })),
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

describe("a range that a transport has decoded", () => {
  it.effect("has no byte more than was asked for, however many it was decoded to", () =>
    Effect.gen(function*() {
      const headers = { etag: "\"one\"", "content-encoding": "gzip", "content-range": "bytes 0-3/10" }
      const { result } = yield* run(() => new Response(text, { status: 206, headers }), {
        range: { offset: 0, length: 4 }
      })
      assert.deepStrictEqual(Option.getRight(result), Option.some("0123"))
    }))
})

describe("a range that has more bytes than it says", () => {
  const ranges = { offset: 2, length: 5 }
  const part = (headers: Record<string, string>, range: string) =>
    new Response(text, { status: 206, headers: { ...headers, "content-range": `bytes ${range}` } })

  it.effect.each(
    [
      ["the whole file instead, by its length", { "content-length": "10" }, "2-6/10"],
      ["the whole file instead, in chunks", {}, "2-6/10"],
      ["more than is left of the file", {}, "2-4/5"],
      ["more than its range, whose file is of a size that is not told", {}, "2-4/*"]
    ] as const
  )("is never a success: %s", ([_, headers, range]) =>
    Effect.gen(function*() {
      const { result } = yield* run(() => part({ etag: "\"one\"", ...headers }, range), { range: ranges })
      assert(result._tag === "Left" && result.left._tag === "DownloadIncomplete")
      assert.strictEqual(result.left.received, text.length)
    }))
})

describe("a range that was not asked for", () => {
  it.effect.each<readonly [string, Record<string, string>]>([
    ["begins earlier", { "content-range": "bytes 0-9/10" }],
    ["begins later", { "content-range": "bytes 3-9/10" }],
    ["is one of several in a body", { "content-type": "multipart/byteranges; boundary=a" }]
  ])(
    "is followed by a plain GET, and the bytes are those that were asked for: %s",
    ([, headers]) =>
      Effect.gen(function*() {
        const answer = (asked: Headers) =>
          asked["range"] !== undefined ? new Response(text, { status: 206, headers }) : new Response(text)
        const { ranges, result } = yield* run(answer, { range: { offset: 2, length: 5 } })
        assert.deepStrictEqual(Option.getRight(result), Option.some("23456"))
        assert.strictEqual(ranges.length, 2)
      })
  )
})

describe("a range out of a whole file, from a server without ranges", () => {
  it.effect("is there with its last byte: nothing that follows is waited for", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode("0123456")
      const stalling = new ReadableStream({ start: (controller) => controller.enqueue(bytes) })
      const { result } = yield* run(() => new Response(stalling), { range: { offset: 1, length: 6 } })
      assert.deepStrictEqual(Option.getRight(result), Option.some("123456"))
    }))
})

describe("what is taken up again", () => {
  const etag = "\"one\""
  const length = String(text.length)
  const whole = { etag, "content-length": length }

  it.effect("is asked for once the connection that broke is closed", () => {
    const { layer, stillOpen } = answeredContent(() => new Response(cut(""), { headers: whole }))
    return Effect.gen(function*() {
      yield* Effect.flip(Stream.runDrain(Downloads.stream("f1")))
      assert.deepStrictEqual(stillOpen, [0, 0, 0])
    }).pipe(Effect.provide(layer))
  })

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

  it.effect("is asked for by its etag from the first byte on, but not by a weak one, which no file would match", () =>
    Effect.gen(function*() {
      for (const [etag, condition] of [["\"one\"", "\"one\""], ["W/\"one\"", undefined]] as const) {
        const headers = { etag, "content-length": length }
        const { conditions, result } = yield* run((_, index) => new Response(index === 0 ? cut("") : text, { headers }))
        assert.deepStrictEqual(Option.getRight(result), Option.some(text))
        assert.deepStrictEqual(conditions, [undefined, condition])
      }
    }))

  it.effect("is no file of another size, even if it has the etag of the first", () =>
    Effect.gen(function*() {
      const { result } = yield* run((_, index) =>
        index === 0
          ? new Response(cut("0123"), { headers: whole })
          : new Response("456789", { status: 206, headers: { etag, "content-range": "bytes 4-9/12" } })
      )
      assert(result._tag === "Left" && result.left._tag === "SourceChanged")
      assert.deepInclude(result.left, { expected: "10 bytes", actual: "12 bytes" })
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

describe("an end that was not told", () => {
  const etag = "\"one\""
  const nothingFrom = (total: number | undefined) =>
    new Response("<Error><Code>InvalidRange</Code></Error>", {
      status: 416,
      headers: total === undefined ? {} : { "content-range": `bytes */${total}` }
    })

  describe("of a file that came whole before its connection broke", () => {
    const brokenAtTheEnd = (second: () => Response, options?: Downloads.Options) =>
      run((_, index) => index === 0 ? new Response(cut(text), { headers: { etag } }) : second(), options)

    it.effect("is the place behind which the server has nothing", () =>
      Effect.gen(function*() {
        const { ranges, result } = yield* brokenAtTheEnd(() => nothingFrom(10))
        assert.deepStrictEqual(Option.getRight(result), Option.some(text))
        assert.deepStrictEqual(ranges, [undefined, "bytes=10-"])
      }))

    it.effect("is no end where the server does not tell the size, and no InvalidRange of a caller who gave none", () =>
      Effect.gen(function*() {
        const { result } = yield* brokenAtTheEnd(() => nothingFrom(undefined))
        assert(result._tag === "Left" && result.left._tag === "ConnectionFailed")
      }))

    it.effect("is no end where the server says that more follows, although it has nothing there", () =>
      Effect.gen(function*() {
        const { result } = yield* brokenAtTheEnd(() => nothingFrom(12))
        assert(result._tag === "Left" && result.left._tag === "ConnectionFailed")
      }))

    it.effect("is no end where the file has another size by then", () =>
      Effect.gen(function*() {
        const { result } = yield* brokenAtTheEnd(() => nothingFrom(7))
        assert(result._tag === "Left" && result.left._tag === "SourceChanged")
        assert.strictEqual(result.left.actual, "7 bytes")
      }))
  })

  describe("of parts that are less than was asked for", () => {
    /** Three bytes an answer. */
    const parts = (outside: () => Response, told: { readonly etag?: string } = { etag }) => (headers: Headers) => {
      const [, first = "0", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers["range"] ?? "") ?? []
      const start = Number(first)
      const end = Math.min(start + 3, last === "" ? Infinity : Number(last) + 1, text.length)
      return start >= text.length ? outside() : new Response(text.slice(start, end), {
        status: 206,
        headers: { ...told, "content-range": `bytes ${start}-${end - 1}/*` }
      })
    }

    it.effect("is looked for until the server has nothing more", () =>
      Effect.gen(function*() {
        for (const length of [undefined, 8, 20]) {
          const { ranges, result } = yield* run(parts(() => nothingFrom(10)), { range: { offset: 2, length } })
          assert.deepStrictEqual(Option.getRight(result), Option.some(text.slice(2)))
          assert.strictEqual(ranges.length, length === 8 ? 3 : 4)
        }
      }))

    it.effect("is DownloadIncomplete where it cannot be found, never a success with less", () =>
      Effect.gen(function*() {
        const unprovable = yield* run(parts(() => nothingFrom(10), {}), { range: { offset: 2 } })
        assert(unprovable.result._tag === "Left" && unprovable.result.left._tag === "DownloadIncomplete")
        assert.deepInclude(unprovable.result.left, { expected: 4, received: 3 })
        const untold = yield* run(parts(() => nothingFrom(undefined)), { range: { offset: 2 } })
        assert(untold.result._tag === "Left" && untold.result.left._tag === "DownloadIncomplete")
        const once = yield* run(parts(() => nothingFrom(10)), { range: { offset: 2 }, resume: false })
        assert(once.result._tag === "Left" && once.result.left._tag === "DownloadIncomplete")
      }))

    it.effect("is no end where an earlier answer had told of more: the file is another by now", () =>
      Effect.gen(function*() {
        const part = (range: string, body: BodyInit) =>
          new Response(body, { status: 206, headers: { etag, "content-range": `bytes ${range}` } })
        for (const first of [() => part("2-4/10", "234"), () => part("2-9/*", cut("234"))]) {
          const answers = [first, () => part("5-7/*", "567"), () => nothingFrom(8)]
          const { result } = yield* run((_, index) => answers[index]?.() ?? nothingFrom(8), { range: { offset: 2 } })
          assert(result._tag === "Left" && result.left._tag === "SourceChanged")
          assert.strictEqual(result.left.actual, "8 bytes")
        }
      }))

    it.effect("is not told as the length", () => {
      const { layer } = answeredContent(parts(() => nothingFrom(10)))
      return Effect.gen(function*() {
        const download = yield* Downloads.open("f1")
        const section = yield* download.section({ range: { offset: 2 } })
        assert.deepStrictEqual([section.length, section.totalLength], [Option.none(), Option.none()])
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  })

  it.effect("is InvalidRange, with the size, where the first answer broke before its first byte", () =>
    Effect.gen(function*() {
      const { result } = yield* run((_, index) =>
        index === 0
          ? new Response(cut(""), { status: 206, headers: { "content-range": "bytes 4-9/10" } })
          : nothingFrom(3), { range: { offset: 4 } })
      assert(result._tag === "Left" && result.left._tag === "InvalidRange")
      assert.strictEqual(result.left.totalLength, 3)
    }))

  it.effect("is InvalidRange, with the size, where a range of the caller's begins behind it", () =>
    Effect.gen(function*() {
      const { result } = yield* run(() => nothingFrom(10), { range: { offset: 12 } })
      assert(result._tag === "Left" && result.left._tag === "InvalidRange")
      assert.include(result.left.message, "it has 10 bytes")
    }))
})
