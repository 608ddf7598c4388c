import { NodeRuntime } from "@effect/platform-node"
import { Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect } from "effect"

const program = Effect.gen(function*() {
  const source = yield* FileSource.fromPath("interview.mp4")
  const file = yield* Uploads.upload(source)
  yield* Effect.log(`${file.name} is ${file.id}`)
})

program.pipe(
  Effect.catchTags({
    SizeExceeded: (error) => Effect.logError(`${error.size} bytes; at most ${error.limit}`),
    UrlExpired: () => Effect.logError("the connection was too slow for the session; run it again")
  }),
  Effect.provide(NodeStevedore.layerConfig()),
  NodeRuntime.runMain
)
