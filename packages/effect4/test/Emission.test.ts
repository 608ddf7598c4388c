import { assert, describe, it } from "@effect/vitest"
import ts from "typescript"
import { emitFile } from "../src/emit.js"
import type { Unlisted } from "../src/render.js"

const here = new URL("./fixtures/", import.meta.url).pathname.replace(/\/$/, "")

const names = ["written", "unlisted"].map((name) => `${here}/${name}.ts`)

const program = ts.createProgram(names, {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: []
})

const emitted = (name: string) => {
  const unlisted: Array<Unlisted> = []
  const file = program.getSourceFile(`${here}/${name}.ts`)
  assert.isDefined(file)
  const text = emitFile(file, program.getTypeChecker(), here, undefined, (one) => {
    unlisted.push(one)
  })
  return { text, unlisted }
}

describe("a file for Effect 4", () => {
  it("tells file, line and name of a member that is not in the table", () => {
    assert.deepStrictEqual(emitted("unlisted").unlisted, [
      { place: "unlisted.ts:5", member: "effect/Effect.dropUntil" }
    ])
  })

  const { text, unlisted } = emitted("written")

  it("has all its members in the table", () => {
    assert.deepStrictEqual(unlisted, [])
  })

  it("has another name for a member of Effect, and none for what is only called like it", () => {
    assert.include(text, "Effect.andThen(Effect.void, Effect.void)")
    assert.include(text, "=> Effect.zipRight(1)")
  })

  it("makes an Effect of what is one on 3 only", () => {
    assert.include(text, "yield* Effect.fromResult(parsed(\"text\"))")
    assert.include(text, "() => Effect.fromResult(parsed(\"of a callback\"))")
  })

  it("imports what it then needs, and nothing else", () => {
    assert.include(text, "import * as Result from \"effect/Result\"")
    assert.notInclude(text, "Either")
  })

  it("keeps the upper limit of a random number out", () => {
    assert.include(text, "Random.nextIntBetween(0, 2, { halfOpen: true })")
  })

  it("names the branches of a match as 4 does", () => {
    assert.include(text, "onFailure: (problem) => problem, onSuccess: (length) => String(length)")
  })
})
