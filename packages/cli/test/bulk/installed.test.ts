import { assert, describe, it } from "@effect/vitest"
import { createRequire } from "node:module"
import * as BulkInstalled from "../../src/bulk/installed.js"
import { installing } from "../support/installing.js"

const installed = (packages: ReadonlyArray<string>): string | undefined =>
  installing(packages, (from) => BulkInstalled.problem(from, "Postgres"))

const all = ["@stevedore/core", "@stevedore/bulk", "@effect/sql", "@effect/experimental", "@effect/sql-pg"]

describe("what jobs need beside this package", () => {
  it("is told with the line that installs it", () => {
    assert.match(
      installed([]) ?? "",
      /^needs @stevedore\/bulk, .*@effect\/sql-pg .*\n {2}npm install .*@effect\/sql-pg@0/
    )
    assert.match(installed(all.slice(0, -1)) ?? "", /^needs @effect\/sql-pg beside/)
    assert.isUndefined(installed(all))
    assert.isUndefined(BulkInstalled.problem(createRequire(import.meta.url), "Sqlite"))
  })

  it("must not bring a copy of core with it", () => {
    assert.match(
      installed([...all, "@stevedore/bulk/node_modules/@stevedore/core"]) ?? "",
      /^@stevedore\/bulk has another @stevedore\/core/
    )
  })
})
