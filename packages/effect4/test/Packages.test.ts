import { assert, describe, it } from "@effect/vitest"
import { examplesOf, placeInFile, shown, withExamples } from "../src/examples.js"
import { versionOn4 } from "../src/version.js"

describe("a version of the line for Effect 4", () => {
  it.each([
    ["0.1.0", "1.0.0"],
    ["0.1.3", "1.3.0"],
    ["0.2.0", "2.0.0"],
    ["^0.1.0", "^1.0.0"],
    ["0.2.0-next.1", "2.0.0-next.1"]
  ])("of %s is %s", (on3, on4) => {
    assert.strictEqual(versionOn4(on3), on4)
  })

  it("is not made of one that has no leading zero", () => {
    assert.throws(() => versionOn4("1.0.0"))
  })
})

const module = `/** Nothing. */
export {
  /**
   * Adds.
   *
   * @example
   * import { Either } from "effect"
   *
   * Either.right(1)
   *
   * @since 0.1.0
   */
  add
} from "./add.js"
`

describe("an example in a docstring", () => {
  const [example, ...others] = examplesOf("/src/add.ts", module)
  assert.isDefined(example)

  it("is a file, with its lines where they stand", () => {
    assert.deepStrictEqual(others, [])
    assert.strictEqual(example.path, "/src/add.example1.ts")
    assert.strictEqual(example.text.split("\n")[6], "import { Either } from \"effect\"")
    assert.strictEqual(placeInFile("src/add.example1.ts:9"), "src/add.ts:9")
  })

  it("is written as users write, and in its place", () => {
    const emitted =
      `\n\nimport * as Result from "effect/Result"\nimport * as HttpClient from "effect/http/HttpClient"\n\nResult.succeed(1)\n`
    const text = withExamples(
      "/src/add.ts",
      module,
      (code, lineWidth) => code === example.code ? shown(example, emitted, lineWidth) : undefined
    )
    assert.include(
      text,
      `   * @example
   * import { Result } from "effect"
   * import { HttpClient } from "effect/http"
   *
   * Result.succeed(1)
   *
   * @since 0.1.0
   */
  add
`
    )
  })
})
