import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"

const drivers = { Sqlite: "@effect/sql-libsql@0.42", Postgres: "@effect/sql-pg@0.53" } as const

/**
 * What is missing beside this package for jobs in such a database, with the line that installs it; undefined if nothing
 * is. Two copies of core would not know each other's URLs.
 */
export const problem = (from: NodeJS.Require, database: keyof typeof drivers): string | undefined => {
  const wanted = ["@stevedore/bulk", "@effect/sql@0.52", "@effect/experimental@0.61", drivers[database]]
  const bulk = Installed.manifest(from, "@stevedore/bulk")
  const isShared = bulk === undefined ||
    Installed.manifest(createRequire(bulk), "@stevedore/core") === Installed.manifest(from, "@stevedore/core")
  return Installed.problem(from, wanted) ?? (isShared
    ? undefined
    : `@stevedore/bulk has another @stevedore/core than this package. ${Installed.line(wanted)}`)
}
