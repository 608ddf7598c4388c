import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { type AnswerHead, AnswerParser, MalformedAnswer } from "../../src/http/answerParser.js"

const parse = (answer: Buffer, cuts: ReadonlyArray<number> = [], bodiless = false) => {
  const heads: Array<AnswerHead> = []
  const body: Array<Buffer> = []
  let ended = false
  const parser = new AnswerParser({
    onHead: (head) => heads.push(head),
    onBody: (bytes) => body.push(Buffer.from(bytes)),
    onEnd: () => ended = true
  }, bodiless)
  let from = 0
  for (const cut of [...cuts, answer.byteLength]) {
    parser.push(answer.subarray(from, cut))
    from = cut
  }
  return { heads, body: Buffer.concat(body), ended, whole: parser.close() }
}

const text = (answer: string) => Buffer.from(answer.replaceAll("\n", "\r\n"), "latin1")

const chunked = (body: Buffer, sizes: ReadonlyArray<number>): Buffer => {
  const chunks: Array<Buffer> = []
  let position = 0
  for (const size of [...sizes, body.byteLength]) {
    const chunk = body.subarray(position, position + size)
    position += chunk.byteLength
    if (chunk.byteLength > 0) {
      chunks.push(Buffer.from(`${chunk.byteLength.toString(16)};x=1\r\n`), chunk, Buffer.from("\r\n"))
    }
  }
  return Buffer.concat([...chunks, Buffer.from("0\r\ntrailer: 1\r\n\r\n")])
}

