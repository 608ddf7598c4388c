import { readFileSync } from "node:fs"
import config from "../../../../vitest.config.js"
import { projects } from "../../../../vitest.workspace.js"
import { compiledIn, type Mutant } from "./mutants.js"

const root = new URL("../../../..", import.meta.url).pathname.replace(/\/$/, "")

const sample: ReadonlyArray<Mutant> = JSON.parse(readFileSync(`${root}/.cache/mutation/sample.json`, "utf8"))

const mutations = {
  name: "mutations",
  enforce: "pre" as const,
  transform: (code: string, id: string) => {
    const file = id.startsWith(`${root}/`) ? id.slice(root.length + 1) : id
    const here = sample.flatMap((mutant, number) => mutant.file === file ? [[number, mutant] as const] : [])
    return here.length === 0 ? undefined : { code: compiledIn(code, here), map: null }
  }
}

const setup = `${root}/packages/bench/src/mutation/setup.ts`

export default {
  ...config,
  root,
  test: {
    ...config.test,
    // While it is found out which files reach what, each loads all of it: what a module does when it is loaded would be counted
    // for the first one only.
    poolOptions: { forks: { ...config.test?.poolOptions?.forks, isolate: process.env["MUTANT"] === undefined } },
    projects: projects.filter(({ test }) => test?.name === "unit").map((project) => ({
      ...project,
      plugins: [mutations],
      test: { ...project.test, setupFiles: [setup] }
    }))
  }
}
