import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What is answered where these packages are installed, and nothing else. */
export const installing = <A>(packages: ReadonlyArray<string>, ask: (from: NodeJS.Require) => A): A => {
  const root = mkdtempSync(join(tmpdir(), "stevedore-"))
  try {
    for (const name of packages) {
      const folder = join(root, "node_modules", name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "package.json"), "{}")
    }
    return ask(createRequire(join(root, "command.js")))
  } finally {
    rmSync(root, { recursive: true })
  }
}
