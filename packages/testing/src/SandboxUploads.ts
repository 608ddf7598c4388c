/**
 * The uploads and the files of a sandbox: a state machine over an object store.
 *
 * An upload waits for its bytes, and then is finalized (it is a file) or has failed. Nothing else is remembered about
 * it: when the client says that it is done, the store is asked what it holds.
 *
 * @since 0.1.0
 */
import type { Declaration, FileRecord, MultipartSession, SingleSession } from "@stevedore/server/Files"
import { chooseParts, keyOf } from "@stevedore/server/Files"
import * as FileStore from "@stevedore/server/FileStore"
import * as Identifiers from "@stevedore/server/Identifiers"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Settings } from "./SandboxOptions.js"

type State = Data.TaggedEnum<{
  Waiting: {}
  Finalized: { readonly at: number }
  Failed: { readonly reason: string }
}>

const State = Data.taggedEnum<State>()

interface Upload {
  readonly id: string
  readonly key: string
  readonly declared: Declaration
  readonly createdAt: number
  readonly multipart: { readonly uploadId: string; readonly parts: number } | undefined
  readonly gate: Effect.Semaphore
  state: State
}

/**
 * The transitions of the state machine. Each fails with what the service or storage responds.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxUploads {
  readonly initiate: (
    declared: Declaration
  ) => Effect.Effect<SingleSession, ServiceRefused.ServiceRefused | StorageRefused.StorageRefused>
  /** `parts` is what the client asks for; without it, the server chooses. */
  readonly initiateLarge: (
    declared: Declaration,
    parts: number | undefined
  ) => Effect.Effect<MultipartSession, ServiceRefused.ServiceRefused | StorageRefused.StorageRefused>
  readonly complete: (fileId: string) => Effect.Effect<FileRecord, ServiceRefused.ServiceRefused>
  readonly completeLarge: (
    fileId: string,
    uploadId: string,
    parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>
  ) => Effect.Effect<FileRecord, ServiceRefused.ServiceRefused>
  /** A finalized file. */
  readonly file: (fileId: string) => Effect.Effect<FileRecord, ServiceRefused.ServiceRefused>
  /** Every finalized file, in the order in which the uploads were initiated. */
  readonly files: Effect.Effect<ReadonlyArray<FileRecord>>
  /**
   * How many parts of an upload are in the store, and how many it was given URLs for; `undefined` if it is not waiting
   * for bytes. A single upload has one part.
   */
  readonly progress: (
    fileId: string
  ) => Effect.Effect<{ readonly stored: number; readonly expected: number } | undefined>
  /** A pre-signed URL for reading a finalized file. */
  readonly downloadUrl: (
    fileId: string
  ) => Effect.Effect<string, ServiceRefused.ServiceRefused | StorageRefused.StorageRefused>
}

const toRecord = (upload: Upload, settings: Settings, now: number): FileRecord => ({
  id: upload.id,
  name: upload.declared.name,
  type: upload.declared.type ?? null,
  size: upload.declared.size,
  status: upload.state._tag === "Finalized" && now < upload.state.at + settings.processingMillis
    ? "pending"
    : upload.state._tag === "Failed"
    ? "failed"
    : "completed",
  author: { id: "0SandboxAuthor00000000", name: "Sandbox" },
  created_at: new Date(upload.createdAt).toISOString()
})

