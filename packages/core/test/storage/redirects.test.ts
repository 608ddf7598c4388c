import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Files, HttpObjectStorage, ObjectStorage, ServiceApi, ServiceConfig } from "@stevedore/core"
import { Effect, Layer, Redacted } from "effect"
import { presigned } from "../fixtures/presignedUrls.js"

describe("core over fetch", () => {
  it.effect("leaves redirects to itself, and everything else of fetch to the application", () =>
    Effect.gen(function*() {
      const inits: Array<RequestInit | undefined> = []
      const program = Effect.all([
        Effect.either(Files.inspect("f")),
        Effect.either(Effect.scoped(
          Effect.flatMap(ObjectStorage.ObjectStorage, (storage) => storage.get({ url: presigned(), attempt: 1 }))
        ))
      ])
      yield* program.pipe(
        Effect.provide(
          Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
            Layer.provide(ServiceConfig.layer({ baseUrl: "https://service.test", token: Redacted.make("api.token") })),
            Layer.provide(FetchHttpClient.layer)
          )
        ),
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow", keepalive: true }),
        Effect.provideService(FetchHttpClient.Fetch, async (_, init) => {
          inits.push(init)
          return new Response(null, { status: 302, headers: { location: "https://elsewhere.test/" } })
        })
      )
      assert.isAbove(inits.length, 1)
      for (const init of inits) assert.deepInclude(init, { redirect: "manual", keepalive: true })
    }))
})
