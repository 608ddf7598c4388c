/**
 * An external object store: a real S3, or one that speaks its dialect. The sandbox hands out that store's own
 * pre-signed URLs, and its Complete calls the store's, so the bytes go where they would go in production.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as ObjectStore from "@stevedore/server/ObjectStore"
import * as S3Bucket from "@stevedore/server/S3Bucket"
import * as S3FileStore from "@stevedore/server/S3FileStore"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Which store to use, and how it should encrypt.
 *
 * @category models
 */
export interface Options extends S3FileStore.Options {
  /**
   * Creates the bucket if it does not exist, and lets pages of any origin send to it and read etags. Defaults to no.
   */
  readonly createBucket?: boolean | undefined
}

/**
 * The store. `put` and `putPart` hold their body in memory: the sandbox does not call them, because its clients send to the
 * store directly. Fails if the bucket has to be created and cannot be.
 *
 * The headers of the single PUT are the sandbox's option `encryptionHeaders`: give it and the store the same value.
 *
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<ObjectStore.ObjectStoreService, StorageRefused.StorageRefused> =>
  Effect.gen(function*() {
    if (options.createBucket === true) {
      yield* S3Bucket.create(options)
      yield* S3Bucket.setup(options, ["*"])
    }
    // the sandbox signs no header that its options do not name
    return yield* S3FileStore.make(options, "none")
  }).pipe(Effect.provide(FetchHttpClient.layer))

/**
 * {@link make} as a layer.
 *
 * @example
 * import { NodeHttpServer } from "@effect/platform-node"
 * import { SandboxHttp } from "@stevedore/testing"
 * import * as S3ObjectStore from "@stevedore/testing/S3ObjectStore"
 * import { Effect, Redacted } from "effect"
 * import { createServer } from "node:http"
 *
 * const encryptionHeaders = {
 *   "x-amz-server-side-encryption": "aws:kms",
 *   "x-amz-server-side-encryption-aws-kms-key-id": "testkey-1"
 * }
 *
 * const store = S3ObjectStore.layer({
 *   endpoint: "http://127.0.0.1:7480",
 *   bucket: "uploads",
 *   credential: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
 *   encryptionHeaders,
 *   createBucket: true
 * })
 *
 * const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })
 *
 * export const sandbox = Effect.all({ api: server, storage: server }).pipe(
 *   Effect.flatMap((servers) => SandboxHttp.serve(servers, { encryptionHeaders })),
 *   Effect.provide(store)
 * )
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<ObjectStore.ObjectStore, StorageRefused.StorageRefused> =>
  Layer.effect(ObjectStore.ObjectStore, make(options))
