/**
 * Where the bytes of one write are kept.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/BlobStore"
