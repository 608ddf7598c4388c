// Publishes every package, of both lines of Effect, each under the tag of its line. What is said to it, it says to npm. What
// the registry has is left out, so that a release that stopped half way goes on.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { packages, packagesForEffect4 } from "./packages.mjs"

for (const { name, path, published } of [...packages, ...packagesForEffect4]) {
  if (!published) continue
  const { version } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
  const { stdout } = spawnSync("npm", ["view", `${name}@${version}`, "version"], {
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  if (stdout.trim() === version) {
    console.log(`${name} ${version} is published already`)
    continue
  }
  const { status } = spawnSync("npm", ["publish", path, ...process.argv.slice(2)], {
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  if (status !== 0) {
    console.error(`${name} is not published`)
    process.exit(status ?? 1)
  }
}
