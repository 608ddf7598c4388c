/**
 * @since 0.1.0
 */
export * as ApiRequest from "./ApiRequest.js"

/**
 * @since 0.1.0
 */
export * as Authorize from "./Authorize.js"

/**
 * @since 0.1.0
 */
export * as BlobStore from "./BlobStore.js"

/**
 * @since 0.1.0
 */
export * as Files from "./Files.js"

/**
 * @since 0.1.0
 */
export * as FileStore from "./FileStore.js"

/**
 * @since 0.1.0
 */
export * as FileTable from "./FileTable.js"

/**
 * @since 0.1.0
 */
export * as FileTableMemory from "./FileTableMemory.js"

/**
 * @since 0.1.0
 */
export * as Hooks from "./Hooks.js"

/**
 * @since 0.1.0
 */
export * as Identifiers from "./Identifiers.js"

/**
 * @since 0.1.0
 */
export * as ListQuery from "./ListQuery.js"

/**
 * @since 0.1.0
 */
export * as ListResources from "./ListResources.js"

/**
 * @since 0.1.0
 */
export * as ListSource from "./ListSource.js"

/**
 * @since 0.1.0
 */
export * as ListSourceMemory from "./ListSourceMemory.js"

/**
 * @since 0.1.0
 */
export * as ObjectAnswer from "./ObjectAnswer.js"

/**
 * @since 0.1.0
 */
export * as ObjectStore from "./ObjectStore.js"

/**
 * @since 0.1.0
 */
export * as ObjectStoreDirectory from "./ObjectStoreDirectory.js"

/**
 * @since 0.1.0
 */
export * as ObjectStoreMemory from "./ObjectStoreMemory.js"

/**
 * @since 0.1.0
 */
export * as Observer from "./Observer.js"

/**
 * @since 0.1.0
 */
export * as RateLimit from "./RateLimit.js"

/**
 * @since 0.1.0
 */
export * as RateWindow from "./RateWindow.js"

/**
 * What a bucket needs before a service can use it, set up or looked at.
 *
 * @since 0.1.0
 */
export * as S3Bucket from "./S3Bucket.js"

/**
 * Files in a bucket of an S3-compatible store.
 *
 * @since 0.1.0
 */
export * as S3FileStore from "./S3FileStore.js"

/**
 * @since 0.1.0
 */
export * as ServerApi from "./ServerApi.js"

/**
 * @since 0.1.0
 */
export * as ServerApp from "./ServerApp.js"

/**
 * The production form of the service, as the environment says it.
 *
 * @since 0.1.0
 */
export * as ServeSettings from "./ServeSettings.js"

/**
 * @since 0.1.0
 */
export * as ServerMetrics from "./ServerMetrics.js"

/**
 * @since 0.1.0
 */
export * as ServiceRefused from "./ServiceRefused.js"

/**
 * @since 0.1.0
 */
export * as StorageApp from "./StorageApp.js"

/**
 * @since 0.1.0
 */
export * as StorageCors from "./StorageCors.js"

/**
 * @since 0.1.0
 */
export * as StorageRefused from "./StorageRefused.js"

/**
 * @since 0.1.0
 */
export * as StorageRequest from "./StorageRequest.js"

/**
 * @since 0.1.0
 */
export * as Sweeper from "./Sweeper.js"

/**
 * @since 0.1.0
 */
export * as Tokens from "./Tokens.js"

/**
 * @since 0.1.0
 */
export * as Uploads from "./Uploads.js"

/**
 * @since 0.1.0
 */
export * as UrlSigner from "./UrlSigner.js"

/**
 * @since 0.1.0
 */
export * as UrlVerifier from "./UrlVerifier.js"
