// Closes .ci/run with the tests that failed, a table of its steps, and what the test runner's reports count: `N passed, N
// failed` alone on a line. The same tests run again against what was built, and on Effect 4: what failed in any of them has failed.
// With --complete it fails when anything was left out: a skipped test, a missing suite, or no tests at all.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { missingSuites } from "./optional-suites.mjs"
import { root } from "./packages.mjs"

/**
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {ReadonlyArray<TestFile>} testResults
 */

/**
 * @typedef {object} TestFile
 * @property {string} name
 * @property {string} status
 * @property {string} [message]
 * @property {ReadonlyArray<{ fullName: string, status: string, failureMessages: ReadonlyArray<string> }>} assertionResults
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

const sources = read(/^vitest-report-(quick|rest|all|packed)\.json$/)

const reports = (existsSync(cache) ? readdirSync(cache) : []).filter((file) => /^vitest-report-/.test(file)).map(
  (file) => {
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(`${cache}/${file}`, "utf8"))
    return { at: statSync(`${cache}/${file}`).mtimeMs, count: numPassedTests + numFailedTests }
  }
)

if (process.argv.includes("--complete")) {
  const leftOut = [
    ...missingSuites.filter(({ nightly }) => nightly !== true).map((suite) => `${suite.files}: needs ${suite.needs}`),
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
  const again = read(/^vitest-report-(built-|effect4)/)
  // once more, and in short: by now it is far above
  for (const { assertionResults, message, name, status } of [...sources, ...again].flatMap((one) => one.testResults)) {
    const failures = assertionResults.filter((test) => test.status === "failed")
    if (status === "failed" && failures.length === 0) console.log(`${name}: ${message}`)
    for (const { failureMessages, fullName } of failures) {
      console.log(`${name}: ${fullName}\n  ${failureMessages.join("\n").split("\n").slice(0, 6).join("\n  ")}`)
    }
  }
  // what each step took, and how many tests it ran
  const steps = existsSync(`${cache}/ci-steps.tsv`) ? readFileSync(`${cache}/ci-steps.tsv`, "utf8").trim() : ""
  for (const [began, ended, words] of steps.split("\n").filter((line) => line !== "").map((line) => line.split("\t"))) {
    const from = Number(began) * 1000
    const to = Number(ended) * 1000
    const tests = reports.filter(({ at }) => at >= from && at <= to).reduce((all, { count }) => all + count, 0)
    console.log(
      `${((to - from) / 1000).toFixed(0).padStart(6)} s ${tests === 0 ? "      " : String(tests).padStart(6)}  ${words}`
    )
  }
  const failed = sum(sources, "numFailedTests") + sum(again, "numFailedTests")
  console.log(`${sum(sources, "numPassedTests")} passed, ${failed} failed`)
}
