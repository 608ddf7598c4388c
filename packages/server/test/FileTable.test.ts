import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileTableMemory from "../src/FileTableMemory.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import { laws } from "./support/fileTableLaws.js"

const database = Layer.unwrapScoped(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-server-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => LibsqlClient.layer({ url: `file:${join(folder, "files.db")}` })
  )
)

laws("in memory", FileTableMemory.layer)
laws("in SQLite", Layer.provide(SqlFileTable.layer, database))
