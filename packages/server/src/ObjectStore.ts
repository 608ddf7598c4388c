/**
 * The object store behind the sandbox's storage: whole objects, multipart uploads, ranged reads.
 *
 * The port says what a store does, not what a request for it looks like. A store that signs and serves its own URLs (a
 * real S3) says so with `presign`, and the sandbox then hands out that store's URLs instead of signing its own.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type * as BlobStore from "./BlobStore.js"
import * as Identifiers from "./Identifiers.js"
import * as Readers from "./internal/readers.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * What a store knows about an object. `size` is in bytes, `lastModified` in milliseconds of the Unix epoch, and `etag`
 * as sent on the wire, including the quotes.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoredObject {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly contentType: string | undefined
  readonly lastModified: number
  /** Which version it is, where the store keeps all that were stored under one key. */
  readonly versionId?: string | undefined
}

/**
 * A part that a multipart upload currently holds. `size` is in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoredPart {
  readonly partNumber: number
  readonly etag: string
  readonly size: number
}

/**
 * What a pre-signed URL is needed for. `headers` are those that the client must send and that the signature covers;
 * `query` is sent besides, such as `response-content-disposition`; `expiresIn` is in seconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface PresignRequest {
  readonly method: "GET" | "PUT"
  readonly key: string
  readonly part?: { readonly uploadId: string; readonly partNumber: number } | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly expiresIn: number
}

/**
 * The query of the URL, without its signature.
 *
 * @since 0.1.0
 * @category combinators
 */
export const queryOf = ({ part, query }: PresignRequest): Readonly<Record<string, string>> => ({
  ...query,
  ...(part === undefined ? {} : { partNumber: String(part.partNumber), uploadId: part.uploadId })
})

/**
 * Which of the objects that were stored under a key is meant: one that has become another meanwhile is refused with
 * `PreconditionFailed`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Which {
  readonly versionId?: string | undefined
  readonly etag?: string | undefined
}

/**
 * What an object store does. Every refusal carries S3's code and status for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ObjectStoreService {
  /** Stores a whole object, all or nothing. */
  readonly put: <E, R>(
    key: string,
    body: Stream.Stream<Uint8Array, E, R>,
    options?: { readonly contentType?: string | undefined }
  ) => Effect.Effect<StoredObject, E | StorageRefused.StorageRefused, R>
  /** Opens a multipart upload and returns its id. */
  readonly createUpload: (
    key: string,
    options?: { readonly contentType?: string | undefined }
  ) => Effect.Effect<string, StorageRefused.StorageRefused>
  /** Stores one part, all or nothing. The last write of a part number wins. */
  readonly putPart: <E, R>(
    key: string,
    uploadId: string,
    partNumber: number,
    body: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<StoredPart, E | StorageRefused.StorageRefused, R>
  /** The parts that an upload holds, in ascending order. */
  readonly parts: (
    key: string,
    uploadId: string
  ) => Effect.Effect<ReadonlyArray<StoredPart>, StorageRefused.StorageRefused>
  /**
   * Combines the listed parts into one object. Fails with `InvalidPart`, `InvalidPartOrder` or `EntityTooSmall` if they
   * do not fit.
   */
  readonly completeUpload: (
    key: string,
    uploadId: string,
    parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>
  ) => Effect.Effect<StoredObject, StorageRefused.StorageRefused>
  /** Drops an upload and its parts. A missing upload is not an error. */
  readonly abortUpload: (key: string, uploadId: string) => Effect.Effect<void, StorageRefused.StorageRefused>
  /** The ids of a key's uploads that are neither completed nor aborted. */
  readonly opened: (key: string) => Effect.Effect<ReadonlyArray<string>, StorageRefused.StorageRefused>
  /** What is stored under a key, or a version of it. */
  readonly head: (
    key: string,
    which?: Pick<Which, "versionId">
  ) => Effect.Effect<StoredObject, StorageRefused.StorageRefused>
  /** `length` bytes from `offset`; without a range, the whole object. One that is replaced meanwhile is read to its end. */
  readonly get: (
    key: string,
    range?: { readonly offset: number; readonly length: number },
    which?: Which
  ) => Stream.Stream<Uint8Array, StorageRefused.StorageRefused>
  /** Removes an object, with all its versions. A missing object is not an error. */
  readonly remove: (key: string) => Effect.Effect<void, StorageRefused.StorageRefused>
  /** Provided by a store that signs and serves its own URLs; without it, the sandbox does both. */
  readonly presign?: ((request: PresignRequest) => Effect.Effect<string, StorageRefused.StorageRefused>) | undefined
  /** Succeeds where the store can be used now. Without it, a store that answers `head` can. */
  readonly ready?: Effect.Effect<void, StorageRefused.StorageRefused> | undefined
  /** What the URL of a single PUT signs besides, so that it can never replace an object. Defaults to nothing. */
  readonly putHeaders?: Readonly<Record<string, string>> | undefined
}

/**
 * The service tag of the object store behind a sandbox.
 *
 * @since 0.1.0
 * @category tags
 */
