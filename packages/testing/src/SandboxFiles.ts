/**
 * What the sandbox says on the wire about uploads and files.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/Files"
