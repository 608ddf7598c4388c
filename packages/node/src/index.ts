/**
 * @since 0.1.0
 */
export * as DiskLedger from "./DiskLedger.js"

/**
 * @since 0.1.0
 */
export * as DownloadTargetError from "./DownloadTargetError.js"

/**
 * @since 0.1.0
 */
export * as FileSource from "./FileSource.js"

/**
 * @since 0.1.0
 */
export * as HttpProxy from "./HttpProxy.js"

/**
 * @since 0.1.0
 */
export * as HttpSource from "./HttpSource.js"

/**
 * @since 0.1.0
 */
export * as LastingFailure from "./LastingFailure.js"

/**
 * @since 0.1.0
 */
export * as NodeChecksum from "./NodeChecksum.js"

/**
 * @since 0.1.0
 */
export * as NodeDownloads from "./NodeDownloads.js"

/**
 * @since 0.1.0
 */
export * as NodeObjectStorage from "./NodeObjectStorage.js"

/**
 * @since 0.1.0
 */
export * as NodeStevedore from "./NodeStevedore.js"

/**
 * @since 0.1.0
 */
export * as SafeName from "./SafeName.js"

/**
 * @since 0.1.0
 */
export * as SpoolError from "./SpoolError.js"

/**
 * @since 0.1.0
 */
export * as StevedoreHttpApp from "./StevedoreHttpApp.js"

/**
 * @since 0.1.0
 */
export * as UploadOutbox from "./UploadOutbox.js"
