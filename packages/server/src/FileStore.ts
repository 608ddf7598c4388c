/** The store that a service puts in front of its clients: an object store whose URLs are signed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ObjectStore from "./ObjectStore.js"
import * as UrlSigner from "./parts/urlSigner.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * An object store, and a pre-signed URL for whatever a client does there.
 *
 * @category models
 */
export interface FileStoreService extends ObjectStore.ObjectStoreService {
  readonly presign: (request: ObjectStore.PresignRequest) => Effect.Effect<string, StorageRefused.StorageRefused>
}

/**
 * The service tag of the store.
 *
 * @category tags
 */
export class FileStore extends Context.Tag("@stevedore/server/FileStore")<FileStore, FileStoreService>() {}

/**
 * Where a store is reached that cannot sign, and what signs for it. `origin` is as clients see it, such as
 * `https://files.example`; paths are `/bucket/key`, after `path`.
 *
 * @category models
 */
export interface Signing {
  readonly credential: UrlSigner.Credential
  readonly origin: string
  readonly bucket: string
  /** What stands before the bucket in the paths of clients, such as `/api`. Defaults to nothing. */
  readonly path?: string | undefined
}

/**
 * The store with URLs that `signing` makes, unless it signs its own. Whoever serves it there checks them with the same
 * credential: `StorageApp`.
 *
 * @category constructors
 */
export const signed = (store: ObjectStore.ObjectStoreService, signing: Signing): FileStoreService => ({
  ...store,
  presign: store.presign ??
    ((request) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        UrlSigner.sign(signing.credential, {
          method: request.method,
          origin: signing.origin,
          path: `${signing.path ?? ""}${UrlSigner.pathOf(signing.bucket, request.key)}`,
          query: ObjectStore.queryOf(request),
          headers: request.headers,
          at,
          expiresIn: request.expiresIn
        })))
})

/**
 * {@link signed} as a layer.
 *
 * @category layers
 */
export const layer = (signing: Signing): Layer.Layer<FileStore, never, ObjectStore.ObjectStore> =>
  Layer.effect(FileStore, Effect.map(ObjectStore.ObjectStore, (store) => signed(store, signing)))
