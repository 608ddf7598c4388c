import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"
import { invalid, type InvalidInput } from "./invalidInput.js"

const nameOf = (wanted: string): string => wanted.replace(/@[\d.]+$/, "")

const manifest = (from: NodeJS.Require, name: string): string | undefined => {
  try {
    return from.resolve(`${name}/package.json`)
  } catch (error) {
    // one that is there, and does not show it
    return Predicate.hasProperty(error, "code") && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED" ? name : undefined
  }
}

/** The line that installs packages beside this one. */
const line = (wanted: ReadonlyArray<string>): string =>
  `In one directory:\n  npm install @stevedore/cli ${wanted.join(" ")}`

/**
 * What is missing of packages that a command needs beside this one, with the line that installs them; undefined if
 * nothing is.
 */
export const problem = (from: NodeJS.Require, wanted: ReadonlyArray<string>): string | undefined => {
  const missing = wanted.map(nameOf).filter((name) => manifest(from, name) === undefined)
  return missing.length === 0 ? undefined : `needs ${missing.join(", ")} beside this package. ${line(wanted)}`
}

const sql = ["@effect/sql@0.52", "@effect/experimental@0.61"]

const drivers = { Sqlite: "libsql@0.5", Postgres: "@effect/sql-pg@0.53" } as const

/** What is missing for what keeps rows in such a database. */
export const ofDatabase = (from: NodeJS.Require, database: keyof typeof drivers): string | undefined =>
  problem(from, [...sql, drivers[database]])

/** The same for jobs. Two copies of core would not know each other's URLs. */
export const ofBulk = (from: NodeJS.Require, database: keyof typeof drivers): string | undefined => {
  const wanted = ["@stevedore/bulk", ...sql, drivers[database]]
  const bulk = manifest(from, "@stevedore/bulk")
  const isShared = bulk === undefined ||
    manifest(createRequire(bulk), "@stevedore/core") === manifest(from, "@stevedore/core")
  return problem(from, wanted) ??
    (isShared ? undefined : `@stevedore/bulk has another @stevedore/core than this package. ${line(wanted)}`)
}

/** Fails with what is missing for a command, if anything is. */
export const check = (command: string, problem: string | undefined): Effect.Effect<void, InvalidInput> =>
  problem === undefined ? Effect.void : invalid(command, problem)
