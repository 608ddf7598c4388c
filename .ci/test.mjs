// Runs the whole suite, then says what this machine could not run and why. Arguments go to vitest.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { missingSuites, optionalSuites } from "./optional-suites.mjs"
import { root } from "./packages.mjs"

// .ci/run reads its closing line from this report
const report = `${root}/.cache/vitest-report${process.env.TEST_DIST === "1" ? "-dist" : ""}.json`
mkdirSync(`${root}/.cache`, { recursive: true })
rmSync(report, { force: true })

const wishes = process.argv.slice(2)
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")
const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...wishes],
  { cwd: root, stdio: "inherit" }
)

for (const suite of missingSuites) {
  console.log(`Not run: ${suite.files} needs ${suite.needs}, which this machine does not have. ${suite.install}`)
}
if (missingSuites.length === 0 && wishes.length === 0) {
  console.log(
    optionalSuites.length === 0
      ? "Every suite ran: none needs anything that this machine does not have."
      : `Every suite ran, with ${optionalSuites.map((suite) => suite.needs).join(", ")}.`
  )
}

process.exitCode = status ?? 1
