import * as Installed from "../options/installed.js"

/** What is missing beside this package for a service, with the line that installs it; undefined if nothing is. */
export const problem = (from: NodeJS.Require): string | undefined =>
  Installed.problem(from, ["@effect/sql@0.52", "@effect/experimental@0.61", "@effect/sql-libsql@0.42"])

/** The same for a service over PostgreSQL and a bucket. */
export const productionProblem = (from: NodeJS.Require): string | undefined =>
  Installed.problem(from, ["@effect/sql@0.52", "@effect/experimental@0.61", "@effect/sql-pg@0.53"])
