// Closes .ci/run with what the test runner's reports count: `N passed, N failed` alone on a line. The same tests run
// twice, the second time against what was built: whatever failed in either counts as failed.
// With --complete it fails when anything was left out: a skipped test, a missing suite, or no tests at all.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { missingSuites } from "./optional-suites.mjs"
import { root } from "./packages.mjs"

/**
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {ReadonlyArray<{ name: string, status: string, assertionResults: ReadonlyArray<{ fullName: string, status: string }> }>} testResults
 */

const cache = `${root}/.cache`

/**
 * The reports of the tiers that ran, of the sources or of what was built.
 *
 * @param {RegExp} name
 * @returns {ReadonlyArray<Report>}
 */
const read = (name) =>
  (existsSync(cache) ? readdirSync(cache) : [])
    .filter((file) => name.test(file))
    .map((file) => JSON.parse(readFileSync(`${cache}/${file}`, "utf8")))

/**
 * @param {ReadonlyArray<Report>} reports
 * @param {"numPassedTests" | "numFailedTests"} count
 */
const sum = (reports, count) => reports.reduce((total, report) => total + report[count], 0)

const sources = read(/^vitest-report-(?!built-)/)

if (process.argv.includes("--complete")) {
  const leftOut = [
    ...missingSuites.map((suite) => `${suite.files}: needs ${suite.needs}`),
    ...sources.flatMap((report) => report.testResults).flatMap((result) =>
      result.assertionResults
        .filter(({ status }) => status !== "passed" && status !== "failed")
        .map(({ fullName, status }) => `${result.name}: ${fullName} is ${status}`)
    )
  ]
  for (const line of leftOut) console.log(line)
  const tests = sum(sources, "numPassedTests") + sum(sources, "numFailedTests")
  if (tests === 0) console.log("No test ran")
  if (leftOut.length > 0 || tests === 0) process.exitCode = 1
  else console.log(`All ${tests} tests ran, none was skipped`)
} else {
  const failed = sum(sources, "numFailedTests") + sum(read(/^vitest-report-built-/), "numFailedTests")
  console.log(`${sum(sources, "numPassedTests")} passed, ${failed} failed`)
}
