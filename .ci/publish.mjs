// Publishes every package, of both lines of Effect, each under the tag of its line. What is said to it, it says to npm.
import { spawnSync } from "node:child_process"
import { packages, packagesForEffect4 } from "./packages.mjs"

for (const { name, path, published } of [...packages, ...packagesForEffect4]) {
  if (!published) continue
  const { status } = spawnSync("npm", ["publish", path, ...process.argv.slice(2)], {
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  if (status !== 0) {
    console.error(`${name} is not published`)
    process.exit(status ?? 1)
  }
}
