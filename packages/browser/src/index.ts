/**
 * @since 0.1.0
 */
export * as BlobSource from "./BlobSource.js"

/**
 * @since 0.1.0
 */
export * as BrowserLedger from "./BrowserLedger.js"

/**
 * @since 0.1.0
 */
export * as BrowserStevedore from "./BrowserStevedore.js"

/**
 * @since 0.1.0
 */
export * as Connectivity from "./Connectivity.js"

/**
 * @since 0.1.0
 */
export type * as ElementModel from "./ElementModel.js"

/**
 * @since 0.1.0
 */
export * as FileHandles from "./FileHandles.js"

/**
 * @since 0.1.0
 */
export * as IndexedDbKeyValueStore from "./IndexedDbKeyValueStore.js"

/**
 * @since 0.1.0
 */
export * as ScreenWakeLock from "./ScreenWakeLock.js"

/**
 * @since 0.1.0
 */
export * as UnloadWarning from "./UnloadWarning.js"

/**
 * @since 0.1.0
 */
export * as UploadQueue from "./UploadQueue.js"

/**
 * @since 0.1.0
 */
export * as UploadQueueModel from "./UploadQueueModel.js"

/**
 * @since 0.1.0
 */
export * as UploadQueueStream from "./UploadQueueStream.js"

/**
 * @since 0.1.0
 */
export type * as WordsModel from "./WordsModel.js"

/**
 * @since 0.1.0
 */
export * as XhrObjectStorage from "./XhrObjectStorage.js"
