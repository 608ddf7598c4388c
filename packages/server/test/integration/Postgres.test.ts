import { Effect, Layer } from "effect"
import { postgres } from "../../../bulk/test/support/postgres.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { laws } from "../support/fileTableLaws.js"
import * as MigrationLaws from "../support/migrationLaws.js"

const database = Layer.unwrapScoped(Effect.map(postgres, ({ layer }) => layer))

laws("in PostgreSQL", Layer.provide(SqlFileTable.layer, database))
MigrationLaws.laws("in PostgreSQL", database)
