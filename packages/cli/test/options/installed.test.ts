import { assert, describe, it } from "@effect/vitest"
import { createRequire } from "node:module"
import * as Installed from "../../src/options/installed.js"
import { installing } from "../support/installing.js"

const ofService = (packages: ReadonlyArray<string>): string | undefined =>
  installing(packages, (from) => Installed.ofDatabase(from, "Sqlite"))

const ofBulk = (packages: ReadonlyArray<string>): string | undefined =>
  installing(packages, (from) => Installed.ofBulk(from, "Postgres"))

const all = ["@stevedore/core", "@stevedore/bulk", "@effect/sql", "@effect/experimental", "@effect/sql-pg"]

describe("what is needed beside this package", () => {
  it("is told with the line that installs it", () => {
    assert.match(
      ofService([]) ?? "",
      /^needs @effect\/sql, .*libsql .*\n {2}npm install .* libsql@0/
    )
    assert.match(ofService(["@effect/sql", "@effect/experimental"]) ?? "", /^needs libsql beside/)
    assert.isUndefined(ofService(["@effect/sql", "@effect/experimental", "libsql"]))
    assert.match(
      ofBulk([]) ?? "",
      /^needs @stevedore\/bulk, .*@effect\/sql-pg .*\n {2}npm install .*@effect\/sql-pg@0/
    )
    assert.match(ofBulk(all.slice(0, -1)) ?? "", /^needs @effect\/sql-pg beside/)
    assert.isUndefined(ofBulk(all))
    assert.isUndefined(Installed.ofBulk(createRequire(import.meta.url), "Sqlite"))
  })

  it("must not bring a copy of core with it", () => {
    assert.match(
      ofBulk([...all, "@stevedore/bulk/node_modules/@stevedore/core"]) ?? "",
      /^@stevedore\/bulk has another @stevedore\/core/
    )
  })
})
