export * as Bulk from "./Bulk.js"

export * as BulkModel from "./BulkModel.js"

export * as BulkReports from "./BulkReports.js"

export * as Checksums from "./Checksums.js"

export * as Choosing from "./Choosing.js"

export * as CommandLine from "./CommandLine.js"

export * as CommandWords from "./CommandWords.js"

export * as Complaint from "./Complaint.js"

export * as ConfigShown from "./ConfigShown.js"

export * as Configuration from "./Configuration.js"

export * as Doctor from "./Doctor.js"

export * as DoctorReport from "./DoctorReport.js"

export * as Download from "./Download.js"

export * as DownloadMany from "./DownloadMany.js"

export * as ExitCode from "./ExitCode.js"

export * as FaultFile from "./FaultFile.js"

export * as FilesFrom from "./FilesFrom.js"

export * as Filters from "./Filters.js"

export * as Forecast from "./Forecast.js"

export * as Help from "./Help.js"

export * as Inspect from "./Inspect.js"

export * as InvalidInput from "./InvalidInput.js"

export * as Limit from "./Limit.js"

export * as LimitRate from "./LimitRate.js"

export * as ListItems from "./ListItems.js"

export * as Manifest from "./Manifest.js"

export * as ManualPage from "./ManualPage.js"

export * as Measure from "./Measure.js"

export * as Output from "./Output.js"

export * as Printable from "./Printable.js"

export * as ProfileFile from "./ProfileFile.js"

export * as Program from "./Program.js"

export * as ProgressBar from "./ProgressBar.js"

export * as Proxy from "./Proxy.js"

export * as Quantities from "./Quantities.js"

export * as Reports from "./Reports.js"

export * as SandboxServer from "./SandboxServer.js"

export * as Serve from "./Serve.js"

export * as Settings from "./Settings.js"

export * as Shared from "./Shared.js"

export * as Table from "./Table.js"

export * as UnfinishedUploads from "./UnfinishedUploads.js"

export * as Upload from "./Upload.js"

export * as UploadBoard from "./UploadBoard.js"

export * as Uploaded from "./Uploaded.js"

export * as UploadPaths from "./UploadPaths.js"

export * as UploadReports from "./UploadReports.js"

export * as UploadSummary from "./UploadSummary.js"

export * as UploadWatch from "./UploadWatch.js"

export * as UrlSource from "./UrlSource.js"

export * as Version from "./Version.js"
