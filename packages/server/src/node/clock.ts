import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MOST_AWAY_MILLIS } from "../life/ages.js"
import * as SqlDatabase from "../SqlDatabase.js"

/** What is wrong with the clock of this process, by that of the database, a line; none where that does not answer. */
export const clockFailing: Effect.Effect<ReadonlyArray<string>, never, SqlClient.SqlClient> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly now: number }>`select ${SqlDatabase.now(sql)} as now`
  const here = yield* Clock.currentTimeMillis
  return rows.flatMap(({ now }) =>
    Math.abs(now - here) > MOST_AWAY_MILLIS
      ? [`clock: it is ${Math.round(Math.abs(now - here) / 1000)} seconds away from that of the database`]
      : []
  )
}).pipe(
  Effect.disconnect,
  Effect.timeout("5 seconds"),
  Effect.orElseSucceed(() => [])
)
