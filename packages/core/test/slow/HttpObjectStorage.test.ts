import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { errorOf, put } from "../fixtures/httpObjectStorage.js"

describe("HttpObjectStorage", () => {
  describe("put", () => {
    it.effect("reads no more than a document of what a few bytes stand for", () =>
      Effect.gen(function*() {
        const bomb = gzipSync(Buffer.alloc(200_000_000, "a"))
        const { result } = yield* put(() =>
          new Response(bomb, { status: 400, headers: { "content-encoding": "gzip" } })
        )
        assert.isBelow(JSON.stringify(errorOf(result)).length, 1000)
      }))
  })
})
