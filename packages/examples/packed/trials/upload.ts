// A user's program in TypeScript. It is not run: that its types are found and hold is what is tried.
import { NodeRuntime } from "@effect/platform-node"
import { Lists, Uploads, UploadSources } from "@stevedore/core"
import type { UploadSource } from "@stevedore/core"
import * as Downloads from "@stevedore/core/Downloads"
import type { FileRecord } from "@stevedore/core/FileRecord"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Console, Effect, Stream } from "effect"

const notes: UploadSource = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), {
  mediaType: "text/plain"
})

const upload = (path: string) =>
  Effect.flatMap(FileSource.fromPath(path), (source) => Uploads.upload(source, { strategy: "multipart" })).pipe(
    Effect.catchTags({
      SizeExceeded: (error) => Effect.fail(`${error.size} bytes; at most ${error.limit}`),
      UrlExpired: (error) => Effect.fail(error.message)
    })
  )

const back = (file: FileRecord) => Stream.runCount(Downloads.stream(file.id))

export const test = Effect.gen(function*() {
  const file = yield* Uploads.upload(notes)
  return new TextDecoder().decode(yield* Sandbox.stored(file.id))
}).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("complete").loseAnswer() })))

upload("interview.mp4").pipe(
  Effect.tap(back),
  Effect.zipRight(Stream.runForEach(Lists.projects(), (project) => Console.log(project.id))),
  Effect.provide(NodeStevedore.layerConfig()),
  NodeRuntime.runMain
)
