export * as ApiRequest from "./ApiRequest.js"

export * as Authorize from "./Authorize.js"

export * as BlobStore from "./BlobStore.js"

export * as Files from "./Files.js"

export * as FileStore from "./FileStore.js"

export * as FileTable from "./FileTable.js"

export * as FileTableMemory from "./FileTableMemory.js"

export * as Hooks from "./Hooks.js"

export * as Identifiers from "./Identifiers.js"

export * as ListQuery from "./ListQuery.js"

export * as ListResources from "./ListResources.js"

export * as ListSource from "./ListSource.js"

export * as ListSourceMemory from "./ListSourceMemory.js"

export * as ObjectAnswer from "./ObjectAnswer.js"

export * as ObjectStore from "./ObjectStore.js"

export * as ObjectStoreDirectory from "./ObjectStoreDirectory.js"

export * as ObjectStoreMemory from "./ObjectStoreMemory.js"

export * as Observer from "./Observer.js"

export * as RateLimit from "./RateLimit.js"

export * as RateWindow from "./RateWindow.js"

/** What a bucket needs before a service can use it, set up or looked at. */
export * as S3Bucket from "./S3Bucket.js"

/** Files in a bucket of an S3-compatible store. */
export * as S3FileStore from "./S3FileStore.js"

export * as ServerApi from "./ServerApi.js"

export * as ServerApp from "./ServerApp.js"

/** The production form of the service, as the environment says it. */
export * as ServeSettings from "./ServeSettings.js"

export * as ServerMetrics from "./ServerMetrics.js"

export * as ServiceRefused from "./ServiceRefused.js"

export * as StorageApp from "./StorageApp.js"

export * as StorageCors from "./StorageCors.js"

export * as StorageRefused from "./StorageRefused.js"

export * as StorageRequest from "./StorageRequest.js"

export * as Sweeper from "./Sweeper.js"

export * as Tokens from "./Tokens.js"

export * as Uploads from "./Uploads.js"

export * as UrlSigner from "./UrlSigner.js"

export * as UrlVerifier from "./UrlVerifier.js"
