import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ServeInstalled from "../../src/internal/serveInstalled.js"

const installed = (packages: ReadonlyArray<string>): string | undefined => {
  const root = mkdtempSync(join(tmpdir(), "stevedore-"))
  try {
    for (const name of packages) {
      const folder = join(root, "node_modules", name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "package.json"), "{}")
    }
    return ServeInstalled.problem(createRequire(join(root, "command.js")))
  } finally {
    rmSync(root, { recursive: true })
  }
}

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
