/**
 * The object store behind the sandbox's storage.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/ObjectStore"
