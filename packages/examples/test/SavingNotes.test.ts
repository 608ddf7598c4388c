import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"

const source = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })

describe("saving notes", () => {
  it.effect("survives a PUT that is refused twice and an answer that is lost", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(source)
      const stored = yield* Sandbox.stored(file.id)
      assert.strictEqual(new TextDecoder().decode(stored), "hello")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("put").times(2).answer(503, "SlowDown").and(FaultScript.on("complete").loseAnswer())
    }))))
})
