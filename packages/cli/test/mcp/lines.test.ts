import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Schema } from "effect"
import { PassThrough } from "node:stream"
import { splitting, transport } from "../../src/mcp/lines.js"

const cutAt = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const at = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

const Wrong = Schema.parseJson(Schema.Struct({
  id: Schema.NullOr(Schema.Union(Schema.String, Schema.Number)),
  error: Schema.Struct({ code: Schema.Number, message: Schema.NonEmptyString })
}))

const decode = Schema.decodeUnknownSync(Wrong)

/** The ids and codes that lines are answered with, and what is passed on of them. */
const said = async (...lines: ReadonlyArray<string | Buffer>) => {
  const input = new PassThrough()
  const output = new PassThrough()
  const passed: Array<unknown> = []
  const wire = transport(input, output, () => {})
  wire.onmessage = (message) => passed.push(message)
  await wire.start()
  for (const line of lines) input.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]))
  await new Promise((resolve) => input.once("close", resolve).end())
  const answers = String(output.read() ?? "").split("\n").filter((line) => line !== "").map((line) => decode(line))
  return { passed, answers: answers.map(({ error, id }) => [id, error.code]) }
}

describe("lines", () => {
  it.prop(
    "are the same wherever the reads end, also within a letter",
    [fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))), fc.array(fc.nat())],
    ([lines, places]) => {
      const seen: Array<string | undefined> = []
      const take = splitting((line) => seen.push(line && Buffer.from(line).toString()))
      for (const piece of cutAt(Buffer.from(lines.map((line) => `${line}\n`).join("")), places)) take(piece)
      assert.deepStrictEqual(seen, lines)
    }
  )

  it("of up to 4 MiB are kept, and longer ones are not", () => {
    const seen: Array<number | undefined> = []
    const take = splitting((line) => seen.push(line?.byteLength))
    const whole = 4 * 1024 * 1024
    for (const size of [whole, whole + 1, 3 * whole, 5]) {
      for (let left = size; left > 0; left -= 65_536) take(Buffer.alloc(Math.min(left, 65_536), "x"))
      take(Buffer.from("\n"))
    }
    assert.deepStrictEqual(seen, [whole, undefined, undefined, 5])
  })

  const wrong: ReadonlyArray<
    readonly [line: string | Buffer, answer: readonly [id: unknown, code: number] | undefined]
  > = [
    ["not json", [null, -32700]],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", [null, -32700]],
    [Buffer.from([0x22, 0xff, 0xfe, 0x22]), [null, -32700]],
    ["null", [null, -32600]],
    ["42", [null, -32600]],
    ["[]", [null, -32600]],
    ["{}", [null, -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":1}", [1, -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", [null, -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", [null, -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}", [null, -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\",\"params\":5}", ["a", -32600]],
    ["{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":5}}", ["a", -32602]],
    ["{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":[]}}", [
      7,
      -32602
    ]],
    ["x".repeat(4 * 1024 * 1024 + 1), [null, -32600]],
    ["", undefined],
    [" \t\r", undefined],
    ["{\"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"params\":5}", undefined],
    ["{\"jsonrpc\":\"2.0\",\"method\":5}", [null, -32600]]
  ]

  it.each(wrong)("%s is answered by its code, or not at all, and not passed on", async (line, answer) => {
    const { answers, passed } = await said(line)
    assert.deepStrictEqual(answers, answer === undefined ? [] : [[...answer]])
    assert.deepStrictEqual(passed, [])
  })

  it("are passed on with ids of text and numbers as they came, and with letters as they are", async () => {
    const right = [
      { jsonrpc: "2.0", id: "5b1c-0", method: "ping" },
      { jsonrpc: "2.0", id: 0, method: "tools/call", params: { name: "upload", arguments: { path: "größe.txt" } } },
      { jsonrpc: "2.0", id: -7, method: "x/y", params: {} },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} }
    ]
    const { answers, passed } = await said(...right.map((message) => `${JSON.stringify(message)}\r`))
    assert.deepStrictEqual(passed, right)
    assert.deepStrictEqual(answers, [])
  })
})
