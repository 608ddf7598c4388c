/**
 * An object store in memory.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/ObjectStoreMemory"
