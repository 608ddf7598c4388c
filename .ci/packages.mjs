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

/** @param {string} folder @returns {ReadonlyArray<WorkspacePackage>} */
const packagesIn = (folder) =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((directory) => existsSync(`${folder}/${directory}/package.json`))
    .sort()
    .map((directory) => {
      const path = `${folder}/${directory}`
      const manifest = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
      return { directory, path, name: manifest.name, published: manifest.private !== true }
    })

export const packages = packagesIn(`${root}/packages`)

/** The same packages for Effect 4, those that are: written from these by `npm run build:effect4`. */
export const packagesForEffect4 = packagesIn(`${root}/.cache/effect4/packages`)
