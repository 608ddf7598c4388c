import { assert, describe, it } from "@effect/vitest"
import { Json } from "@stevedore/core"
import { Either, FastCheck as fc } from "effect"

const parsed = (text: string): unknown => Either.getOrThrow(Json.parse(text))

const exact = (text: string) => new Json.ExactNumber(text)

/** Digits, with or without a fraction and an exponent, as JSON allows them. */
const literal = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,3})?$/)

describe("Json", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "1e400",
    "-1E+400",
    "1e-400",
    "0.12345678901234567890",
    "123456789.12345678901",
    `1${"0".repeat(2000)}`
  ])("keeps a number that a double cannot hold as it was written: %s", (text) => {
    assert.deepStrictEqual(parsed(text), exact(text))
    assert.deepStrictEqual(parsed(`{"a":[${text},1]}`), { a: [exact(text), 1] })
    assert.strictEqual(Json.stringify(parsed(`{"a":[${text},{"b":${text}}]}`)), `{"a":[${text},{"b":${text}}]}`)
  })

  it.each([
    ["0", 0],
    ["-0", -0],
    ["0.0", 0],
    ["5", 5],
    ["9007199254740992", 2 ** 53],
    ["9007199254740994", 2 ** 53 + 2],
    ["100000000000000000000000", 1e23],
    ["1.50", 1.5],
    ["0.1", 0.1],
    ["0.000001", 1e-6],
    ["1E5", 1e5],
    ["1e+22", 1e22],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["5e-324", Number.MIN_VALUE]
  ])("%s is a number", (text, value) => {
    assert.deepStrictEqual(parsed(text), value)
  })

  it.prop("no number changes its value", { literal }, ({ literal }) => {
    const value = parsed(literal)
    if (value instanceof Json.ExactNumber) return assert.strictEqual(value.text, literal)
    assert.strictEqual(value, Number(literal))
    // written as a double is, it is the same double again, so the text was one of it
    assert.strictEqual(parsed(String(Number(literal))), Number(literal) + 0)
  })

  it.prop(
    "any double survives, however it is written",
    { value: fc.double({ noNaN: true, noDefaultInfinity: true }) },
    ({ value }) => {
      for (const text of [JSON.stringify(value), value.toExponential(), String(value).toUpperCase()]) {
        assert.strictEqual(parsed(text), Number(text))
      }
    }
  )

  const value = fc.jsonValue()

  it.prop("any JSON is parsed as by JSON.parse, also beside such a number", { value }, ({ value }) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(parsed(text), JSON.parse(text))
    assert.deepStrictEqual(parsed(`[${text},1e400]`), [JSON.parse(text), exact("1e400")])
    assert.deepStrictEqual(parsed(`{"1e400":${text},"n":12345678901234567890}`), {
      "1e400": JSON.parse(text),
      n: exact("12345678901234567890")
    })
  })

  it.prop("writes any value as JSON.stringify does", { value: fc.anything({ withDate: true }) }, ({ value }) => {
    const written = Either.try(() => JSON.stringify(value))
    if (Either.isRight(written)) assert.strictEqual(Json.stringify(value), written.right)
  })

  it.prop("takes no text for a number, and no number for a text", { text: fc.string() }, ({ text }) => {
    const record = { n: text, [text]: `n${text}`, list: [`s${text}`] }
    const json = JSON.stringify(record)
    const beside = parsed(`[1e400,${json}]`)
    assert.deepStrictEqual(beside, [exact("1e400"), JSON.parse(json)])
  })

  it.each(["", " ", "<html>", "{", "[1,]", "{\"a\":01}", "1e", "[".repeat(1000)])("is a syntax error: %j", (text) => {
    assert.deepStrictEqual(Json.parse(text), Either.left("syntax"))
  })

  it("refuses what is nested too deeply to be printed", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    assert.strictEqual(Json.stringify(parsed(nested(500))), nested(500))
    for (const depth of [501, 100_000]) assert.deepStrictEqual(Json.parse(nested(depth)), Either.left("depth"))
    assert.deepStrictEqual(Json.parse("{\"a\":".repeat(501) + "1" + "}".repeat(501)), Either.left("depth"))
    assert.deepStrictEqual(parsed(JSON.stringify("[".repeat(600))), "[".repeat(600))
  })

  it("a byte order mark is no part of it", () => {
    assert.deepStrictEqual(parsed("\ufeff{\"a\":1}"), { a: 1 })
  })

  it("a number that a double cannot hold can be rounded", () => {
    assert.deepStrictEqual(Json.rounded(parsed("{\"a\":[9007199254740993,\"x\"],\"b\":1e400}")), {
      a: [9007199254740992, "x"],
      b: Infinity
    })
  })

  it("is told by JSON.stringify, too: as a number where that is possible, else as text", () => {
    const written = JSON.stringify({ id: exact("9007199254740993") })
    assert.strictEqual(written, "rawJSON" in JSON ? `{"id":9007199254740993}` : `{"id":"9007199254740993"}`)
    assert.strictEqual(`${exact("9007199254740993")}`, "9007199254740993")
  })
})
