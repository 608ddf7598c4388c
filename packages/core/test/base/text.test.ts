import { assert, describe, it } from "@effect/vitest"
import { SourceError } from "@stevedore/core"
import { FastCheck } from "effect"
import * as Printable from "../../src/base/text.js"

const between = (first: number, last: number) => FastCheck.integer({ min: first, max: last })

// by Unicode's own blocks: C0, DEL and C1; direction; lines; zero width; tags; variations of the last plane
const unsafe = FastCheck.oneof(
  between(0, 0x1f),
  between(0x7f, 0x9f),
  FastCheck.constantFrom(0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029),
  between(0x202a, 0x202e),
  between(0x2060, 0x206f),
  FastCheck.constantFrom(0xfeff, 0xfff9, 0xfffb, 0x1d173, 0x3164, 0xffa0),
  between(0xe0000, 0xe0fff)
).map((code) => String.fromCodePoint(code))

const safe = FastCheck.constantFrom(..."aZ09 -_/.", "\u00e9", "\u05d0", "\u0639", "\u4e2d", "\u{1f600}", "\u2764\ufe0f")

const mixed = FastCheck.array(FastCheck.oneof(unsafe, safe))

describe("Printable", () => {
  it.prop("each unsafe character becomes U+FFFD, and every other stays", { mixed }, ({ mixed }) => {
    const expected = mixed.map((one) =>
      /^[\p{L}\p{N}\p{P}\p{S} ]/u.test(one) && !/[\u3164\uffa0]/.test(one) ? one : "\ufffd"
    )
    assert.strictEqual(Printable.replaced(mixed.join("")), expected.join(""))
  })

  it.prop("JSON with them escaped has none, and stands for the same value", { mixed }, ({ mixed }) => {
    const value = { [mixed.join("")]: mixed }
    const escaped = Printable.escaped(JSON.stringify(value))
    assert.strictEqual(Printable.replaced(escaped), escaped)
    assert.deepStrictEqual(JSON.parse(escaped), value)
  })

  it.prop("no message of an error has one", { mixed }, ({ mixed }) => {
    const fileName = mixed.join("")
    const error = new SourceError.SourceUnreadable({ fileName, reason: "NotFound" })
    assert.strictEqual(error.message, Printable.replaced(error.message))
  })
})