describe("AnswerParser", () => {
  it.effect.prop(
    "parses the same head and body for every framing of the response, however it is split",
    [fc.record({
      framing: fc.constantFrom("length", "chunked", "close"),
      body: fc.uint8Array({ maxLength: 300 }),
      sizes: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      informed: fc.boolean()
    })],
    ([{ body, cuts, framing, informed, sizes }]) =>
      Effect.sync(() => {
        const content = Buffer.from(body)
        const framed = framing === "chunked" ? chunked(content, sizes) : content
        const header = framing === "chunked"
          ? "transfer-encoding: chunked\n"
          : framing === "length"
          ? `content-length: ${content.byteLength}\n`
          : ""
        const answer = Buffer.concat([
          text(
            `${
              informed ? "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early\nlink: x\n\n" : ""
            }HTTP/1.1 403 \nETag:  "a" \n${header}\n`
          ),
          framed
        ])
        const at = cuts.map((cut) => Math.floor(cut * answer.byteLength)).sort((a, b) => a - b)
        const parsed = parse(answer, at)
        assert.strictEqual(parsed.heads.length, 1)
        assert.strictEqual(parsed.heads[0]?.status, 403)
        assert.strictEqual(parsed.heads[0]?.headers["etag"], "\"a\"")
        assert.strictEqual(parsed.heads[0]?.persistent, framing !== "close")
        assert.isTrue(parsed.body.equals(content))
        assert.isTrue(parsed.whole)
      })
  )

  it("reports an incomplete response if it ends before its length, its last chunk or the end of its head", () => {
    for (
      const answer of [
        "HTTP/1.1 200 OK\ncontent-length: 5\n\nfour",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n4\nfour\n",
        "HTTP/1.1 200 OK\netag: 1\n",
        ""
      ]
    ) assert.isFalse(parse(text(answer)).whole, answer)
  })

  it("expects no body with 204 and 304, and joins repeated headers", () => {
    for (const status of [204, 304]) {
      const { ended, heads } = parse(text(`HTTP/1.1 ${status} x\ncontent-length: 5\nvary: a\nVary: b\n\n`))
      assert.isTrue(ended)
      assert.strictEqual(heads[0]?.headers["vary"], "a, b")
    }
  })

  it("expects no body in the response to a HEAD request, despite its content-length", () => {
    const { body, ended } = parse(text("HTTP/1.1 200 OK\ncontent-length: 5\n\n"), [], true)
    assert.isTrue(ended)
    assert.strictEqual(body.byteLength, 0)
  })

  it("lists each cookie separately, and only those of the last head", () => {
    const early = "HTTP/1.1 103 Early\nset-cookie: early=1\n\n"
    const { heads } = parse(text(`${early}HTTP/1.1 204 x\nset-cookie: a=1; Expires=Wed, 21 Oct\nSet-Cookie: b\n\n`))
    assert.deepStrictEqual(heads[0]?.cookies, ["a=1; Expires=Wed, 21 Oct", "b"])
  })

  it("reports a connection as not persistent if the server will close it or speaks HTTP/1.0", () => {
    for (const [version, connection] of [["1.1", "close"], ["1.1", "Keep-Alive, Close"], ["1.0", "keep-alive"]]) {
      const { heads } = parse(text(`HTTP/${version} 200 OK\nconnection: ${connection}\ncontent-length: 0\n\n`))
      assert.isFalse(heads[0]?.persistent)
    }
  })

  it("reports a connection as not persistent after a 204 that declares a body, which may still come", () => {
    for (
      const [header, persistent] of [
        ["server: x", true],
        ["content-length: 0", true],
        ["content-length: 5", false],
        ["transfer-encoding: chunked", false]
      ] as const
    ) {
      const { ended, heads } = parse(text(`HTTP/1.1 204 x\n${header}\n\n`))
      assert.isTrue(ended)
      assert.strictEqual(heads[0]?.persistent, persistent, header)
    }
  })

  it("trims the blanks around a header's value, and stays fast with 60,000 blanks inside it", () => {
    const blanks = " \t".repeat(30_000)
    const startedAt = performance.now()
    for (let count = 0; count < 5; count++) {
      const { heads } = parse(text(`HTTP/1.1 200 OK\nx-one:${blanks.slice(0, 9)}a${blanks}b \t\nx-two: \t \n\n`))
      assert.deepStrictEqual(heads[0]?.headers, { "x-one": `a${blanks}b`, "x-two": "" })
    }
    // a look at the rest for each blank would be nine billion looks
    assert.isBelow(performance.now() - startedAt, 2000)
  })

  it("takes the first of a repeated header that has a single value: a list of two etags is the etag of nothing", () => {
    const { heads } = parse(text("HTTP/1.1 204 x\nETag: \"a\"\netag: \"b\"\nlocation: /a\nlocation: /b\n\n"))
    assert.deepStrictEqual(heads[0]?.headers, { etag: "\"a\"", location: "/a" })
  })

  it.each([
    "HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\n",
    "HTTP/1.1 200 OK\r\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \x01\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \x0b\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \x1b[2J\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \x7f\r\n\r\n",
    "HTTP/1.1 304 OK\r\ncontent-length: x\r\n\r\n",
    "HTTP/1.1 204 OK\r\ncontent-length: 0, 0\r\n\r\n",
    "HTTP/1.1 204 OK\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 103 OK\r\ncontent-length: x\r\n\r\n",
    "HTTP/1.1 100 Continue\r\nconnection: close\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\t\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\t\r\n\r\na",
    ...[
      "3\r\nbc\r\n0\r\n\r\n",
      "2\r\nbc\n0\r\n\r\n",
      "2\nbc\r\n0\r\n\r\n",
      "2 \r\nbc\r\n0\r\n\r\n",
      "2;a b\r\nbc\r\n0\r\n\r\n",
      "2;a=\"\x01\"\r\nbc\r\n0\r\n\r\n",
      "0\r\n\n",
      "0\r\nx: 1\n\r\n",
      "0\r\nx: \x01\r\n\r\n",
      "0\r\ncontent-length: 1\r\n\r\n"
    ].map((chunks) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`)
  ])("throws MalformedAnswer where another parser may see another end, or a control character: %j", (answer) => {
    assert.throws(() => parse(Buffer.from(answer, "latin1")), MalformedAnswer)
  })

  it("throws MalformedAnswer for an invalid or ambiguous response", () => {
    for (
      const answer of [
        "HTTP/2 200 OK\n\n",
        "HTTP/1.1 20 OK\n\n",
        "SSH-2.0-OpenSSH_9.6\n",
        "HTTP/1.1 101 Switching\n\n",
        "HTTP/1.1 200 OK\nno colon\n\n",
        "HTTP/1.1 200 OK\netag : 1\n\n",
        "HTTP/1.1 200 OK\netag: 1\n folded\n\n",
        "HTTP/1.1 200 OK\netag: 1\rcontent-length: 0\n\n",
        "HTTP/1.1 200 OK\netag: 1\0\n\n",
        "HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 2\n\n",
        "HTTP/1.1 200 OK\ncontent-length: -1\n\n",
        "HTTP/1.1 200 OK\ncontent-length: 1\ntransfer-encoding: chunked\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: gzip, chunked\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n-1\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nabc\n",
        "HTTP/1.1 200 OK\ncontent-length: 1\n\nab",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n0\nHTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n0\netag: 1\n folded\n\n",
        `HTTP/1.1 200 OK\nx: ${"x".repeat(70_000)}\n\n`
      ]
    ) assert.throws(() => parse(text(answer)), MalformedAnswer)
  })
})
