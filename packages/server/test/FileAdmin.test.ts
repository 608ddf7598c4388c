import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as FileAdmin from "../src/FileAdmin.js"
import { FileTable, KINDS, MOST_DELIVERIES } from "../src/FileTable.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import { receiving } from "./support/fileTableLaws.js"
import { database } from "./support/sqlite.js"

const HOUR = 3_600_000

describe("what whoever runs a service asks of its rows", () => {
  it.scopedLive("is told of all tenants, and of what waits, since when and why", () =>
    Effect.gen(function*() {
      const table = yield* Effect.flatMap(FileTable, receiving)
      const admin = yield* FileAdmin.FileAdmin
      const sql = yield* SqlClient.SqlClient
      const opened = (id: string, tenant: string, lifetimeMillis = HOUR) =>
        table.open({
          id,
          tenant,
          owner: { id: "ann", name: "Ann" },
          name: `${id}.txt`,
          mediaType: undefined,
          size: 10,
          metadata: undefined,
          kind: "single",
          key: `files/${tenant}/${id}`,
          state: "waiting",
          lifetimeMillis
        })
      for (const id of ["fresh", "done", "held", "silent"]) yield* opened(id, "acme")
      yield* opened("expired", "other", -HOUR)
      for (const id of ["done", "held"]) yield* table.claim("acme", id, "me", HOUR)
      yield* table.claim("acme", "silent", "dead", -HOUR)
      yield* table.settle("done", "me", { state: "finalized", etag: "\"e\"" })
      const waits = Effect.map(admin.stuck, (all) =>
        Object.fromEntries(all.map(({ id, since, what, why }) => [id, [what, since === undefined, why] as const])))

      // an event that was not tried yet waits for nobody
      assert.deepStrictEqual(Object.keys(yield* waits).sort(), ["expired", "held", "silent"])
      yield* sql`update stevedore_event set attempts = 3`
      const found = yield* waits
      assert.match(String(found["held"]), /^completing,true,somebody works on it, for 3\d\d\d s more$/)
      assert.match(String(found["silent"]), /^completing,false,nobody works on it/)
      assert.match(String(found["expired"]), /^waiting,false,it has expired/)
      assert.match(String(found["done"]), /^event completed,false,its hook was called 3 times, and is called again$/)
      yield* sql`update stevedore_event set attempts = ${MOST_DELIVERIES}`
      assert.match(String((yield* waits)["done"]), /and is not called any more$/)
      assert.deepStrictEqual(yield* admin.resend("fresh"), [])
      assert.deepStrictEqual(yield* admin.resend(undefined), ["done/completed"])
      assert.deepStrictEqual(yield* admin.resend(undefined), [])
      assert.deepStrictEqual(
        (yield* table.events(60_000, 10, KINDS)).map(({ id }) =>
          id
        ),
        ["done/completed"]
      )
      assert.deepStrictEqual(yield* admin.resend("done"), ["done/completed"])

      const ids = (asked: Parameters<typeof admin.list>[0]) =>
        Effect.map(admin.list(asked), (files) => files.map(({ id }) => id).sort())
      assert.deepStrictEqual(yield* ids({ tenant: undefined, limit: 10 }), [
        "done",
        "expired",
        "fresh",
        "held",
        "silent"
      ])
      assert.deepStrictEqual(yield* ids({ tenant: "other", limit: 10 }), ["expired"])
      assert.lengthOf(yield* ids({ tenant: undefined, limit: 2 }), 2)
      assert.isTrue(
        Option.exists(yield* admin.find("done"), ({ state, tenant }) => state === "finalized" && tenant === "acme")
      )
      assert.isTrue(Option.isNone(yield* admin.find("nobody")))
      assert.deepStrictEqual(yield* admin.usage, [
        { tenant: "acme", bytes: 40, files: 4 },
        { tenant: "other", bytes: 10, files: 1 }
      ])
      // a final one, one that is open, one that is completed at this moment, and none
      const removed = yield* Effect.forEach(["done", "fresh", "held", "nobody"], admin.remove)
      assert.deepStrictEqual(removed, [true, true, false, false])
      const due = yield* table.due("sweeper", HOUR, 10)
      assert.includeMembers(due.map(({ id }) => id), ["done", "fresh"])
    }).pipe(Effect.provide(FileAdmin.layer.pipe(Layer.provideMerge(SqlFileTable.layer), Layer.provideMerge(database)))))
})
