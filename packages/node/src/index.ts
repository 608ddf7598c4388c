export * as Diagnosis from "./Diagnosis.js"

export * as DiskLedger from "./DiskLedger.js"

export * as DownloadTargetError from "./DownloadTargetError.js"

export * as FileSource from "./FileSource.js"

export * as HttpProxy from "./HttpProxy.js"

export * as HttpSource from "./HttpSource.js"

export * as LastingFailure from "./LastingFailure.js"

export * as NodeChecksum from "./NodeChecksum.js"

export * as NodeDownloads from "./NodeDownloads.js"

export * as NodeObjectStorage from "./NodeObjectStorage.js"

export * as NodeStevedore from "./NodeStevedore.js"

export * as SafeName from "./SafeName.js"

export * as SpoolError from "./SpoolError.js"

export * as StevedoreHttpApp from "./StevedoreHttpApp.js"

export * as UploadOutbox from "./UploadOutbox.js"
