// Lets `npm test` and `npm run demo` work on a fresh clone: runs `npm ci` when the installed packages are missing
// or older than package-lock.json.
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { root } from "./packages.mjs"

// npm writes this file at the end of an install
const marker = `${root}/node_modules/.package-lock.json`
const lockfile = `${root}/package-lock.json`

const reason = !existsSync(marker)
  ? "The dependencies are not installed yet"
  : statSync(marker).mtimeMs < statSync(lockfile).mtimeMs
  ? "package-lock.json is newer than the installed dependencies"
  : undefined

if (reason !== undefined) {
  console.error(`${reason}: running "npm ci" first, which takes about a minute.`)
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
