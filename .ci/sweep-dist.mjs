// Removes from every dist what no longer has a source: `tsc -b` writes files and never takes one away, and what is left
// behind would still be published and could still be imported.
import { existsSync, readdirSync, rmSync } from "node:fs"
import { packages } from "./packages.mjs"

for (const { path } of packages) {
  if (!existsSync(`${path}/dist`)) continue
  for (const name of readdirSync(`${path}/dist`, { recursive: true, encoding: "utf8" })) {
    const module = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(name)?.[1]
    if (module !== undefined && ![".ts", ".tsx"].some((extension) => existsSync(`${path}/src/${module}${extension}`))) {
      rmSync(`${path}/dist/${name}`)
    }
  }
}
