/** What the sandbox says on the wire about uploads and files. */

export * from "@stevedore/server/parts/files"

/**
 * The key of a file's bytes in the bucket.
 *
 * @category combinators
 */
export const keyOf = (fileId: string): string => `files/${fileId}`

/**
 * The file that a key of the bucket belongs to.
 *
 * @category combinators
 */
export const fileIdOf = (key: string): string | undefined =>
  key.startsWith("files/") ? key.slice("files/".length) : undefined
