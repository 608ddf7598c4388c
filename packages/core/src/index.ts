/**
 * @since 0.1.0
 */
export * as BandwidthLimit from "./BandwidthLimit.js"

/**
 * @since 0.1.0
 */
export * as Checkpoints from "./Checkpoints.js"

/**
 * @since 0.1.0
 */
export * as Checksum from "./Checksum.js"

/**
 * @since 0.1.0
 */
export * as ConnectionError from "./ConnectionError.js"

/**
 * @since 0.1.0
 */
export * as DownloadError from "./DownloadError.js"

/**
 * @since 0.1.0
 */
export * as Downloads from "./Downloads.js"

/**
 * @since 0.1.0
 */
export * as ErrorKind from "./ErrorKind.js"

/**
 * @since 0.1.0
 */
export * as FileRecord from "./FileRecord.js"

/**
 * @since 0.1.0
 */
export * as Files from "./Files.js"

/**
 * @since 0.1.0
 */
export * as Imports from "./Imports.js"

/**
 * @since 0.1.0
 */
export * as HttpObjectStorage from "./HttpObjectStorage.js"

/**
 * @since 0.1.0
 */
export * as Json from "./Json.js"

/**
 * @since 0.1.0
 */
export * as ListError from "./ListError.js"

/**
 * @since 0.1.0
 */
export * as ListRecords from "./ListRecords.js"

/**
 * @since 0.1.0
 */
export * as Lists from "./Lists.js"

/**
 * @since 0.1.0
 */
export * as Metadata from "./Metadata.js"

/**
 * @since 0.1.0
 */
export * as Metrics from "./Metrics.js"

/**
 * @since 0.1.0
 */
export * as ObjectStorage from "./ObjectStorage.js"

/**
 * @since 0.1.0
 */
export * as PresignedUrl from "./PresignedUrl.js"

/**
 * @since 0.1.0
 */
export * as RateLimit from "./RateLimit.js"

/**
 * @since 0.1.0
 */
export * as Recovery from "./Recovery.js"

/**
 * @since 0.1.0
 */
export * as RetryPolicy from "./RetryPolicy.js"

/**
 * @since 0.1.0
 */
export * as ServiceApi from "./ServiceApi.js"

/**
 * @since 0.1.0
 */
export * as ServiceConfig from "./ServiceConfig.js"

/**
 * @since 0.1.0
 */
export * as ServiceError from "./ServiceError.js"

/**
 * @since 0.1.0
 */
export * as ServiceProfile from "./ServiceProfile.js"

/**
 * @since 0.1.0
 */
export * as SourceError from "./SourceError.js"

/**
 * @since 0.1.0
 */
export * as StorageError from "./StorageError.js"

/**
 * @since 0.1.0
 */
export * as Timeouts from "./Timeouts.js"

/**
 * @since 0.1.0
 */
export * as Transport from "./Transport.js"

/**
 * @since 0.1.0
 */
export * as TransferGate from "./TransferGate.js"

/**
 * @since 0.1.0
 */
export * as UploadError from "./UploadError.js"

/**
 * @since 0.1.0
 */
export * as UploadEvent from "./UploadEvent.js"

/**
 * @since 0.1.0
 */
export * as UploadLedger from "./UploadLedger.js"

/**
 * @since 0.1.0
 */
export * as UploadOptions from "./UploadOptions.js"

/**
 * @since 0.1.0
 */
export * as UploadPlan from "./UploadPlan.js"

/**
 * @since 0.1.0
 */
export * as UploadProgress from "./UploadProgress.js"

/**
 * @since 0.1.0
 */
export * as UploadSession from "./UploadSession.js"

export type {
  /**
   * The port itself under its own name, for programs that take and pass sources.
   *
   * @since 0.1.0
   * @category models
   */
  UploadSource
} from "./UploadSource.js"

/**
 * @since 0.1.0
 */
export * as UploadSources from "./UploadSources.js"

/**
 * @since 0.1.0
 */
export * as Uploads from "./Uploads.js"
