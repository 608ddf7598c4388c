// What the reference shows of each package, in the order in which a reader needs it: every module has its place here.

/**
 * @typedef {object} Doors
 * @property {Readonly<Record<string, ReadonlyArray<string>>>} groups modules by title
 * @property {boolean} [hides] whether the other modules are the package's own affair
 */

const start = "Start here"
const ports = "Ports"
const adapters = "Adapters"
const settings = "Settings"
const records = "Records and errors"
const tools = "Tools"

/** @type {Readonly<Record<string, Doors>>} */
export const doors = {
  core: {
    groups: {
      [start]: ["Uploads", "UploadSources", "Downloads", "Lists", "Files", "Imports"],
      [ports]: ["UploadSource", "ObjectStorage", "UploadLedger", "ServiceApi", "TransferGate", "RateLimit"],
      [adapters]: ["HttpObjectStorage"],
      [settings]: [
        "UploadOptions",
        "ServiceConfig",
        "ServiceProfile",
        "RetryPolicy",
        "Timeouts",
        "Checksum",
        "BandwidthLimit"
      ],
      [records]: [
        "UploadedFile",
        "UploadProgress",
        "UploadEvent",
        "UploadPlan",
        "UploadSession",
        "PresignedUrl",
        "FileRecord",
        "ListRecords",
        "Metadata",
        "Json",
        "Checkpoints",
        "Metrics",
        "ErrorKind",
        "Recovery",
        "UploadError",
        "DownloadError",
        "ListError",
        "ServiceError",
        "StorageError",
        "SourceError",
        "ConnectionError"
      ]
    }
  },
  node: {
    groups: {
      [start]: ["NodeStevedore", "FileSource", "NodeDownloads", "StevedoreHttpApp"],
      [adapters]: ["NodeObjectStorage", "DiskLedger", "NodeChecksum", "HttpSource", "HttpProxy", "UploadOutbox"],
      [tools]: ["Diagnosis"],
      [records]: ["SafeName", "DownloadTargetError", "SpoolError", "LastingFailure"]
    }
  },
  browser: {
    groups: {
      [start]: [
        "element",
        "UploadQueue",
        "BrowserStevedore",
        "BlobSource",
        "words",
        "preact",
        "react",
        "solid",
        "svelte",
        "vue"
      ],
      [adapters]: ["XhrObjectStorage", "BrowserLedger", "FileHandles", "IndexedDbKeyValueStore"],
      [tools]: ["UploadQueueStream", "UnloadWarning", "ScreenWakeLock"]
    }
  },
  server: {
    groups: {
      [start]: [
        "NodeServe",
        "NodeProduction",
        "Hooks",
        "Webhooks",
        "ServerApp",
        "S3Bucket",
        "ServeSettings",
        "FileAudit",
        "NodeMetrics"
      ],
      [ports]: [
        "FileTable",
        "FileStore",
        "ObjectStore",
        "ListSource",
        "Tokens",
        "Authorize",
        "RateLimit",
        "Observer"
      ],
      [adapters]: [
        "FileTableMemory",
        "SqlDatabase",
        "SqlFileTable",
        "SqlObjectStore",
        "SqlTokens",
        "Sqlite",
        "FileAdmin",
        "S3FileStore",
        "ObjectStoreDirectory",
        "ListSourceMemory",
        "StorageApp"
      ],
      [tools]: [
        "Uploads",
        "Sweeper",
        "OperationsApp",
        "ServerApi"
      ],
      [records]: [
        "ServiceRefused",
        "StorageRefused"
      ]
    }
  },
  testing: {
    groups: {
      [start]: ["SandboxLayer", "Sandbox", "FaultScript", "SandboxOptions", "SandboxReport", "VirtualTime"],
      [adapters]: ["SandboxHttp", "S3ObjectStore"],
      [tools]: ["Arbitraries", "Recorder", "Expectation"],
      [records]: ["Fault", "FaultRule", "FaultSentence", "Connection", "Exchange"]
    },
    hides: true
  },
  bulk: {
    groups: {
      [start]: ["Bulk", "Queue", "BulkSources"],
      [adapters]: ["Cluster", "BulkRunner", "BulkRateLimit", "BulkMigrations"],
      [records]: ["BulkError"]
    }
  },
  cli: {
    groups: { [start]: ["SandboxServer"], [records]: ["Reports"] }
  }
}
