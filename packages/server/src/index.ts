export * as ApiRequest from "./http/apiRequest.js"

export * as Authorize from "./Authorize.js"

export * as BlobStore from "./parts/blobStore.js"

export * as Files from "./parts/files.js"

export * as FileStore from "./FileStore.js"

export * as FileTable from "./FileTable.js"

export * as FileTableMemory from "./FileTableMemory.js"

export * as Hooks from "./Hooks.js"

export * as Identifiers from "./parts/identifiers.js"

export * as ListQuery from "./parts/listQuery.js"

export * as ListResources from "./parts/listResources.js"

export * as ListSource from "./ListSource.js"

export * as ListSourceMemory from "./ListSourceMemory.js"

export * as ObjectAnswer from "./http/objectAnswer.js"

export * as ObjectStore from "./ObjectStore.js"

export * as ObjectStoreDirectory from "./ObjectStoreDirectory.js"

export * as ObjectStoreMemory from "./parts/objectStoreMemory.js"

export * as Observer from "./Observer.js"

export * as RateLimit from "./RateLimit.js"

export * as RateWindow from "./base/rateWindow.js"

/** What a bucket needs before a service can use it, set up or looked at. */
export * as S3Bucket from "./S3Bucket.js"

/** Files in a bucket of an S3-compatible store. */
export * as S3FileStore from "./S3FileStore.js"

export * as ServerApi from "./ServerApi.js"

export * as ServerApp from "./ServerApp.js"

/** The production form of the service, as the environment says it. */
export * as ServeSettings from "./ServeSettings.js"

export * as ServerMetrics from "./base/metrics.js"

export * as ServiceRefused from "./ServiceRefused.js"

export * as StorageApp from "./StorageApp.js"

export * as StorageCors from "./parts/storageCors.js"

export * as StorageRefused from "./StorageRefused.js"

export * as StorageRequest from "./storage/request.js"

export * as Sweeper from "./Sweeper.js"

export * as Tokens from "./Tokens.js"

export * as Uploads from "./Uploads.js"

export * as UrlSigner from "./parts/urlSigner.js"

export * as UrlVerifier from "./parts/urlVerifier.js"
