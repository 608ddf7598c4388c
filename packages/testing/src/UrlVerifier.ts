/**
 * Checks whether a request at storage is what a pre-signed URL allows.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/UrlVerifier"
