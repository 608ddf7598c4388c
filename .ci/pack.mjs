// Packs all packages of a line of Effect into one directory, as the registry would have them: `npm run pack -- effect4`.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { packages, packagesForEffect4, root } from "./packages.mjs"

const lines = { effect3: packages.filter(({ published }) => published), effect4: packagesForEffect4 }

const [line = "effect3"] = process.argv.slice(2)
const chosen = line === "effect3" || line === "effect4" ? lines[line] : []
if (chosen.length === 0 || chosen.some(({ path }) => !existsSync(`${path}/dist`))) {
  console.error(`There is nothing to pack as ${line}: say effect3 or effect4, after npm run build`)
  process.exit(1)
}

const folder = `${root}/.cache/packed/${line}`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const { path } of chosen) {
  const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]
  const { status } = spawnSync("npm", words, { cwd: path, stdio: ["ignore", "ignore", "inherit"] })
  if (status !== 0) process.exit(1)
}
for (const file of readdirSync(folder)) console.log(`.cache/packed/${line}/${file}`)
