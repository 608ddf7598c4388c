/** Turns uploaded files into entries of a project, at services that have such a call. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ListError } from "./ListError.js"
import * as Lists from "./Lists.js"
import type { FileImport, ImportedEntry } from "./service/endpoints.js"
import { ServiceApi } from "./ServiceApi.js"
import type { ServiceError } from "./ServiceError.js"

export type {
  /**
   * What becomes an entry of which project.
   *
   * @category models
   */
  FileImport,
  /**
   * The entry, as the service reports it; the id if it says one.
   *
   * @category models
   */
  ImportedEntry
} from "./service/endpoints.js"

/**
 * Makes a finished file an entry of a project: `POST /v1/data/import/file`, which the rate limit counts. Calling it
 * twice makes two entries, so it is not retried if the request may have arrived: {@link find} then tells whether it did.
 * A service without this call answers with `NotFound`.
 *
 * @example
 * import { Imports, Uploads, UploadSources } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("notes"))
 *
 * const imported = Effect.flatMap(
 *   Uploads.upload(notes),
 *   ({ id }) => Imports.file({ fileId: id, projectId: "5dVIWgRXDVPZ2aBU6Rydkm", title: "Notes" })
 * )
 *
 * @category imports
 */
export const file = (input: FileImport): Effect.Effect<ImportedEntry, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service) => service.importFile(input))

/**
 * The newest entry of a project with this title that is not older than `since`: what an import that was interrupted has
 * made, if it was carried out.
 *
 * @category imports
 */
export const find = (
  { projectId, since, title }: { readonly projectId: string; readonly title: string; readonly since: Date }
): Effect.Effect<Option.Option<ImportedEntry>, ListError, ServiceApi> =>
  Effect.map(
    Stream.runHead(
      Lists.data({ project_id: projectId, title: { equal_to: title }, created_at: { gte: since }, pageSize: 1 })
    ),
    Option.map(({ id }) => id === undefined ? {} : { id })
  )
