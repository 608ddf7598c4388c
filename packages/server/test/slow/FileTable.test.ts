import { Layer } from "effect"
import * as FileTableMemory from "../../src/FileTableMemory.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { laws } from "../support/fileTableLaws.js"
import * as MigrationLaws from "../support/migrationLaws.js"
import { database } from "../support/sqlite.js"

laws("in memory", FileTableMemory.layer)
laws("in SQLite", Layer.provide(SqlFileTable.layer, database))
MigrationLaws.laws("in SQLite", database)
