/**
 * @since 0.1.0
 */
export * as AttemptWatch from "./AttemptWatch.js"

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
export * as Feasibility from "./Feasibility.js"

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
export * as HttpObjectStorage from "./HttpObjectStorage.js"

/**
 * @since 0.1.0
 */
export * as Json from "./Json.js"

/**
 * @since 0.1.0
 */
export * as List from "./List.js"

/**
 * @since 0.1.0
 */
export * as ListError from "./ListError.js"

/**
 * @since 0.1.0
 */
export * as ListFilters from "./ListFilters.js"

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
export * as Metrics from "./Metrics.js"

/**
 * @since 0.1.0
 */
export * as ObjectStorage from "./ObjectStorage.js"

/**
 * @since 0.1.0
 */
export * as Page from "./Page.js"

/**
 * @since 0.1.0
 */
export * as PagePosition from "./PagePosition.js"

/**
 * @since 0.1.0
 */
export * as Pages from "./Pages.js"

/**
 * @since 0.1.0
 */
export * as PartTransfer from "./PartTransfer.js"

/**
 * @since 0.1.0
 */
export * as PlanError from "./PlanError.js"

/**
 * @since 0.1.0
 */
export * as PresignedUrl from "./PresignedUrl.js"

/**
 * @since 0.1.0
 */
export * as Printable from "./Printable.js"

/**
 * @since 0.1.0
 */
export * as RangedContent from "./RangedContent.js"

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
export * as RetryAfter from "./RetryAfter.js"

/**
 * @since 0.1.0
 */
export * as RetryBudget from "./RetryBudget.js"

/**
 * @since 0.1.0
 */
export * as RetryPolicy from "./RetryPolicy.js"

/**
 * @since 0.1.0
 */
export * as ServerClock from "./ServerClock.js"

/**
 * @since 0.1.0
 */
export * as ServiceAnswer from "./ServiceAnswer.js"

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
export * as ServiceEndpoints from "./ServiceEndpoints.js"

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
export * as SourceFingerprint from "./SourceFingerprint.js"

/**
 * @since 0.1.0
 */
export * as SourceLimits from "./SourceLimits.js"

/**
 * @since 0.1.0
 */
export * as StorageAnswer from "./StorageAnswer.js"

/**
 * @since 0.1.0
 */
export * as StorageAttempt from "./StorageAttempt.js"

/**
 * @since 0.1.0
 */
export * as StorageError from "./StorageError.js"

/**
 * @since 0.1.0
 */
export * as StorageResponse from "./StorageResponse.js"

/**
 * @since 0.1.0
 */
export * as Timeouts from "./Timeouts.js"

/**
 * @since 0.1.0
 */
export * as TransferGate from "./TransferGate.js"

/**
 * @since 0.1.0
 */
export * as TransferSwitch from "./TransferSwitch.js"

/**
 * @since 0.1.0
 */
export * as UnfinishedUploads from "./UnfinishedUploads.js"

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
export * as UploadMonitor from "./UploadMonitor.js"

/**
 * @since 0.1.0
 */
export * as UploadOptions from "./UploadOptions.js"

/**
 * @since 0.1.0
 */
export * as UploadOutcome from "./UploadOutcome.js"

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
export * as UploadRecord from "./UploadRecord.js"

/**
 * @since 0.1.0
 */
export * as UploadResume from "./UploadResume.js"

/**
 * @since 0.1.0
 */
export * as UploadRun from "./UploadRun.js"

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
export * as UploadVerification from "./UploadVerification.js"

/**
 * @since 0.1.0
 */
export * as UploadedFile from "./UploadedFile.js"

/**
 * @since 0.1.0
 */
export * as Uploads from "./Uploads.js"

/**
 * @since 0.1.0
 */
export * as UrlError from "./UrlError.js"
