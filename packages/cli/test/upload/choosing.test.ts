import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option } from "effect"
import type { FileToUpload } from "../../src/files/paths.js"
import * as Choosing from "../../src/upload/choosing.js"

const file = (name: string): FileToUpload => ({
  path: `/in/${name}`,
  real: `/in/${name}`,
  name: Option.some(name),
  linked: false,
  url: Option.none(),
  row: Option.none(),
  size: 1,
  modified: Option.none(),
  refused: Option.none()
})

const chosen = (names: ReadonlyArray<string>, patterns: Partial<Pick<Choosing.Choice, "exclude" | "include">>) =>
  Effect.map(
    Choosing.choose({ files: names.map(file), repeated: [], skipped: [] }, {
      include: [],
      exclude: [],
      newerThan: Option.none(),
      olderThan: Option.none(),
      largerThan: Option.none(),
      smallerThan: Option.none(),
      skipEmpty: false,
      ...patterns
    }),
    ({ files }) => files.flatMap(({ name }) => Option.toArray(name))
  )

const form = fc.constantFrom("NFC" as const, "NFD" as const)

describe("Choosing", () => {
  it.effect.prop(
    "a pattern matches a name that looks like it, however either writes its accents",
    [fc.constantFrom("für später", "Ångström", "각", "naïve"), form, form],
    ([text, typed, named]) =>
      Effect.gen(function*() {
        const names = [`${text.normalize(named)}/a.txt`, "open.txt"]
        const pattern = [`${text.normalize(typed)}/`]
        assert.deepStrictEqual(yield* chosen(names, { exclude: pattern }), ["open.txt"])
        assert.deepStrictEqual(yield* chosen(names, { include: pattern }), [names[0]])
      })
  )

  it.each<readonly [pattern: string, problem: RegExp | null]>([
    ["*.wav", null],
    ["!keep.wav", null],
    ["[ab].wav", null],
    ["[!a]", null],
    ["[]]", null],
    ["[]a]b", null],
    ["\\[a", null],
    ["a\\ ", null],
    ["[", /bracket/],
    ["[]", /bracket/],
    ["a[b", /bracket/],
    ["[ab]\\[[", /bracket/],
    ["a\\", /backslash/],
    ["", /empty/],
    [" ", /empty/],
    ["#a", /comment/]
  ])("the pattern %j can match something, or is refused", (pattern, problem) => {
    const found = Option.getOrNull(Choosing.problemOf(pattern))
    if (problem === null) assert.isNull(found)
    else assert.match(found ?? "", problem)
  })
})
