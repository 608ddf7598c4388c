/**
 * Pre-signed URLs with AWS Signature Version 4.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/UrlSigner"
