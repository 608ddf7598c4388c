const needed = ["@effect/sql", "@effect/experimental", "@effect/sql-libsql"]

const isThere = (from: NodeJS.Require) => (name: string): boolean => {
  try {
    from.resolve(`${name}/package.json`)
    return true
  } catch {
    return false
  }
}

/**
 * What is missing beside this package for a service, with the line that installs it; undefined if nothing is.
 *
 * @internal
 */
export const problem = (from: NodeJS.Require): string | undefined => {
  const has = isThere(from)
  const missing = needed.filter((name) => !has(name))
  return missing.length === 0 ? undefined : `needs ${missing.join(", ")} beside this package. In one directory:\n` +
    "  npm install @stevedore/cli @effect/sql@0.52 @effect/experimental@0.61 @effect/sql-libsql@0.42"
}
