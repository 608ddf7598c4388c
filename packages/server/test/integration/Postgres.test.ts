import { Layer } from "effect"
import { Effect } from "effect"
import { postgres } from "../../../bulk/test/support/postgres.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { laws } from "../support/fileTableLaws.js"

laws(
  "in PostgreSQL",
  Layer.unwrapScoped(Effect.map(postgres, ({ layer }) => Layer.provide(SqlFileTable.layer, layer)))
)
