// Publishes every package, of both lines of Effect, each under the tag of its line. What is said to it, it says to npm. What
// the registry has is left out, so that a release that stopped half way goes on.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { posix } from "node:path"
import { packages, packagesForEffect4 } from "./packages.mjs"

const { GITHUB_REF_NAME, GITHUB_REPOSITORY, GITHUB_SERVER_URL, NODE_AUTH_TOKEN } = process.env

/** @param {ReadonlyArray<string>} words @param {import("node:child_process").SpawnSyncOptions} [options] */
const npm = (words, options = {}) =>
  spawnSync("npm", words, { encoding: "utf8", shell: process.platform === "win32", ...options })

/**
 * What npm packs of a package, unpacked, with the repository that this run is of: npm compares it with the run's identity, and the
 * links of its README lead there.
 *
 * @param {string} path
 * @param {string} directory
 * @param {string} folder
 */
const stage = (path, directory, folder) => {
  const file = String(npm(["pack", path, "--ignore-scripts", "--silent", "--pack-destination", folder]).stdout).trim()
  if (spawnSync("tar", ["-xzf", file], { cwd: folder }).status !== 0) throw new Error(`${path} cannot be packed`)
  const staged = `${folder}/package`
  const url = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`
  const manifest = JSON.parse(readFileSync(`${staged}/package.json`, "utf8"))
  const repository = { type: "git", url: `git+${url}.git`, directory: `packages/${directory}` }
  writeFileSync(`${staged}/package.json`, `${JSON.stringify({ ...manifest, repository }, null, 2)}\n`)
  const readme = readFileSync(`${staged}/README.md`, "utf8").replaceAll(
    /\]\((?!https?:|#)([^)]+)\)/g,
    (_, link) => `](${url}/blob/${GITHUB_REF_NAME}/${posix.join(repository.directory, link)})`
  )
  writeFileSync(`${staged}/README.md`, readme)
  return staged
}

const registry = String(npm(["config", "get", "registry"]).stdout).trim().replace(/^https?:/, "").replace(/\/?$/, "/")
const env = NODE_AUTH_TOKEN === undefined
  ? process.env
  : { ...process.env, [`npm_config_${registry}:_authToken`]: NODE_AUTH_TOKEN }

for (const { directory, name, path, published } of [...packages, ...packagesForEffect4]) {
  if (!published) continue
  const { version } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
  if (String(npm(["view", `${name}@${version}`, "version"]).stdout).trim() === version) {
    console.log(`${name} ${version} is published already`)
    continue
  }
  const folder = mkdtempSync(`${tmpdir()}/stevedore-publish-`)
  try {
    const place = GITHUB_REPOSITORY === undefined ? path : stage(path, directory, folder)
    const { status } = npm(["publish", place, ...process.argv.slice(2)], { stdio: "inherit", env })
    if (status !== 0) {
      console.error(`${name} is not published`)
      process.exitCode = status ?? 1
      break
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
