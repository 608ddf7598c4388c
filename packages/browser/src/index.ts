export * as BlobSource from "./BlobSource.js"

export * as BrowserLedger from "./BrowserLedger.js"

export * as BrowserStevedore from "./BrowserStevedore.js"

export * as FileHandles from "./FileHandles.js"

export * as IndexedDbKeyValueStore from "./IndexedDbKeyValueStore.js"

export * as ScreenWakeLock from "./ScreenWakeLock.js"

export * as UnloadWarning from "./UnloadWarning.js"

export * as UploadQueue from "./UploadQueue.js"

export * as UploadQueueStream from "./UploadQueueStream.js"

export * as XhrObjectStorage from "./XhrObjectStorage.js"
