/** What the service says on the wire about uploads and files, and the rules that need no state. */
import type { Checksum } from "@stevedore/core/Checksum"
import type { Metadata } from "@stevedore/core/Metadata"

/**
 * What a client declares when it initiates an upload. `size` is in bytes. `metadata` is an addition to the interface: what
 * the application wants to know of the file, within the bounds of `Metadata`.
 *
 * @category models
 */
export interface Declaration {
  readonly name: string
  readonly type: string | undefined
  readonly size: number
  readonly metadata?: Metadata | undefined
}

/**
 * The file record, as sent on the wire. `metadata` is an addition to the interface, and only there if the file has some.
 *
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
  readonly checksum?: Checksum
  readonly metadata?: Metadata
}

/**
 * An upload that waits for one PUT.
 *
 * @category models
 */
export interface SingleSession {
  readonly fileId: string
  readonly uploadUrl: string
}

/**
 * An upload that waits for its parts: a URL for each, ordered by part number.
 *
 * @category models
 */
export interface MultipartSession {
  readonly fileId: string
  readonly uploadId: string
  readonly urls: ReadonlyArray<string>
}

/**
 * The parts that a client lists.
 *
 * @category models
 */
export interface ListedParts {
  readonly uploadId: string
  readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>
}

const LARGEST_PART_COUNT = 10_000

/**
 * How many parts a server chooses for a size if the client leaves it open: parts of the recommended size, but never
 * below the minimum size and never more than 10000. Sizes are in bytes.
 *
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
 * The `Content-Disposition` of a download: it is stored under the file's own name, and never shown in a page.
 *
 * @category combinators
 */
export const attachment = (name: string): string =>
  `attachment; filename*=UTF-8''${encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\u{fffd}"))}`
