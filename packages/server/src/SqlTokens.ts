/** The tokens of a service in SQL, beside its table of files. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { to } from "./sql/fileRow.js"
import * as SqlDatabase from "./SqlDatabase.js"
import * as Tokens from "./Tokens.js"

interface Row {
  readonly id: string
  readonly tenant: string
  readonly owner_id: string
  readonly owner_name: string
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
}

const toRecord = (row: Row): Tokens.TokenRecord => ({
  id: row.id,
  tenant: row.tenant,
  owner: { id: row.owner_id, name: row.owner_name },
  scopes: row.scopes.split(",").filter(Schema.is(Tokens.Scope)),
  createdAt: row.created_at,
  expiresAt: row.expires_at ?? undefined
})

/**
 * Tokens in a database that has the tables: `SqlFileTable.layer` makes them.
 *
 * @category layers
 */
export const layer: Layer.Layer<Tokens.Tokens, never, SqlClient.SqlClient> = Layer.effect(
  Tokens.Tokens,
  Effect.zipWith(SqlClient.SqlClient, SqlDatabase.Lasting, (client, lasting) => {
    const sql = client.withoutTransforms()
    return {
      find: (token) =>
        sql<Row>`select * from stevedore_token where hash = ${Tokens.hashOf(token)}
          and (expires_at is null or expires_at > ${SqlDatabase.now(sql)})`.pipe(
          Effect.map(([row]) => Option.map(Option.fromNullable(row), toRecord)),
          to("find a token")
        ),
      add: (hash, { createdAt, expiresAt, id, owner, scopes, tenant }) =>
        sql`insert into stevedore_token (hash, id, tenant, owner_id, owner_name, scopes, created_at, expires_at)
          values (${hash}, ${id}, ${tenant}, ${owner.id}, ${owner.name}, ${scopes.join(",")}, ${createdAt}, ${
          expiresAt ?? null
        })`.pipe(Effect.zipRight(lasting), to("hold a token")),
      list: sql<Row>`select * from stevedore_token order by created_at, id`.pipe(
        Effect.map((rows) => rows.map(toRecord)),
        to("list tokens")
      ),
      revoke: (id) =>
        sql`delete from stevedore_token where id = ${id} returning id`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.zipLeft(lasting),
          to("revoke a token")
        )
    }
  })
)
