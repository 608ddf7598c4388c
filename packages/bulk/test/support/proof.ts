import { SqlClient } from "@effect/sql/SqlClient"
import { assert } from "@effect/vitest"
import type { UploadSource } from "@stevedore/core"
import { Sandbox } from "@stevedore/testing"
import { Effect } from "effect"

/** What has to hold whatever died: each file is there once, the sandbox saw no breach, and nothing is left to remember. */
export const proof = (sources: ReadonlyArray<UploadSource>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient
    const names = (yield* Sandbox.files).map(({ name }) => String(name)).sort()
    assert.deepStrictEqual(names, sources.map(({ name }) => name).sort())
    yield* Effect.forEach(sources, Sandbox.expectStored, { discard: true })
    yield* Sandbox.expectNoBreach
    assert.deepStrictEqual(yield* sql`select * from bulk_ledger`, [])
    assert.deepStrictEqual(yield* sql`select * from bulk_receipt`, [])
  })
