/**
 * The identifiers that the sandbox issues.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/Identifiers"
