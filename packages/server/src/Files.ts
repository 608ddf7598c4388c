/**
 * What the service says on the wire about uploads and files, and the rules that need no state.
 *
 * @since 0.1.0
 */

/**
 * What a client declares when it initiates an upload. `size` is in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Declaration {
  readonly name: string
  readonly type: string | undefined
  readonly size: number
}

/**
 * The file record, as sent on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileRecord {
  readonly id: string
  readonly name: string
  readonly type: string | null
  readonly size: number
  readonly status: "pending" | "completed" | "failed"
  readonly author: { readonly id: string; readonly name: string } | null
  readonly created_at: string
}

/**
 * An upload that waits for one PUT.
 *
 * @since 0.1.0
 * @category models
 */
export interface SingleSession {
  readonly fileId: string
  readonly uploadUrl: string
}

/**
 * An upload that waits for its parts: a URL for each, ordered by part number.
 *
 * @since 0.1.0
 * @category models
 */
export interface MultipartSession {
  readonly fileId: string
  readonly uploadId: string
  readonly urls: ReadonlyArray<string>
}

const LARGEST_PART_COUNT = 10_000

/**
 * How many parts a server chooses for a size if the client leaves it open: parts of the recommended size, but never
 * below the minimum size and never more than 10000. Sizes are in bytes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const chooseParts = (
  size: number,
  settings: { readonly recommendedPartSize: number; readonly minimumPartSize: number }
): number => {
  const partSize = Math.max(settings.recommendedPartSize, Math.ceil(size / LARGEST_PART_COUNT))
  // clients make equal parts: with more than this, all of them would be too small
  const most = Math.max(1, Math.floor(size / settings.minimumPartSize))
  return Math.min(Math.ceil(size / partSize), most)
}

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
