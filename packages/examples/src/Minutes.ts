import { Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Layer } from "effect"

export class Minutes extends Effect.Service<Minutes>()("Minutes", {
  effect: Effect.map(Uploads.make, (uploads) => ({
    archive: (title: string, text: string) =>
      uploads.upload(
        UploadSources.fromBytes(title, new TextEncoder().encode(text), {
          mediaType: "text/plain"
        })
      ).pipe(Effect.map((file) => file.id))
  }))
}) {}

export const Live = Minutes.Default.pipe(
  Layer.provide(NodeStevedore.layerConfig())
)
