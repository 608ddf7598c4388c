// A reporter of vitest's for the quick tier: a test of it takes at most half a second. Where one took more than a whole
// one, and the machine had nothing else to do, the run fails.
import { availableParallelism, loadavg } from "node:os"
import { relative } from "node:path"
import { root } from "./packages.mjs"

const most = 1000

/** The process of vitest and its workers. */
const isQuiet = () => (loadavg()[0] ?? 0) <= availableParallelism() + 1

export default class {
  /** @param {ReadonlyArray<import("vitest/node").TestModule>} modules */
  onTestRunEnd(modules) {
    const late = modules.flatMap((module) =>
      [...module.children.allTests()]
        .map((test) => ({
          name: test.fullName,
          file: relative(root, module.moduleId),
          took: test.diagnostic()?.duration ?? 0
        }))
        .filter(({ took }) => took > most)
    )
    if (late.length === 0) return
    for (const { file, name, took } of late) console.log(`${Math.round(took)} ms: ${file} > ${name}`)
    console.log("A quick test takes at most 500 ms: make it faster, or move it into test/slow.")
    if (isQuiet()) process.exitCode = 1
    else console.log("This machine is busy, so the run does not fail for it.")
  }
}
