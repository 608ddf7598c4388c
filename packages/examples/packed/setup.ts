// Packs the packages as `npm publish` would, and gets every version of Node that is promised, for all tests of this folder.
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packagesForEffect4 } from "../../../.ci/packages.mjs"
import { install, nodes, nodesForEffect4, type Package, provide, published, run, type Tarballs } from "./project.js"

const pack = async (folder: string, those: ReadonlyArray<Package>): Promise<Tarballs> => {
  const tarballs: Record<string, string> = {}
  for (const { directory, path } of those) {
    if (!existsSync(`${path}/dist`)) throw new Error(`${directory} is not built: run "npm run build" first`)
    const words = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]
    const [{ filename }] = JSON.parse(await run(path, "npm", words, { folder }))
    tarballs[directory] = join(folder, filename)
  }
  return tarballs
}

export default async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "stevedore-try-"))
  const names = [...new Set([...nodes, ...nodesForEffect4])].map((node) => [
    `node-${node}`,
    `npm:node-${process.platform}-${process.arch}@${node}`
  ])
  provide({
    folder,
    tarballs: await pack(folder, published),
    tarballsForEffect4: await pack(folder, packagesForEffect4),
    runtimes: await install("runtimes", { others: Object.fromEntries(names) }, folder)
  })
  return () => rmSync(folder, { recursive: true, force: true })
}
