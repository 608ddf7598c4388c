import { NodeHttpServer } from "@effect/platform-node"
import { type UrlSigner } from "@stevedore/server"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { ObjectStore, ObjectStoreMemory, SandboxHttp } from "../../src/index.js"

/** A storage that rows are tried on: where it is, whom it knows, and its Complete as a service calls it. */
export interface Target {
  readonly origin: string
  readonly bucket: string
  readonly credential: UrlSigner.Credential
  readonly encryptionHeaders: Readonly<Record<string, string>>
  readonly store: ObjectStore.ObjectStoreService
}

/** The sandbox's own storage, over sockets. */
export class SandboxTarget extends Context.Tag("SandboxTarget")<SandboxTarget, Target>() {}

/** A store that nobody here wrote. */
export class StoreTarget extends Context.Tag("StoreTarget")<StoreTarget, Target>() {}

const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })

export const sandbox = Layer.scoped(
  SandboxTarget,
  Effect.gen(function*() {
    const credential = {
      accessKeyId: "AKIDEXAMPLE",
      secretAccessKey: Redacted.make("secret"),
      region: "us-east-1"
    }
    const encryptionHeaders = {
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": "testkey-1"
    }
    const bucket = "stevedore-sandbox"
    const servers = yield* Effect.all({ api: server, storage: server })
    const { storageOrigin } = yield* SandboxHttp.serve(servers, { bucket, credential, encryptionHeaders })
    return { origin: storageOrigin, bucket, credential, encryptionHeaders, store: yield* ObjectStore.ObjectStore }
  })
).pipe(Layer.provide(ObjectStoreMemory.layer()))
