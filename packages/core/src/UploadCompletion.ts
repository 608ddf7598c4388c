/**
 * The end of an upload: Complete is sent, and if its response is lost, the file itself is looked up. Once Complete may
 * have been received, nothing is thrown away.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { FileRecord } from "./FileRecord.js"
import { namesInvalidPart } from "./internal/invalidPart.js"
import { ServiceApi } from "./ServiceApi.js"
import type { ServiceError } from "./ServiceError.js"
import { UploadConflict } from "./ServiceError.js"
import { CompletionUnknown, StoredSizeDiffers } from "./UploadError.js"
import type { PartReceipt } from "./UploadSession.js"

/**
 * The upload to complete. `uploadId` is undefined for a single PUT.
 *
 * @since 0.1.0
 * @category models
 */
export interface Target {
  readonly fileId: string
  readonly uploadId: string | undefined
}

const tell = (
  { fileId, uploadId }: Target,
  receipts: ReadonlyArray<PartReceipt>
): Effect.Effect<FileRecord, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service) =>
    uploadId === undefined
      ? service.completeUpload({ fileId })
      : service.completeLargeUpload({ fileId, uploadId, parts: receipts })).pipe(
      Effect.filterOrFail(
        (record) => record.status !== "failed",
        // A success that says so contradicts itself, so the file itself decides, as after a 409
        () =>
          new UploadConflict({
            operation: uploadId === undefined ? "completeUpload" : "completeLargeUpload",
            status: 200,
            issues: []
          })
      )
    )

// The service reports rejected etags only for an upload that was not completed before.
const followsSuccess = (error: ServiceError): boolean =>
  error._tag === "NotFound" || (error._tag === "RequestRejected" && !namesInvalidPart(error))

// What leaves open whether Complete took effect: no response, an unreadable one, a failing server, and responses that
// the success of an earlier attempt, perhaps of an earlier process, would explain as well.
const leavesOpen = (error: ServiceError, goesOn = false): boolean =>
  error.recovery === "retry" || error._tag === "InvalidResponse" || error._tag === "UploadConflict" ||
  ((goesOn || error.attempts > 1) && followsSuccess(error))

const wasAnswered = (error: ServiceError): boolean => "issues" in error && error._tag !== "InvalidResponse"

const askForTheFile = (
  { fileId }: Target,
  error: ServiceError
): Effect.Effect<FileRecord, ServiceError | CompletionUnknown, ServiceApi> => {
  const unknown = new CompletionUnknown({ fileId, because: error._tag, attempts: error.attempts })
  return Effect.flatMap(ServiceApi, (service) => service.file(fileId)).pipe(
    Effect.matchEffect({
      onSuccess: (record) => record.status === "failed" ? Effect.fail(error) : Effect.succeed(record),
      onFailure: (asked) => Effect.fail(asked._tag === "NotFound" && wasAnswered(error) ? error : unknown)
    })
  )
}

/**
 * Completes a session whose bytes are all in storage.
 *
 * @since 0.1.0
 * @category completion
 */
export const run = (completion: {
  readonly target: Target
  readonly receipts: ReadonlyArray<PartReceipt>
  /** The source's size in bytes. The record's size must be the same, if it has one. */
  readonly size: number
  /** Whether an earlier process may have sent Complete. Defaults to false. */
  readonly goesOn?: boolean | undefined
}): Effect.Effect<FileRecord, ServiceError | CompletionUnknown | StoredSizeDiffers, ServiceApi> =>
  tell(completion.target, completion.receipts).pipe(
    Effect.catchAll((error) =>
      leavesOpen(error, completion.goesOn) ? askForTheFile(completion.target, error) : Effect.fail(error)
    ),
    Effect.tap(({ id, size }) =>
      size == null || size === completion.size
        ? Effect.void
        : new StoredSizeDiffers({ fileId: id, expected: completion.size, actual: size })
    )
  )
