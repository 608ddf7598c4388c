import type { SqlClient } from "@effect/sql/SqlClient"
import { assert } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import { UploadSources } from "@stevedore/core"
import { Effect, type Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bytes, sql } from "./lives.js"
import { proof } from "./proof.js"

/** A folder that goes with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-bulk-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Files of one machine wait for its runners, whatever those of another do. What has to hold besides once they are there. */
export const waitsForItsMachine = <Provided, E, R, R2>(
  client: SqlClient,
  on: (host: string) => Layer.Layer<Bulk.Bulk | Provided, E, R>,
  besides: Effect.Effect<void, never, R2>
) =>
  Effect.gen(function*() {
    const root = yield* folder
    writeFileSync(join(root, "a.bin"), bytes(30))
    const submitted = Bulk.submit("job", BulkSources.directory(root, { host: "nas-1" }))
    yield* Effect.gen(function*() {
      const job = yield* submitted
      yield* Effect.sleep("1 second")
      assert.deepInclude(yield* job.status, { state: "running", uploaded: 0, chunks: 0 })
    }).pipe(Effect.provide(on("nas-2")))
    yield* Effect.gen(function*() {
      const job = yield* submitted
      assert.deepStrictEqual(yield* job.await, { uploaded: 1, failed: 0, cancelled: 0 })
      yield* besides
    }).pipe(Effect.provide(on("nas-1")))
    yield* Effect.provide(proof([UploadSources.fromBytes("a.bin", bytes(30))]), sql(client))
  })
