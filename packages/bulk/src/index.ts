/**
 * @since 0.1.0
 */
export * as Bulk from "./Bulk.js"

/**
 * @since 0.1.0
 */
export * as BulkError from "./BulkError.js"

/**
 * @since 0.1.0
 */
export * as BulkMigrations from "./BulkMigrations.js"

/**
 * @since 0.1.0
 */
export * as BulkRateLimit from "./BulkRateLimit.js"

/**
 * @since 0.1.0
 */
export * as BulkRunner from "./BulkRunner.js"

/**
 * @since 0.1.0
 */
export * as BulkSources from "./BulkSources.js"
