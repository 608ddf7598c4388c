export * as Bulk from "./Bulk.js"

export * as BulkError from "./BulkError.js"

export * as BulkMigrations from "./BulkMigrations.js"

export * as BulkRateLimit from "./BulkRateLimit.js"

export * as BulkRunner from "./BulkRunner.js"

export * as BulkSources from "./BulkSources.js"
