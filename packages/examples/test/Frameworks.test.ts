import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

const read = (path: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(path, import.meta.url)))
  ).pipe(Effect.provide(NodeContext.layer))

describe("the page about frameworks", () => {
  it.effect.each(["ReactQueue.tsx", "VueQueue.ts", "SvelteQueue.ts", "SolidQueue.ts"])(
    "shows %s as it is compiled and run",
    (name) =>
      Effect.gen(function*() {
        const recipe = yield* read(`../src/${name}`)
        const page = yield* read("../../docs/guide/frameworks.md")
        const language = name.split(".").at(-1) ?? ""
        assert.include(page, `\`\`\`${language}\n// ${name}\n${recipe}\`\`\`\n`)
      })
  )
})

describe("the page about the element", () => {
  it.effect.each([
    "ReactElement.tsx",
    "PreactElement.tsx",
    "VueElement.ts",
    "SvelteElement.svelte",
    "SolidElement.ts",
    "SolidJsxElement.tsx"
  ])(
    "shows %s as it is compiled and run",
    (name) =>
      Effect.gen(function*() {
        const recipe = yield* read(`../src/${name}`)
        const page = yield* read("../../docs/guide/element.md")
        const language = name.split(".").at(-1) ?? ""
        const title = language === "svelte" ? `<!-- ${name} -->` : `// ${name}`
        assert.include(page, `\`\`\`${language}\n${title}\n${recipe}\`\`\`\n`)
      })
  )

  it.effect("lists every part, slot and custom property of the element", () =>
    Effect.gen(function*() {
      const page = yield* read("../../docs/guide/element.md")
      const fs = yield* FileSystem.FileSystem
      const folder = fileURLToPath(new URL("../../browser/src/element", import.meta.url))
      const sources = yield* Effect.forEach(
        yield* fs.readDirectory(folder),
        (name) => fs.readFileString(`${folder}/${name}`)
      )
      const source = [yield* read("../../browser/src/element.ts"), ...sources].join("\n")
      const found = (pattern: RegExp) => Array.from(source.matchAll(pattern), ([, name = ""]) => name)
      const parts = found(/\bpart: "([a-z]+)"/g)
      const properties = found(/var\((--stevedore-[a-z-]+)/g)
      assert.isAbove(parts.length, 15)
      assert.isAbove(properties.length, 8)
      for (const name of [...parts, ...properties]) assert.include(page, `\`${name}\``)
    }).pipe(Effect.provide(NodeContext.layer)))
})
