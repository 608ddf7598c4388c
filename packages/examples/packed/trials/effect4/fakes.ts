import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Console, Effect } from "effect"

const notes = UploadSources.fromBytes(
  "notes.txt",
  new TextEncoder().encode("hello"),
  { mediaType: "text/plain" }
)

const program = Effect.gen(function*() {
  const file = yield* Uploads.upload(notes)
  yield* Sandbox.expectStored(notes)
  yield* Sandbox.expectNoBreach
  yield* Console.log(`${file.name} is stored, although an answer was lost`)
})

await program.pipe(
  Effect.provide(
    SandboxLayer.memory({ faults: FaultScript.on("complete").loseAnswer() })
  ),
  Effect.runPromise
)
