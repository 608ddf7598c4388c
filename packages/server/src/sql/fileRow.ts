import type { SqlError } from "@effect/sql/SqlError"
import { Checksum } from "@stevedore/core/Checksum"
import * as Metadata from "@stevedore/core/Metadata"
import type { NoSuchElementException } from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { FileRow, FileState } from "../FileTable.js"
import { TableFailed } from "../FileTable.js"

/** A row of the table of files. */
export interface Row {
  readonly id: string
  readonly tenant: string
  readonly owner_id: string
  readonly owner_name: string
  readonly name: string
  readonly media_type: string | null
  readonly size: number
  readonly kind: "single" | "multipart"
  readonly key: string
  readonly upload_id: string | null
  readonly etag: string | null
  readonly checksum: string | null
  readonly version_id: string | null
  readonly reason: string | null
  readonly state: FileState
  readonly created_at: number
  readonly settled_at: number
  readonly expires_at: number
  readonly metadata: string | null
}

/**
 * What counts towards the quota of a tenant. Bytes that were discarded do no longer, those of an upload that has expired do
 * until they are removed: a sweep changes one row of it at a time.
 */
export const counts = (row: string) =>
  `(${row}.state in ('opening', 'waiting', 'completing', 'inspecting', 'finalized')
    or (${row}.state = 'removing' and ${row}.settled_at = 0))`

export const KeptChecksum = Schema.parseJson(Checksum)

export const KeptMetadata = Schema.parseJson(Metadata.Metadata)

export const toFile = (row: Row): FileRow => ({
  id: row.id,
  tenant: row.tenant,
  owner: { id: row.owner_id, name: row.owner_name },
  name: row.name,
  mediaType: row.media_type ?? undefined,
  size: row.size,
  metadata: row.metadata === null ? undefined : Schema.decodeSync(KeptMetadata)(row.metadata),
  kind: row.kind,
  key: row.key,
  uploadId: row.upload_id ?? undefined,
  etag: row.etag ?? undefined,
  checksum: row.checksum === null ? undefined : Schema.decodeSync(KeptChecksum)(row.checksum),
  versionId: row.version_id ?? undefined,
  reason: row.reason ?? undefined,
  state: row.state,
  createdAt: row.created_at,
  settledAt: row.settled_at === 0 ? undefined : row.settled_at,
  expiresAt: row.expires_at
})

/** The file of the first row, if there is one. */
export const firstOf = (rows: ReadonlyArray<Row>): Option.Option<FileRow> =>
  Option.map(Option.fromNullable(rows[0]), toFile)

/** Says of which operation of the table a statement was, where it fails. */
export const to =
  (operation: string) =>
  <A, R>(effect: Effect.Effect<A, SqlError | NoSuchElementException, R>): Effect.Effect<A, TableFailed, R> =>
    Effect.mapError(effect, (cause) => new TableFailed({ operation, cause }))
