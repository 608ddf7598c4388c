import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BulkInstalled from "../../src/internal/bulkInstalled.js"

const installed = (packages: ReadonlyArray<string>): string | undefined => {
  const root = mkdtempSync(join(tmpdir(), "stevedore-"))
  try {
    for (const name of packages) {
      const folder = join(root, "node_modules", name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "package.json"), "{}")
    }
    return BulkInstalled.problem(createRequire(join(root, "command.js")), "Postgres")
  } finally {
    rmSync(root, { recursive: true })
  }
}

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
