import { NodeRuntime } from "@effect/platform-node"
import { Uploads } from "@stevedore/core"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const source = yield* FileSource.fromPath("interview.mp4")
  const file = yield* Uploads.upload(source)
  yield* NodeDownloads.toFile(file.id, "interview-as-stored.mp4")
  yield* Console.log(`${file.name}, ${source.size} bytes, is ${file.id}`)
})

program.pipe(Effect.provide(NodeStevedore.layerConfig()), NodeRuntime.runMain)
