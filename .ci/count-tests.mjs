// Closes .ci/run with what the test runner's report counts: `N passed, N failed` alone on a line. The same tests run
// twice, the second time against what was built: whatever failed in either counts as failed.
// With --complete it fails when anything was left out: a skipped test, a missing suite, or no tests at all.
import { existsSync, readFileSync } from "node:fs"
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

/**
 * @param {string} name
 * @returns {Report | undefined}
 */
const read = (name) => {
  const file = `${root}/.cache/${name}`
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
}

const report = read("vitest-report.json")

if (process.argv.includes("--complete")) {
  const leftOut = [
    ...missingSuites.map((suite) => `${suite.files}: needs ${suite.needs}`),
    ...(report?.testResults ?? []).flatMap((result) =>
      result.assertionResults
        .filter(({ status }) => status !== "passed" && status !== "failed")
        .map(({ fullName, status }) => `${result.name}: ${fullName} is ${status}`)
    )
  ]
  for (const line of leftOut) console.log(line)
  const tests = report === undefined ? 0 : report.numPassedTests + report.numFailedTests
  if (tests === 0) console.log("No test ran")
  if (leftOut.length > 0 || tests === 0) process.exitCode = 1
  else console.log(`All ${tests} tests ran, none was skipped`)
} else {
  const built = read("vitest-report-dist.json")
  const failed = (report?.numFailedTests ?? 0) + (built?.numFailedTests ?? 0)
  console.log(`${report?.numPassedTests ?? 0} passed, ${failed} failed`)
}
