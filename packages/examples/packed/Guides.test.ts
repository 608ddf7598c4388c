import { assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../.ci/packages.mjs"
import { blocksOf, pages } from "../../../.ci/pages.mjs"
import { install, json, packed, run } from "./project.js"

const { tarballs } = packed()

const configurations = pages.flatMap((page) =>
  blocksOf(page)
    .filter(({ code, language }) => language === "json" && code.includes("\"compilerOptions\""))
    .map(({ code, line }) => ({ code, place: `${page}:${line}` }))
)

describe("what the guides print", () => {
  let project = ""

  beforeAll(async () => {
    const { dependencies, devDependencies } = json(`${root}/packages/examples/package.json`)
    const others = Object.entries<string>({ ...dependencies, ...devDependencies })
      .filter(([name]) => !name.startsWith("@stevedore/"))
    project = await install("guides", {
      own: ["core", "node", "browser", "server", "testing", "bulk", "cli"],
      tarballs,
      others: { ...Object.fromEntries(others), "@types/node": "20", "@types/ws": "8", "typescript": "5.9.3" }
    })
    cpSync(`${root}/packages/examples/src`, join(project, "src"), {
      recursive: true,
      filter: (path) => !path.endsWith(".tsx") && !path.endsWith(".svelte")
    })
  })

  it("has two configurations of TypeScript", () => {
    assert.lengthOf(configurations, 2)
  })

  it.each(configurations)("compiles every example by the configuration in $place, to the letter", async ({ code }) => {
    writeFileSync(join(project, "tsconfig.json"), code)
    assert.strictEqual(await run(project, process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"]), "")
  })
})
