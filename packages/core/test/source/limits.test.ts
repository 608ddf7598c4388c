import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile } from "@stevedore/core"
import { Either, FastCheck as fc } from "effect"
import * as SourceLimits from "../../src/source/limits.js"

const refused = (name: string, mediaType: string) =>
  Either.match(SourceLimits.checkDescription(name, mediaType), {
    onLeft: ({ expected, field }) => ({ field, expected }),
    onRight: () => undefined
  })

const { mediaTypeLength, nameLength } = SourceLimits

describe("SourceLimits", () => {
  it("are those of the standard profile", () => {
    const { limits } = ServiceProfile.standard
    assert.deepStrictEqual(
      { multipartSize: SourceLimits.size, nameLength, mediaTypeLength },
      { multipartSize: limits.multipartSize, nameLength: limits.nameLength, mediaTypeLength: limits.mediaTypeLength }
    )
  })

  it.prop(
    "a name of 1 to 1024 characters is accepted, however many surrogate halves JavaScript counts",
    [fc.integer({ min: 0, max: 1100 }), fc.constantFrom("a", "ü", "🚢")],
    ([length, character]) => {
      const expected = length >= 1 && length <= 1024 ? undefined : { field: "name", expected: "1 to 1024 characters" }
      assert.deepStrictEqual(refused(character.repeat(length), "text/plain"), expected)
    },
    { fastCheck: { examples: [[0, "a"], [1024, "🚢"], [1025, "🚢"]] } }
  )

  it.prop(
    "a media type of up to 255 characters is accepted",
    [fc.integer({ min: 0, max: 300 })],
    ([length]) => {
      const expected = length >= 6 && length <= 255
        ? undefined
        : { field: "mediaType", expected: length > 255 ? "1 to 255 characters" : "a type such as video/mp4" }
      assert.deepStrictEqual(refused("name", "text/x".padEnd(length, "x").slice(0, length)), expected)
    },
    { fastCheck: { examples: [[0], [255], [256]] } }
  )

  it.prop(
    "a media type that no header can carry is refused where the source is made",
    [fc.string(), fc.string({ unit: fc.constantFrom("\r", "\n", "\0", "\u007f", "ü", "🚢"), minLength: 1 })],
    ([start, rest]) => {
      const invalid = { field: "mediaType", expected: "a type such as video/mp4" }
      assert.deepStrictEqual(refused("name", `${start}${rest}`), invalid)
      assert.deepStrictEqual(refused("name", `text/plain; charset=${rest}`), invalid)
    }
  )

  it.each(["foo", "foo/", "/foo", "a/b/c", "text/plain, text/html", ""])("%j is no media type", (mediaType) => {
    assert.deepStrictEqual(refused("name", mediaType), { field: "mediaType", expected: "a type such as video/mp4" })
  })

  it.each(["text/plain", "text/plain; charset=utf-8", "image/svg+xml", "application/vnd.a.b-c_d!e"])(
    "%j is one",
    (mediaType) => {
      assert.isUndefined(refused("name", mediaType))
    }
  )
})
