// Takes what is `@internal` out of the doors that `npm run build` has made, or `build:effect4`: an editor offers what stands in
// their declarations. Lines stay where they are, so that the maps of the declarations stay true.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import ts from "typescript"
import { packages, packagesForEffect4 } from "./packages.mjs"

/** @param {ts.Node} node @returns {ReadonlyArray<ts.Node>} */
const internals = (node) => {
  if (ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal")) return [node]
  /** @type {Array<ReadonlyArray<ts.Node>>} */
  const found = []
  ts.forEachChild(node, (child) => void found.push(internals(child)))
  return found.flat()
}

for (const { path, published } of process.argv[2] === "effect4" ? packagesForEffect4 : packages) {
  if (!published) continue
  for (const file of readdirSync(`${path}/dist`).filter((name) => name.endsWith(".d.ts"))) {
    const text = readFileSync(`${path}/dist/${file}`, "utf8")
    const parts = internals(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
    const left = parts.reduceRight((now, node) => {
      const start = node.getFullStart()
      // of a name among others in a list, with what parts it from the next one
      const end = node.getEnd() + (text[node.getEnd()] === "," ? 1 : 0)
      return now.slice(0, start) + now.slice(start, end).replace(/[^\n]/g, "") + now.slice(end)
    }, text)
    if (left !== text) writeFileSync(`${path}/dist/${file}`, left)
  }
}
