/**
 * What the sandbox says of uploads and files over the wire, and the rules that need no state.
 *
 * @since 0.1.0
 */
import type { Settings } from "./SandboxOptions.js"

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
 * The file record, as it goes over the wire.
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
 * An upload that waits for its parts: a URL for each, in the order of their numbers.
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
 * How many parts a server chooses for a size when the client leaves it open: as many as make parts of the recommended size,
 * but never parts under the minimum nor more than 10000 of them. Sizes are in bytes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const chooseParts = (
  size: number,
  settings: Pick<Settings, "recommendedPartSize" | "minimumPartSize">
): number => {
  const partSize = Math.max(settings.recommendedPartSize, Math.ceil(size / LARGEST_PART_COUNT))
  // clients make the parts equal: more than this many of them would all be too small
  const most = Math.max(1, Math.floor(size / settings.minimumPartSize))
  return Math.min(Math.ceil(size / partSize), most)
}

/**
 * The key under which a file's bytes stand in the bucket.
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
