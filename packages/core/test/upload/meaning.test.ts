import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@stevedore/core"
import { Struct } from "effect"
import { readFileSync } from "node:fs"
import { meaningOf, particular, rowMeaning, rowOf, uploadTags } from "../../src/upload/meaning.js"
import { serviceErrors, sourceErrors, storageErrors } from "./golden.js"

const page = readFileSync(new URL("../../../docs/how-it-works/decisions.md", import.meta.url), "utf8")

const rows = [...uploadTags(), ...Struct.keys(particular)]

describe("what an error means for an upload", () => {
  it("is what the documentation says of it", () => {
    const documented = [...page.matchAll(/^\| `([^`]+)` \| (\w+) \| (\w+) \| (\w+) \|$/gm)].map(([, row, ...cells]) =>
      [row, cells] as const
    )
    assert.sameDeepMembers(
      documented,
      rows.map((row) => {
        const { complete, opens, session } = rowMeaning(row)
        return [row, [session, opens, complete]] as const
      })
    )
  })

  it("depends on what else the error says", () => {
    assert.strictEqual(rowOf(serviceErrors.rejected(1)), "RequestRejected")
    assert.strictEqual(rowOf(serviceErrors.redirected(1)), "RequestRejected: redirect")
    assert.strictEqual(rowOf(serviceErrors.shape(1)), "InvalidResponse")
    assert.strictEqual(rowOf(serviceErrors.page(1)), "InvalidResponse: no JSON")
    assert.strictEqual(rowOf(storageErrors.noSuchUpload(1)), "StorageRejected")
    assert.strictEqual(rowOf(storageErrors.storageRedirect(1)), "StorageRejected: redirect")
    assert.strictEqual(rowOf(storageErrors.incomplete(1)), "StorageRejected: IncompleteBody")
    const inBetween = (status: number) => new StorageError.StorageRejected({ status, excerpt: "Blocked" })
    for (const status of [403, 407, 451]) assert.strictEqual(rowOf(inBetween(status)), "StorageRejected: blocked")
    assert.strictEqual(rowOf(inBetween(404)), "StorageRejected")
    assert.strictEqual(rowOf(sourceErrors.readOnce(1)), "SourceUnreadable: ReadOnce")
    assert.strictEqual(rowOf(sourceErrors.unreadable(1)), "SourceUnreadable")
  })

  it("keeps the session whenever the same request may be made again", () => {
    for (const make of Object.values({ ...serviceErrors, ...storageErrors })) {
      const error = make(1)
      const { opens, session } = meaningOf(error)
      const isPassing = error.recovery === "retry" || error.recovery === "slowDown" || error.recovery === "retryOnce"
      if (isPassing) assert.strictEqual(session, "kept", error._tag)
      assert.strictEqual(opens === "next", error.recovery === "newSession", error._tag)
    }
  })
})
