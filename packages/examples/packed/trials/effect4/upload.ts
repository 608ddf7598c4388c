import {
  HttpObjectStorage,
  ServiceApi,
  ServiceConfig,
  TransferGate,
  Uploads,
  UploadSources
} from "@stevedore/core"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { readFile } from "node:fs/promises"

const Stevedore = Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
  Layer.provide(ServiceConfig.layerConfig()),
  Layer.merge(TransferGate.layer()),
  Layer.provide(FetchHttpClient.layer)
)

const program = Effect.gen(function*() {
  const bytes = yield* Effect.promise(() => readFile("interview.mp4"))
  const source = UploadSources.fromBytes("interview.mp4", bytes, {
    mediaType: "video/mp4"
  })
  const file = yield* Uploads.upload(source)
  yield* Console.log(`${file.name}, ${bytes.length} bytes, is ${file.id}`)
})

Effect.runPromise(Effect.provide(program, Stevedore))
