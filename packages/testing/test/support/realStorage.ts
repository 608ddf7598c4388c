import { NodeHttpServer } from "@effect/platform-node"
import { RetryPolicy, ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { Sandbox, SandboxHttp, type SandboxOptions } from "../../src/index.js"
import * as S3ObjectStore from "../../src/S3ObjectStore.js"
import { credential, encryptionHeaders, settings } from "./storeSettings.js"

export { credential, encryptionHeaders, settings }

export const bucket = "stevedore-testing"

/** The store, as the port that a sandbox stands on. */
export const store = S3ObjectStore.layer({
  endpoint: settings.endpoint,
  bucket,
  credential,
  encryptionHeaders,
  createBucket: true
})

const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })

/** A sandbox over sockets that hands out the store's own pre-signed URLs, and the store beside it. */
export const sandbox = (options?: SandboxOptions.Options) =>
  Layer.scoped(
    Sandbox.Sandbox,
    Effect.flatMap(
      Effect.all({ api: server, storage: server }),
      (servers) => SandboxHttp.serve(servers, { encryptionHeaders, ...options })
    )
  ).pipe(Layer.provideMerge(store))

/** What the clients' profile is, when it agrees with the store. */
export const profile = ServiceProfile.extend(ServiceProfile.standard, { encryptionHeaders })

/** Stevedore on Node, over {@link sandbox}. */
export const stevedore = (
  options?: SandboxOptions.Options,
  client: ServiceProfile.ServiceProfile = profile
) =>
  Layer.unwrapEffect(
    Effect.map(Sandbox.Sandbox, ({ baseUrl, token }) =>
      NodeStevedore.layer({ baseUrl, token, profile: client, ledger: false }))
  ).pipe(
    Layer.provide(RetryPolicy.layer({ base: "10 millis", cap: "50 millis" })),
    Layer.provideMerge(sandbox(options))
  )

/** The secret that signatures are made with must not be in what is shown. */
export const secret = Redacted.value(credential.secretAccessKey)
