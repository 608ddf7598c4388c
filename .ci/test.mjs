// Runs the tests of one tier, then says what this machine could not run and why. Arguments go to vitest.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { missingSuites } from "./optional-suites.mjs"
import { root } from "./packages.mjs"

/**
 * The vitest projects of each tier. `npm test` runs the quick ones, `npm run test:all` all of them, `.ci/run` the quick
 * ones, the rest, and those of what was built and packed.
 *
 * @type {Readonly<Record<string, ReadonlyArray<string>>>}
 */
const tiers = {
  quick: ["--project=unit", `--reporter=${root}/.ci/quick-reporter.mjs`],
  rest: ["--project=slow", "--project=*/integration"],
  all: ["--project=!packed"],
  packed: ["--project=packed"]
}

const [tier = "quick", ...wishes] = process.argv.slice(2)
const projects = tiers[tier]
if (projects === undefined) {
  console.error(`No tier is called ${tier}. There are: ${Object.keys(tiers).join(", ")}`)
  process.exit(2)
}

// each property runs a fifth of its number in `npm test`; `.ci/run` has the whole of it in its pass over what was built
const whole = tier !== "quick" || process.env.TEST_DIST === "1"

// .ci/run reads its closing line from the reports
const report = `${root}/.cache/vitest-report-${process.env.TEST_DIST === "1" ? "built-" : ""}${tier}.json`
mkdirSync(`${root}/.cache`, { recursive: true })
rmSync(report, { force: true })

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")
const { status } = spawnSync(
  process.execPath,
  // a file that is named runs, whatever its tier
  [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
    .concat(wishes.length === 0 ? projects : wishes),
  { cwd: root, stdio: "inherit", env: { ...process.env, ...(whole ? { STEVEDORE_PROPERTIES: "whole" } : {}) } }
)

if (tier !== "quick") {
  for (const suite of missingSuites) {
    console.log(`Not run: ${suite.files} needs ${suite.needs}, which this machine does not have. ${suite.install}`)
  }
}
if (tier === "quick" && wishes.length === 0) {
  console.log("Everything that needs no browser and no other process. The whole suite: npm run test:all")
}

process.exitCode = status ?? 1
