import { Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Context, Effect, Layer } from "effect"

export class Minutes extends Effect.Service<Minutes>()("Minutes", {
  effect: Effect.gen(function*() {
    const services = yield* Effect.context<Uploads.Requirements>()

    // the caller's context takes precedence over the layer's: its span,
    // its RetryPolicy, its Timeouts
    const withServices = (caller: Context.Context<never>) =>
      Context.merge(services, caller)

    const archive = (title: string, text: string) =>
      Uploads.upload(
        UploadSources.fromBytes(title, new TextEncoder().encode(text), {
          mediaType: "text/plain"
        })
      ).pipe(
        Effect.map((file) => file.id),
        Effect.mapInputContext(withServices)
      )

    return { archive }
  })
}) {}

export const Live = Minutes.Default.pipe(
  Layer.provide(NodeStevedore.layerConfig())
)
