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
