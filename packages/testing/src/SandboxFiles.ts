/**
 * What the sandbox says on the wire about uploads and files.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/Files"

/**
 * The key of a file's bytes in the bucket.
 *
 * @since 0.1.0
 * @category combinators
 */
export const keyOf = (fileId: string): string => `files/${fileId}`

/**
 * The file that a key of the bucket belongs to.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fileIdOf = (key: string): string | undefined =>
  key.startsWith("files/") ? key.slice("files/".length) : undefined
