import { Effect, Layer } from "effect"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { laws } from "../support/fileTableLaws.js"
import * as MigrationLaws from "../support/migrationLaws.js"
import { postgres } from "../support/postgres.js"

const database = Layer.unwrapScoped(Effect.map(postgres, ({ layer }) => layer))

laws("in PostgreSQL", Layer.provide(SqlFileTable.layer, database))
MigrationLaws.laws("in PostgreSQL", database)
