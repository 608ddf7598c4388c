// The packages of the workspace, read from disk: a new folder under packages/ joins every check by being there.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "")

/**
 * @typedef {object} WorkspacePackage
 * @property {string} directory name of the folder under packages/
 * @property {string} path absolute path of the folder
 * @property {string} name name in package.json
 * @property {boolean} published whether it goes to the registry
 */

/** @type {ReadonlyArray<WorkspacePackage>} */
export const packages = readdirSync(`${root}/packages`)
  .filter((directory) => existsSync(`${root}/packages/${directory}/package.json`))
  .sort()
  .map((directory) => {
    const path = `${root}/packages/${directory}`
    const manifest = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
    return { directory, path, name: manifest.name, published: manifest.private !== true }
  })
