import * as Sqlite from "@stevedore/server/Sqlite"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The database in this file. */
export const databaseIn = (file: string) => Sqlite.layer({ file, synchronous: "normal" })

/** A database in a file of its own: one in memory is another one for each connection. */
export const database = Layer.unwrapScoped(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-server-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => databaseIn(join(folder, "files.db"))
  )
)
