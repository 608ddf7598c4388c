/**
 * How object storage refuses.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/StorageRefused"
