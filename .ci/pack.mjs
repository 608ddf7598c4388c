// Packs all packages of a line of Effect into one directory, as the registry would have them, and says how a project installs
// them: `npm run pack -- effect4`. What is not built, or is older than its sources, is built first.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { packages, root } from "./packages.mjs"
import { linesOf, pages } from "./pages.mjs"

const lines = {
  effect3: { script: "build", takes: "half a minute", built: `${root}/packages`, also: [] },
  effect4: {
    script: "build:effect4",
    takes: "two minutes",
    built: `${root}/.cache/effect4/packages`,
    also: ["seams", "src", "line"].map((folder) => `${root}/packages/effect4/${folder}`)
  }
}

const [wish = "effect3"] = process.argv.slice(2)
if (wish !== "effect3" && wish !== "effect4") {
  console.error(`There is no line ${wish}: say effect3 or effect4`)
  process.exit(2)
}
const { also, built, script, takes } = lines[wish]
const sources = packages.filter(({ published }) => published).flatMap(({ path }) =>
  ["src", "package.json", "README.md", "CHANGELOG.md"].map((name) => `${path}/${name}`)
)

/** @param {string} path */
const changed = (path) =>
  Math.max(
    statSync(path).mtimeMs,
    ...(statSync(path).isDirectory() ? readdirSync(path, { encoding: "utf8", recursive: true }) : [])
      .map((file) => statSync(`${path}/${file}`).mtimeMs)
  )

const directories = packages.filter(({ published }) => published).map(({ directory }) => directory)

/** Of the line. @returns {ReadonlyArray<string>} */
const builtPackages = () =>
  directories.map((directory) => `${built}/${directory}`).filter((path) => existsSync(`${path}/package.json`))

const indexes = builtPackages().map((path) => `${path}/dist/index.js`)
const isBuilt = indexes.length > 0 && indexes.every((index) => existsSync(index)) &&
  Math.min(...indexes.map(changed)) > Math.max(...[...sources, ...also].map(changed))
if (!isBuilt) {
  console.log(`Building the packages, which takes about ${takes}`)
  const began = performance.now()
  const { status } = spawnSync("npm", ["run", "--silent", script], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32"
  })
  if (status !== 0) process.exit(1)
  console.log(`Built in ${Math.round((performance.now() - began) / 1000)} s`)
}

const folder = `${root}/.cache/packed/${wish}`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const path of builtPackages()) {
  const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]
  const { status } = spawnSync("npm", words, {
    cwd: path,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32"
  })
  if (status !== 0) process.exit(1)
}
// as the pages say it, to a project that may be anywhere
const [install = ""] = pages.flatMap(linesOf).map(({ line }) => line).filter((line) =>
  line.includes(`/packed/${wish}/`)
)
console.log(`\nIn your project:\n\n  ${install.replace("../stevedore", root)}`)
