import { assert, beforeAll, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { install, modules, packed, published, run, versionsOf } from "./project.js"

/** What a program can see of a module: its names, and of each its kind, its arity and its members. */
const shapeOf = (exports: object): Record<string, string> => {
  const shape: Record<string, string> = {}
  for (const [name, value] of Object.entries(exports)) {
    shape[name] = typeof value === "function"
      ? `function of ${value.length}: ${Object.getOwnPropertyNames(value).sort().join()}`
      : typeof value === "object" && value !== null
      ? `object: ${Object.keys(value).sort().join()}`
      : typeof value
  }
  return shape
}

const sources = published.filter(({ directory }) => directory !== "cli").flatMap(({ name, path }) =>
  readdirSync(`${path}/src`)
    .filter((file) => /^\w+\.tsx?$/.test(file) && modules.includes(`${name}/${file.replace(/\.tsx?$/, "")}`))
    .map((file) => ({ name: `${name}/${file.replace(/\.tsx?$/, "")}`, path: `${path}/src/${file}` }))
)

describe("every door that is packed", () => {
  let doors: Readonly<Record<string, Readonly<Record<string, string>>>> = {}

  beforeAll(async () => {
    const project = await install("doors", {
      own: ["core", "node", "browser", "server", "testing", "bulk"],
      tarballs: packed().tarballs,
      others: versionsOf(["effect", "@effect/platform", "@effect/platform-node", "@effect/sql", "@effect/experimental"])
    })
    const program = `const shapeOf = ${shapeOf}
      const found = {}
      for (const name of ${JSON.stringify(modules)}) found[name] = shapeOf(await import(name))
      console.log(JSON.stringify(found))`
    doors = JSON.parse(await run(project, process.execPath, ["--input-type=module", "--eval", program]))
    assert.isNotEmpty(readdirSync(join(project, "node_modules")))
  })

  it("is a door of the source, and none is missing", () => {
    assert.isAbove(modules.length, 100)
    assert.deepStrictEqual(Object.keys(doors).sort(), sources.map(({ name }) => name).sort())
  })

  it.each(sources)("$name has the names and arities of its source", async ({ name, path }) => {
    assert.deepStrictEqual(doors[name], shapeOf(await import(path)))
  })
})