export class ObjectStore extends Context.Tag("@stevedore/server/ObjectStore")<ObjectStore, ObjectStoreService>() {}

/**
 * The minimum size of every part but the last, in bytes: 5 MiB. Storage reports it only when the upload is completed.
 *
 * @since 0.1.0
 * @category constants
 */
export const MINIMUM_PART_BYTES = 5 * 1024 * 1024

/**
 * The options of a store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** In bytes. Defaults to {@link MINIMUM_PART_BYTES}; a smaller one lets a test send parts of a few bytes. */
  readonly minimumPartSize?: number | undefined
}

/**
 * The stored parts that a list of part numbers and etags names, or S3's refusal of that list: not ascending
 * (`InvalidPartOrder`), unknown or with another etag (`InvalidPart`), too small and not the last (`EntityTooSmall`).
 * Etags are compared verbatim, including the quotes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const selectParts = <P extends StoredPart>(
  stored: ReadonlyMap<number, P>,
  listed: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>,
  minimumPartSize: number
): Either.Either<ReadonlyArray<P>, StorageRefused.StorageRefused> => {
  const selected: Array<P> = []
  let previous = 0
  for (const { etag, partNumber } of listed) {
    if (partNumber <= previous) {
      return Either.left(StorageRefused.make("InvalidPartOrder"))
    }
    previous = partNumber
    const part = stored.get(partNumber)
    if (part === undefined || part.etag !== etag) {
      return Either.left(StorageRefused.make("InvalidPart", { details: { PartNumber: String(partNumber) } }))
    }
    selected.push(part)
  }
  if (selected.length === 0) {
    return Either.left(StorageRefused.make("MalformedXML"))
  }
  const small = selected.slice(0, -1).find((part) => part.size < minimumPartSize)
  return small === undefined ? Either.right(selected) : Either.left(StorageRefused.make("EntityTooSmall", {
    details: {
      ProposedSize: String(small.size),
      MinSizeAllowed: String(minimumPartSize),
      PartNumber: String(small.partNumber)
    }
  }))
}

/**
 * A part, and its bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface HeldPart extends StoredPart {
  readonly blob: BlobStore.Blob
}

/**
 * A multipart upload that is neither completed nor aborted.
 *
 * @since 0.1.0
 * @category models
 */
export interface HeldUpload {
  readonly key: string
  readonly contentType: string | undefined
  readonly parts: Map<number, HeldPart>
}

/**
 * An object, and its bytes in their order.
 *
 * @since 0.1.0
 * @category models
 */
export interface HeldObject extends StoredObject {
  readonly blobs: ReadonlyArray<BlobStore.Blob>
}

/**
 * What a store wants to be kept beyond the process. Each is on the disk when its effect succeeds, and before anybody is
 * told. `objects` and `uploads` are what an earlier process has left.
 *
 * @since 0.1.0
 * @category models
 */
export interface Journal {
  readonly objects: ReadonlyMap<string, HeldObject>
  readonly uploads: ReadonlyMap<string, HeldUpload>
  readonly objectStored: (object: HeldObject) => Effect.Effect<void, StorageRefused.StorageRefused>
  readonly objectGone: (key: string) => Effect.Effect<void, StorageRefused.StorageRefused>
  readonly uploadOpened: (uploadId: string, upload: HeldUpload) => Effect.Effect<void, StorageRefused.StorageRefused>
  readonly partStored: (uploadId: string, part: HeldPart) => Effect.Effect<void, StorageRefused.StorageRefused>
  readonly uploadGone: (uploadId: string) => Effect.Effect<void, StorageRefused.StorageRefused>
}

const forgetful: Journal = {
  objects: new Map(),
  uploads: new Map(),
  objectStored: () => Effect.void,
  objectGone: () => Effect.void,
  uploadOpened: () => Effect.void,
  partStored: () => Effect.void,
  uploadGone: () => Effect.void
}

const readBlobs = (blobs: ReadonlyArray<BlobStore.Blob>, offset: number, length: number) => {
  const pieces: Array<Stream.Stream<Uint8Array, StorageRefused.StorageRefused>> = []
  let position = 0
  for (const blob of blobs) {
    const from = Math.max(offset - position, 0)
    const to = Math.min(offset + length - position, blob.size)
    if (from < to) {
      pieces.push(blob.read(from, to - from))
    }
    position += blob.size
  }
  return Stream.flatten(Stream.fromIterable(pieces))
}

