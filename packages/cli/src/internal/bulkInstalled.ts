import { createRequire } from "node:module"

const drivers = { Sqlite: "@effect/sql-libsql@0.42", Postgres: "@effect/sql-pg@0.53" } as const

const manifest = (from: NodeJS.Require, name: string): string | undefined => {
  try {
    return from.resolve(`${name}/package.json`)
  } catch {
    return undefined
  }
}

/**
 * What is missing beside this package for jobs in such a database, with the line that installs it; undefined if nothing
 * is. Two copies of core would not know each other's URLs.
 *
 * @internal
 */
export const problem = (from: NodeJS.Require, database: keyof typeof drivers): string | undefined => {
  const driver = drivers[database]
  const line = `npm install @stevedore/cli @stevedore/bulk @effect/sql@0.52 @effect/experimental@0.61 ${driver}`
  const needed = ["@stevedore/bulk", "@effect/sql", "@effect/experimental", driver.replace(/@[\d.]+$/, "")]
  const missing = needed.filter((name) => manifest(from, name) === undefined)
  if (missing.length > 0) return `needs ${missing.join(", ")} beside this package. In one directory:\n  ${line}`
  const bulk = manifest(from, "@stevedore/bulk")
  const isShared = bulk === undefined ||
    manifest(createRequire(bulk), "@stevedore/core") === manifest(from, "@stevedore/core")
  return isShared
    ? undefined
    : `@stevedore/bulk has another @stevedore/core than this package. In one directory:\n  ${line}`
}
