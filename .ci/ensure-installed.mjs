// Lets `npm test` and `npm run demo` work on a fresh clone: runs `npm ci` when what package-lock.json asks for is not
// what is installed.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { root } from "./packages.mjs"

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, link?: boolean, optional?: boolean }>}
 */
const readLockfile = (file) => JSON.parse(readFileSync(`${root}/${file}`, "utf8")).packages

// npm writes this file at the end of an install
const marker = "node_modules/.package-lock.json"

const reason = () => {
  if (!existsSync(`${root}/${marker}`)) return "The dependencies are not installed yet"
  const installed = readLockfile(marker)
  const outdated = Object.entries(readLockfile("package-lock.json")).find(([path, { optional, version }]) =>
    path.startsWith("node_modules/") && optional !== true && installed[path]?.version !== version
  )
  return outdated === undefined ? undefined : `${outdated[0]} is not installed as package-lock.json says`
}

const why = reason()
if (why !== undefined) {
  console.error(`${why}: running "npm ci" first, which takes about a minute.`)
  const install = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32"
  })
  if (install.status !== 0) {
    console.error(`"npm ci" failed. Mend what it says above, then run the command again.`)
    process.exit(1)
  }
}
