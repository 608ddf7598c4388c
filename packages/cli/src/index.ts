/**
 * @since 0.1.0
 */
export * as Arguments from "./Arguments.js"

/**
 * @since 0.1.0
 */
export * as Bulk from "./Bulk.js"

/**
 * @since 0.1.0
 */
export * as BulkCommand from "./BulkCommand.js"

/**
 * @since 0.1.0
 */
export * as BulkModel from "./BulkModel.js"

/**
 * @since 0.1.0
 */
export * as BulkReports from "./BulkReports.js"

/**
 * @since 0.1.0
 */
export * as Checksums from "./Checksums.js"

/**
 * @since 0.1.0
 */
export * as Choosing from "./Choosing.js"

/**
 * @since 0.1.0
 */
export * as CommandLine from "./CommandLine.js"

/**
 * @since 0.1.0
 */
export * as CommandWords from "./CommandWords.js"

/**
 * @since 0.1.0
 */
export * as Complaint from "./Complaint.js"

/**
 * @since 0.1.0
 */
export * as ConfigShown from "./ConfigShown.js"

/**
 * @since 0.1.0
 */
export * as Configuration from "./Configuration.js"

/**
 * @since 0.1.0
 */
export * as Doctor from "./Doctor.js"

/**
 * @since 0.1.0
 */
export * as DoctorReport from "./DoctorReport.js"

/**
 * @since 0.1.0
 */
export * as Download from "./Download.js"

/**
 * @since 0.1.0
 */
export * as DownloadMany from "./DownloadMany.js"

/**
 * @since 0.1.0
 */
export * as ExitCode from "./ExitCode.js"

/**
 * @since 0.1.0
 */
export * as FaultFile from "./FaultFile.js"

/**
 * @since 0.1.0
 */
export * as FilesFrom from "./FilesFrom.js"

/**
 * @since 0.1.0
 */
export * as Filters from "./Filters.js"

/**
 * @since 0.1.0
 */
export * as Forecast from "./Forecast.js"

/**
 * @since 0.1.0
 */
export * as Help from "./Help.js"

/**
 * @since 0.1.0
 */
export * as HelpPage from "./HelpPage.js"

/**
 * @since 0.1.0
 */
export * as Inspect from "./Inspect.js"

/**
 * @since 0.1.0
 */
export * as InvalidInput from "./InvalidInput.js"

/**
 * @since 0.1.0
 */
export * as Limit from "./Limit.js"

/**
 * @since 0.1.0
 */
export * as LimitRate from "./LimitRate.js"

/**
 * @since 0.1.0
 */
export * as ListItems from "./ListItems.js"

/**
 * @since 0.1.0
 */
export * as Manifest from "./Manifest.js"

/**
 * @since 0.1.0
 */
export * as ManualPage from "./ManualPage.js"

/**
 * @since 0.1.0
 */
export * as Measure from "./Measure.js"

/**
 * @since 0.1.0
 */
export * as Output from "./Output.js"

/**
 * @since 0.1.0
 */
export * as PlainConsole from "./PlainConsole.js"

/**
 * @since 0.1.0
 */
export * as Printable from "./Printable.js"

/**
 * @since 0.1.0
 */
export * as ProfileFile from "./ProfileFile.js"

/**
 * @since 0.1.0
 */
export * as Program from "./Program.js"

/**
 * @since 0.1.0
 */
export * as ProgressBar from "./ProgressBar.js"

/**
 * @since 0.1.0
 */
export * as Proxy from "./Proxy.js"

/**
 * @since 0.1.0
 */
export * as Quantities from "./Quantities.js"

/**
 * @since 0.1.0
 */
export * as Reports from "./Reports.js"

/**
 * @since 0.1.0
 */
export * as SandboxServer from "./SandboxServer.js"

/**
 * @since 0.1.0
 */
export * as Serve from "./Serve.js"

/**
 * @since 0.1.0
 */
export * as Settings from "./Settings.js"

/**
 * @since 0.1.0
 */
export * as Shared from "./Shared.js"

/**
 * @since 0.1.0
 */
export * as Table from "./Table.js"

/**
 * @since 0.1.0
 */
export * as TransferCommands from "./TransferCommands.js"

/**
 * @since 0.1.0
 */
export * as UnfinishedUploads from "./UnfinishedUploads.js"

/**
 * @since 0.1.0
 */
export * as Upload from "./Upload.js"

/**
 * @since 0.1.0
 */
export * as UploadBoard from "./UploadBoard.js"

/**
 * @since 0.1.0
 */
export * as Uploaded from "./Uploaded.js"

/**
 * @since 0.1.0
 */
export * as UploadPaths from "./UploadPaths.js"

/**
 * @since 0.1.0
 */
export * as UploadReports from "./UploadReports.js"

/**
 * @since 0.1.0
 */
export * as UploadSummary from "./UploadSummary.js"

/**
 * @since 0.1.0
 */
export * as UploadWatch from "./UploadWatch.js"

/**
 * @since 0.1.0
 */
export * as UrlSource from "./UrlSource.js"

/**
 * @since 0.1.0
 */
export * as Version from "./Version.js"
