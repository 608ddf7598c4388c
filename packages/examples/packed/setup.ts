// Packs the packages of both lines by `npm run pack`, and gets every version of Node that is promised, for all tests of this folder.
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../../.ci/packages.mjs"
import { install, nodes, nodesForEffect4, provide, run, type Tarballs } from "./project.js"

const pack = async (folder: string, line: "effect3" | "effect4"): Promise<Tarballs> => {
  await run(root, process.execPath, [".ci/pack.mjs", line], { folder })
  const made = `${root}/.cache/packed/${line}`
  return Object.fromEntries(readdirSync(made).map((file) => [/stevedore-(\w+)-/.exec(file)?.[1], join(made, file)]))
}

export default async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "stevedore-try-"))
  const names = [...new Set([...nodes, ...nodesForEffect4])].map((node) => [
    `node-${node}`,
    `npm:node-${process.platform}-${process.arch}@${node}`
  ])
  provide({
    folder,
    tarballs: await pack(folder, "effect3"),
    tarballsForEffect4: await pack(folder, "effect4"),
    runtimes: await install("runtimes", { others: Object.fromEntries(names) }, folder)
  })
  return () => rmSync(folder, { recursive: true, force: true })
}
