import { assert, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"

const bytes = new TextEncoder().encode("hello")
const notes = UploadSources.fromBytes("notes.txt", bytes)
const refused = FaultScript.on("put").times(2).answer(503, "SlowDown")
const lost = FaultScript.on("complete").loseAnswer()

it.effect("saves notes after two refused PUTs and a lost answer", () =>
  Effect.gen(function*() {
    const { id } = yield* Uploads.upload(notes)
    assert.deepStrictEqual(yield* Sandbox.stored(id), bytes)
    assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
  }).pipe(Effect.provide(SandboxLayer.memory({ faults: refused.and(lost) }))))