/**
 * An object store over blobs. Completing a multipart upload copies nothing: the object is the list of its parts, so
 * completion takes no time and no space, whatever the size. With a journal, what is stored outlives the process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  blobs: BlobStore.BlobStore,
  options?: Options,
  journal: Journal = forgetful
): ObjectStoreService => {
  const minimumPartSize = options?.minimumPartSize ?? MINIMUM_PART_BYTES
  const objects = new Map(journal.objects)
  const uploads = new Map(journal.uploads)
  // the journal and what is here change together
  const changing = Effect.unsafeMakeSemaphore(1)
  const change = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.uninterruptible(changing.withPermits(1)(effect))

  const findUpload = (key: string, uploadId: string) =>
    Effect.suspend(() => {
      const upload = uploads.get(uploadId)
      return upload === undefined || upload.key !== key
        ? Effect.fail(StorageRefused.make("NoSuchUpload", { details: { UploadId: uploadId } }))
        : Effect.succeed(upload)
    })

  const findObject = (key: string) =>
    Effect.suspend(() => {
      const object = objects.get(key)
      return object === undefined
        ? Effect.fail(StorageRefused.make("NoSuchKey", { details: { Key: key } }))
        : Effect.succeed(object)
    })

  const { reading, release } = Readers.make<HeldObject>(
    (object) => objects.get(object.key) === object,
    ({ blobs }) => Effect.forEach(blobs, (blob) => blob.remove, { discard: true })
  )

  const store = (object: HeldObject) =>
    Effect.flatMap(journal.objectStored(object), () => {
      const before = objects.get(object.key)
      objects.set(object.key, object)
      return before === undefined ? Effect.void : release(before)
    })

  return {
    put: (key, body, options) =>
      Effect.gen(function*() {
        const blob = yield* blobs.write(body)
        const object: HeldObject = {
          key,
          size: blob.size,
          etag: yield* Identifiers.etag,
          contentType: options?.contentType,
          lastModified: yield* Clock.currentTimeMillis,
          blobs: [blob]
        }
        yield* change(Effect.tapError(store(object), () => blob.remove))
        return object
      }),
    createUpload: (key, options) =>
      Effect.gen(function*() {
        const uploadId = yield* Identifiers.uploadId
        const upload: HeldUpload = { key, contentType: options?.contentType, parts: new Map() }
        yield* journal.uploadOpened(uploadId, upload)
        uploads.set(uploadId, upload)
        return uploadId
      }).pipe(change),
    putPart: (key, uploadId, partNumber, body) =>
      Effect.gen(function*() {
        yield* findUpload(key, uploadId)
        const blob = yield* blobs.write(body)
        return yield* Effect.gen(function*() {
          // checked again: the upload may have been completed or aborted while the body was arriving
          const upload = yield* findUpload(key, uploadId)
          const before = upload.parts.get(partNumber)
          const part: HeldPart = { partNumber, size: blob.size, etag: yield* Identifiers.etag, blob }
          yield* journal.partStored(uploadId, part)
          upload.parts.set(partNumber, part)
          if (before !== undefined) {
            yield* before.blob.remove
          }
          return part
        }).pipe(Effect.tapError(() => blob.remove), change)
      }),
    parts: (key, uploadId) =>
      Effect.map(
        findUpload(key, uploadId),
        (upload) => [...upload.parts.values()].sort((a, b) => a.partNumber - b.partNumber)
      ),
    completeUpload: (key, uploadId, listed) =>
      Effect.gen(function*() {
        const upload = yield* findUpload(key, uploadId)
        const selected = yield* selectParts(upload.parts, listed, minimumPartSize)
        const digits = (yield* Identifiers.etag).slice(1, -1)
        const object: HeldObject = {
          key,
          size: selected.reduce((size, part) => size + part.size, 0),
          etag: `"${digits}-${selected.length}"`,
          contentType: upload.contentType,
          lastModified: yield* Clock.currentTimeMillis,
          blobs: selected.map((part) => part.blob)
        }
        // the object is there from here on
        yield* store(object)
        uploads.delete(uploadId)
        yield* journal.uploadGone(uploadId)
        const unused = [...upload.parts.values()].filter((part) => !selected.includes(part))
        yield* Effect.forEach(unused, (part) => part.blob.remove, { discard: true })
        return object
      }).pipe(change),
    abortUpload: (key, uploadId) =>
      findUpload(key, uploadId).pipe(
        Effect.matchEffect({
          onFailure: () => Effect.void,
          onSuccess: (upload) =>
            Effect.flatMap(journal.uploadGone(uploadId), () => {
              uploads.delete(uploadId)
              return Effect.forEach(upload.parts.values(), (part) => part.blob.remove, { discard: true })
            })
        }),
        change
      ),
    opened: (key) =>
      Effect.sync(() => [...uploads].filter(([, upload]) => upload.key === key).map(([uploadId]) => uploadId)),
    head: (key) => findObject(key),
    get: (key, range, which) =>
      Stream.unwrapScoped(Effect.map(
        reading(Effect.filterOrFail(
          findObject(key),
          ({ etag }) => which?.etag === undefined || which.etag === etag,
          () => StorageRefused.make("PreconditionFailed", { details: { Condition: "If-Match" } })
        )),
        (object) => readBlobs(object.blobs, range?.offset ?? 0, range?.length ?? object.size)
      )),
    remove: (key) =>
      Effect.suspend(() => {
        const object = objects.get(key)
        return object === undefined ? Effect.void : Effect.flatMap(journal.objectGone(key), () => {
          objects.delete(key)
          return release(object)
        })
      }).pipe(change)
  }
}
