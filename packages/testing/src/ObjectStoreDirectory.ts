/**
 * An object store in a directory.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/ObjectStoreDirectory"