/**
 * A state machine without any uploads yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (settings: Settings, store: ObjectStore.ObjectStoreService): SandboxUploads => {
  const uploads = new Map<string, Upload>()
  const serverTime = Effect.map(Clock.currentTimeMillis, (now) => now + settings.clockOffsetMillis)

  const { presign: sign } = FileStore.signed(store, {
    credential: settings.credential,
    origin: settings.storageOrigin,
    bucket: settings.bucket,
    now: serverTime
  })

  const partHeaders = settings.signPartEncryption ? settings.encryptionHeaders : {}

  const open = (
    declared: Declaration,
    id: string,
    multipart: Upload["multipart"]
  ): Effect.Effect<void> =>
    Effect.gen(function*() {
      uploads.set(id, {
        id,
        key: keyOf(id),
        declared,
        createdAt: yield* serverTime,
        multipart,
        gate: yield* Effect.makeSemaphore(1),
        state: State.Waiting()
      })
    })

  const forget = (upload: Upload) => {
    uploads.delete(upload.id)
    return Effect.ignore(
      upload.multipart === undefined
        ? store.remove(upload.key)
        : store.abortUpload(upload.key, upload.multipart.uploadId)
    )
  }

  const find = (fileId: string) =>
    Effect.gen(function*() {
      const upload = uploads.get(fileId)
      const now = yield* serverTime
      if (upload === undefined) {
        return yield* ServiceRefused.notFound("This file")
      }
      if (upload.state._tag !== "Finalized" && now > upload.createdAt + settings.orphanLifetimeMillis) {
        yield* forget(upload)
        return yield* ServiceRefused.notFound("This file")
      }
      return upload
    })

  const findFinalized = (fileId: string) =>
    Effect.filterOrFail(
      find(fileId),
      (upload) => upload.state._tag === "Finalized",
      () => ServiceRefused.notFound("This file")
    )

  const record = (upload: Upload) => Effect.map(serverTime, (now) => toRecord(upload, settings, now))

  const checkSize = (upload: Upload, object: ObjectStore.StoredObject) =>
    Effect.suspend(() => {
      if (object.size === upload.declared.size) {
        return Effect.void
      }
      const reason = `${object.size} bytes are stored, ${upload.declared.size} were declared`
      upload.state = State.Failed({ reason })
      return Effect.zipRight(
        Effect.ignore(store.remove(upload.key)),
        ServiceRefused.make(422, "UnprocessableContent", { message: reason, path: "size" })
      )
    })

  // finished whether or not the client waits: the service has the request, so a lost connection changes nothing
  const finalize = (
    upload: Upload,
    stored: Effect.Effect<ObjectStore.StoredObject, ServiceRefused.ServiceRefused>
  ): Effect.Effect<FileRecord, ServiceRefused.ServiceRefused> =>
    Effect.suspend(() =>
      State.$match(upload.state, {
        Finalized: () => record(upload),
        Failed: ({ reason }) => Effect.fail(ServiceRefused.make(409, "Conflict", { message: reason })),
        Waiting: () =>
          Effect.gen(function*() {
            yield* checkSize(upload, yield* stored)
            upload.state = State.Finalized({ at: yield* serverTime })
            return yield* record(upload)
          })
      })
    ).pipe(upload.gate.withPermits(1), Effect.uninterruptible)

  const refusedByStore = (refusal: StorageRefused.StorageRefused) =>
    ServiceRefused.make(502, "BadGateway", { message: `The storage answered ${refusal.code}: ${refusal.reason}` })

  const wrongKind = ServiceRefused.make(400, "InvalidOperation", { message: "The upload is of the other kind" })

  return {
    initiate: (declared) =>
      Effect.gen(function*() {
        const fileId = yield* Identifiers.recordId
        const contentType = settings.signContentType && declared.type !== undefined
          ? { "content-type": declared.type }
          : {}
        const uploadUrl = yield* sign({
          method: "PUT",
          key: keyOf(fileId),
          headers: { ...settings.encryptionHeaders, ...contentType },
          expiresIn: Math.round(settings.singleUrlLifetimeMillis / 1000)
        })
        yield* open(declared, fileId, undefined)
        return { fileId, uploadUrl }
      }),
    initiateLarge: (declared, wished) =>
      Effect.gen(function*() {
        const parts = wished ?? chooseParts(declared.size, settings)
        if (parts > declared.size) {
          return yield* ServiceRefused.invalid("parts", `${parts} parts of ${declared.size} bytes: some would be empty`)
        }
        const fileId = yield* Identifiers.recordId
        const key = keyOf(fileId)
        const uploadId = yield* store.createUpload(key, { contentType: declared.type })
        const urls = yield* Effect.forEach(Array.from({ length: parts }, (_, index) => index + 1), (partNumber) =>
          sign({
            method: "PUT",
            key,
            part: { uploadId, partNumber },
            headers: partHeaders,
            expiresIn: Math.round(settings.urlLifetimeMillis / 1000)
          }))
        yield* open(declared, fileId, { uploadId, parts })
        return { fileId, uploadId, urls }
      }),
    complete: (fileId) =>
      Effect.flatMap(find(fileId), (upload) =>
        upload.multipart !== undefined ? Effect.fail(wrongKind) : finalize(
          upload,
          Effect.mapError(store.head(upload.key), (refusal) =>
            refusal.code === "NoSuchKey"
              ? ServiceRefused.make(400, "InvalidOperation", { message: "No bytes were stored for this upload" })
              : refusedByStore(refusal))
        )),
    completeLarge: (fileId, uploadId, parts) =>
      Effect.flatMap(find(fileId), (upload) => {
        if (upload.multipart === undefined) {
          return Effect.fail(wrongKind)
        }
        const completed = store.completeUpload(upload.key, uploadId, parts).pipe(
          // no other upload has this key: if there is an object, an earlier request completed it and its answer was lost
          Effect.catchIf(
            ({ code }) => code === "NoSuchUpload",
            (refusal) => Effect.mapError(store.head(upload.key), () => refusal)
          ),
          Effect.mapError(refusedByStore)
        )
        return upload.multipart.uploadId === uploadId
          ? finalize(upload, completed)
          : Effect.fail(ServiceRefused.invalid("upload_id", "This is not the upload's id"))
      }),
    file: (fileId) => Effect.flatMap(findFinalized(fileId), record),
    files: Effect.map(serverTime, (now) =>
      [...uploads.values()]
        .filter(({ state }) => state._tag === "Finalized")
        .map((upload) => toRecord(upload, settings, now))),
    progress: (fileId) =>
      Effect.gen(function*() {
        const upload = uploads.get(fileId)
        if (upload === undefined || upload.state._tag !== "Waiting") {
          return undefined
        }
        if (upload.multipart === undefined) {
          const stored = yield* Effect.isSuccess(store.head(upload.key))
          return { stored: stored ? 1 : 0, expected: 1 }
        }
        const parts = yield* Effect.orElseSucceed(store.parts(upload.key, upload.multipart.uploadId), () => [])
        return { stored: parts.length, expected: upload.multipart.parts }
      }),
    downloadUrl: (fileId) =>
      Effect.flatMap(findFinalized(fileId), (upload) =>
        sign({
          method: "GET",
          key: upload.key,
          headers: {},
          expiresIn: Math.round(settings.downloadLifetimeMillis / 1000)
        }))
  }
}
