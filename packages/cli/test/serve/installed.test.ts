import { assert, describe, it } from "@effect/vitest"
import * as ServeInstalled from "../../src/serve/installed.js"
import { installing } from "../support/installing.js"

const installed = (packages: ReadonlyArray<string>): string | undefined =>
  installing(packages, (from) => ServeInstalled.problem(from))

describe("what a service needs beside this package", () => {
  it("is told with the line that installs it", () => {
    assert.match(
      installed([]) ?? "",
      /^needs @effect\/sql, .*@effect\/sql-libsql .*\n {2}npm install .*@effect\/sql-libsql@0/
    )
    assert.match(installed(["@effect/sql", "@effect/experimental"]) ?? "", /^needs @effect\/sql-libsql beside/)
    assert.isUndefined(installed(["@effect/sql", "@effect/experimental", "@effect/sql-libsql"]))
  })
})
