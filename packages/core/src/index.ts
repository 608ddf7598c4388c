export * as BandwidthLimit from "./BandwidthLimit.js"

export * as Checkpoints from "./Checkpoints.js"

export * as Checksum from "./Checksum.js"

export * as ConnectionError from "./ConnectionError.js"

export * as DownloadError from "./DownloadError.js"

export * as Downloads from "./Downloads.js"

export * as ErrorKind from "./ErrorKind.js"

export * as FileRecord from "./FileRecord.js"

export * as Files from "./Files.js"

export * as Imports from "./Imports.js"

export * as HttpObjectStorage from "./HttpObjectStorage.js"

export * as Json from "./Json.js"

export * as ListError from "./ListError.js"

export * as ListRecords from "./ListRecords.js"

export * as Lists from "./Lists.js"

export * as Metadata from "./Metadata.js"

export * as Metrics from "./Metrics.js"

export * as ObjectStorage from "./ObjectStorage.js"

export * as PresignedUrl from "./PresignedUrl.js"

export * as RateLimit from "./RateLimit.js"

export * as Recovery from "./Recovery.js"

export * as RetryPolicy from "./RetryPolicy.js"

export * as ServiceApi from "./ServiceApi.js"

export * as ServiceConfig from "./ServiceConfig.js"

export * as ServiceError from "./ServiceError.js"

export * as ServiceProfile from "./ServiceProfile.js"

export * as SourceError from "./SourceError.js"

export * as StorageError from "./StorageError.js"

export * as Timeouts from "./Timeouts.js"

export * as TransferGate from "./TransferGate.js"

export type {
  /**
   * The result of an upload under its own name, for programs that take and pass it. Its Schema is `Uploads.UploadedFile`.
   *
   * @category models
   */
  UploadedFile
} from "./UploadedFile.js"

export * as UploadError from "./UploadError.js"

export * as UploadEvent from "./UploadEvent.js"

export * as UploadLedger from "./UploadLedger.js"

export * as UploadOptions from "./UploadOptions.js"

export * as UploadPlan from "./UploadPlan.js"

export * as UploadProgress from "./UploadProgress.js"

export * as UploadSession from "./UploadSession.js"

export type {
  /**
   * The port itself under its own name, for programs that take and pass sources.
   *
   * @category models
   */
  UploadSource
} from "./UploadSource.js"

export * as UploadSources from "./UploadSources.js"

export * as Uploads from "./Uploads.js"
