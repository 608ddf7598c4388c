/**
 * The object store behind the sandbox's storage: whole objects, multipart uploads, ranged reads.
 *
 * The port says what a store does, not what a request for it looks like. A store that signs and serves its own URLs (a
 * real S3) says so with `presign`, and the sandbox then hands out that store's URLs instead of signing its own.
 */
import * as Checksum from "@stevedore/core/Checksum"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as BlobStore from "./parts/blobStore.js"
import * as Identifiers from "./parts/identifiers.js"
import * as Readers from "./storage/readers.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * What a store knows about an object. `size` is in bytes, `lastModified` in milliseconds of the Unix epoch, and `etag`
 * as sent on the wire, including the quotes.
 *
 * @category models
 */
export interface StoredObject {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly contentType: string | undefined
  readonly lastModified: number
  /** Of its bytes as they came, where the store knows one. */
  readonly checksum?: Checksum.Checksum | undefined
  /** Which version it is, where the store keeps all that were stored under one key. */
  readonly versionId?: string | undefined
}

/**
 * A part that a multipart upload currently holds. `size` is in bytes.
 *
 * @category models
 */
export interface StoredPart {
  readonly partNumber: number
  readonly etag: string
  readonly size: number
  /** Of its bytes as they came, where the store knows one. */
  readonly checksum?: Checksum.Checksum | undefined
}

/**
 * What a pre-signed URL is needed for. `headers` are those that the client must send and that the signature covers;
 * `query` is sent besides, such as `response-content-disposition`; `expiresIn` is in seconds.
 *
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
 * @category models
 */
export interface Which {
  readonly versionId?: string | undefined
  readonly etag?: string | undefined
}

/**
 * What an object store does. Every refusal carries S3's code and status for it.
 *
 * @category models
 */
export interface ObjectStoreService {
  /** Stores a whole object, all or nothing. Refused with `AccessDenied` where one is sealed when the body has come. */
  readonly put: <E = never, R = never>(
    key: string,
    body: BlobStore.Body<E, R>,
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
  /**
   * What is stored under a key, for good: no PUT that ends afterwards, whenever it began, changes what `get` gives for it.
   * Sealed again, it is the same. Fails with `NoSuchKey` if nothing is stored yet, which seals nothing.
   */
  readonly seal: (key: string) => Effect.Effect<StoredObject, StorageRefused.StorageRefused>
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
  /** The keys of what cannot be read, as far as is known. Defaults to none. */
  readonly unreadable?: Effect.Effect<ReadonlyArray<string>> | undefined
  /** The keys of all objects below `files/`, in no order. Without it, nobody can tell what no row names. */
  readonly keys?: Stream.Stream<string, StorageRefused.StorageRefused> | undefined
  /** How many bytes may still be stored. Defaults to any number. */
  readonly room?: Effect.Effect<number, StorageRefused.StorageRefused> | undefined
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
 * @category tags
 */
export class ObjectStore extends Context.Tag("@stevedore/server/ObjectStore")<ObjectStore, ObjectStoreService>() {}

/**
 * The minimum size of every part but the last, in bytes: 5 MiB. Storage reports it only when the upload is completed.
 *
 * @category constants
 */
export const MINIMUM_PART_BYTES = 5 * 1024 * 1024

/**
 * The options of a store.
 *
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
 * @category models
 */
export interface HeldPart extends StoredPart {
  readonly blob: BlobStore.Blob
}

/**
 * A multipart upload that is neither completed nor aborted.
 *
 * @category models
 */
export interface HeldUpload {
  readonly key: string
  readonly contentType: string | undefined
}

/**
 * An object, and its bytes in their order. One that is sealed is never replaced.
 *
 * @category models
 */
export interface HeldObject extends StoredObject {
  readonly blobs: ReadonlyArray<BlobStore.Blob>
  readonly isSealed: boolean
}

/**
 * What a store knows of its objects and uploads. Each change is one step: it has happened as a whole, for good, when its effect
 * succeeds, and not at all if it fails. One change at a time is asked for.
 *
 * @category models
 */
export interface ObjectIndex {
  readonly object: (key: string) => Effect.Effect<Option.Option<HeldObject>, StorageRefused.StorageRefused>
  /**
   * If there is none of its key; else it changes nothing, and answers false. The upload that it is made of, if any, ends with it.
   * It has happened for good only after `lasting`.
   */
  readonly add: (object: HeldObject, uploadId?: string) => Effect.Effect<boolean, StorageRefused.StorageRefused>
  /** What was added before is there for good. It may be waited for by many at once, in one wait. */
  readonly lasting: Effect.Effect<void, StorageRefused.StorageRefused>
  /** In place of the one before. The upload that it is made of, if any, ends in the same step. */
  readonly store: (object: HeldObject, uploadId?: string) => Effect.Effect<void, StorageRefused.StorageRefused>
  /** What is sealed then; none if nothing is stored. */
  readonly seal: (key: string) => Effect.Effect<Option.Option<HeldObject>, StorageRefused.StorageRefused>
  readonly remove: (key: string) => Effect.Effect<void, StorageRefused.StorageRefused>
  readonly upload: (uploadId: string) => Effect.Effect<Option.Option<HeldUpload>, StorageRefused.StorageRefused>
  readonly uploads: (key: string) => Effect.Effect<ReadonlyArray<string>, StorageRefused.StorageRefused>
  readonly open: (uploadId: string, upload: HeldUpload) => Effect.Effect<void, StorageRefused.StorageRefused>
  /** The parts of an upload, or the one of a number. */
  readonly parts: (
    uploadId: string,
    partNumber?: number
  ) => Effect.Effect<ReadonlyArray<HeldPart>, StorageRefused.StorageRefused>
  /** In place of the one with its number. */
  readonly storePart: (uploadId: string, part: HeldPart) => Effect.Effect<void, StorageRefused.StorageRefused>
  /** Ends an upload that is not completed. */
  readonly abort: (uploadId: string) => Effect.Effect<void, StorageRefused.StorageRefused>
}

const indexInMemory = (): ObjectIndex => {
  const objects = new Map<string, HeldObject>()
  const uploads = new Map<string, HeldUpload & { readonly parts: Map<number, HeldPart> }>()
  const store = (object: HeldObject, uploadId: string | undefined) => {
    objects.set(object.key, object)
    if (uploadId !== undefined) uploads.delete(uploadId)
  }
  return {
    object: (key) => Effect.sync(() => Option.fromNullable(objects.get(key))),
    add: (object, uploadId) =>
      Effect.sync(() => {
        if (objects.has(object.key)) return false
        store(object, uploadId)
        return true
      }),
    lasting: Effect.void,
    store: (object, uploadId) => Effect.sync(() => store(object, uploadId)),
    seal: (key) =>
      Effect.sync(() => {
        const object = objects.get(key)
        if (object === undefined) return Option.none()
        const sealed = { ...object, isSealed: true }
        objects.set(key, sealed)
        return Option.some(sealed)
      }),
    remove: (key) => Effect.sync(() => void objects.delete(key)),
    upload: (uploadId) => Effect.sync(() => Option.fromNullable(uploads.get(uploadId))),
    uploads: (key) =>
      Effect.sync(() => [...uploads].filter(([, upload]) => upload.key === key).map(([uploadId]) => uploadId)),
    open: (uploadId, upload) => Effect.sync(() => void uploads.set(uploadId, { ...upload, parts: new Map() })),
    parts: (uploadId, partNumber) =>
      Effect.sync(() => {
        const parts = uploads.get(uploadId)?.parts
        return partNumber === undefined ? [...parts?.values() ?? []] : Option.toArray(
          Option.fromNullable(parts?.get(partNumber))
        )
      }),
    storePart: (uploadId, part) => Effect.sync(() => void uploads.get(uploadId)?.parts.set(part.partNumber, part)),
    abort: (uploadId) => Effect.sync(() => void uploads.delete(uploadId))
  }
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

const isOver = () => StorageRefused.make("AccessDenied", { reason: "The upload is over" })

const removeAll = (blobs: Iterable<BlobStore.Blob>) => Effect.forEach(blobs, (blob) => blob.remove, { discard: true })

interface State {
  readonly blobs: BlobStore.BlobStore
  readonly index: ObjectIndex
  readonly minimumPartSize: number
  readonly readers: Readers.Readers<HeldObject>
  /** Nothing else changes what is found before it is changed. */
  readonly unchanged: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const change = <A, E, R>({ unchanged }: State, effect: Effect.Effect<A, E, R>) =>
  Effect.uninterruptible(unchanged(effect))

const orNoSuchKey = <E, R>(key: string, found: Effect.Effect<Option.Option<HeldObject>, E, R>) =>
  Effect.flatMap(
    found,
    Option.match({
      onNone: () => StorageRefused.make("NoSuchKey", { details: { Key: key } }),
      onSome: Effect.succeed
    })
  )

const findUpload = ({ index }: State, key: string, uploadId: string) =>
  Effect.filterOrFail(
    Effect.map(index.upload(uploadId), Option.getOrUndefined),
    (upload): upload is HeldUpload => upload?.key === key,
    () => StorageRefused.make("NoSuchUpload", { details: { UploadId: uploadId } })
  )

/** In place of the one before, unless that is sealed: the condition of a write is looked at in the step that makes it count. */
const replace = ({ index, readers }: State, object: HeldObject, uploadId?: string) =>
  Effect.gen(function*() {
    if (yield* index.add(object, uploadId)) return
    const before = yield* index.object(object.key)
    if (Option.exists(before, ({ isSealed }) => isSealed)) return yield* isOver()
    yield* index.store(object, uploadId)
    if (Option.isSome(before)) yield* readers.release(before.value)
  })

const putPart = (state: State): ObjectStoreService["putPart"] => (key, uploadId, partNumber, body) =>
  Effect.gen(function*() {
    const { blobs, index } = state
    yield* findUpload(state, key, uploadId)
    const blob = yield* blobs.write(body)
    return yield* change(
      state,
      Effect.gen(function*() {
        // looked at again: the upload may have been completed or aborted while the body was arriving
        yield* findUpload(state, key, uploadId)
        const before = yield* index.parts(uploadId, partNumber)
        const { checksum, size } = blob
        const part: HeldPart = { partNumber, size, checksum, etag: yield* Identifiers.etag, blob }
        yield* index.storePart(uploadId, part)
        yield* removeAll(before.map(({ blob }) => blob))
        return part
      }).pipe(Effect.tapError(() => blob.remove))
    )
  })

const completeUpload = (state: State): ObjectStoreService["completeUpload"] => (key, uploadId, listed) =>
  Effect.gen(function*() {
    const upload = yield* findUpload(state, key, uploadId)
    const parts = yield* state.index.parts(uploadId)
    const held = new Map(parts.map((part) => [part.partNumber, part]))
    const selected = yield* selectParts(held, listed, state.minimumPartSize)
    const digits = (yield* Identifiers.etag).slice(1, -1)
    const object: HeldObject = {
      key,
      size: selected.reduce((size, part) => size + part.size, 0),
      etag: `"${digits}-${selected.length}"`,
      contentType: upload.contentType,
      lastModified: yield* Clock.currentTimeMillis,
      checksum: Option.getOrUndefined(
        Checksum.combineAll(Checksum.crc32, selected.map(({ checksum, size }) => ({ checksum: checksum?.value, size })))
      ),
      blobs: selected.map((part) => part.blob),
      isSealed: false
    }
    yield* replace(state, object, uploadId)
    // before what it does not use goes
    yield* state.index.lasting
    const used = new Set(object.blobs)
    yield* removeAll(parts.map(({ blob }) => blob).filter((blob) => !used.has(blob)))
    return object
  }).pipe((completed) => change(state, completed))

const multipart = (
  state: State
): Pick<
  ObjectStoreService,
  "abortUpload" | "completeUpload" | "createUpload" | "opened" | "parts" | "putPart"
> => ({
  createUpload: (key, options) =>
    Effect.gen(function*() {
      const uploadId = yield* Identifiers.uploadId
      yield* state.index.open(uploadId, { key, contentType: options?.contentType })
      return uploadId
    }).pipe((opened) => change(state, opened)),
  putPart: putPart(state),
  parts: (key, uploadId) =>
    Effect.zipRight(
      findUpload(state, key, uploadId),
      Effect.map(state.index.parts(uploadId), (parts) => [...parts].sort((a, b) => a.partNumber - b.partNumber))
    ),
  completeUpload: completeUpload(state),
  abortUpload: (key, uploadId) =>
    Effect.gen(function*() {
      const upload = yield* state.index.upload(uploadId)
      if (!Option.exists(upload, (one) => one.key === key)) return
      const parts = yield* state.index.parts(uploadId)
      yield* state.index.abort(uploadId)
      yield* removeAll(parts.map(({ blob }) => blob))
    }).pipe((aborted) => change(state, aborted)),
  opened: state.index.uploads
})

/**
 * An object store over blobs. Completing a multipart upload copies nothing: the object is the list of its parts, so
 * completion takes no time and no space, whatever the size. What it knows of them is in memory unless an index is given.
 *
 * @category constructors
 */
export const make = (
  blobs: BlobStore.BlobStore,
  options?: Options,
  index: ObjectIndex = indexInMemory()
): ObjectStoreService => {
  const readers = Readers.make<HeldObject>(({ etag }) => etag, ({ blobs }) => removeAll(blobs))
  const state: State = {
    blobs,
    index,
    minimumPartSize: options?.minimumPartSize ?? MINIMUM_PART_BYTES,
    readers,
    unchanged: Effect.unsafeMakeSemaphore(1).withPermits(1)
  }
  const findObject = (key: string) => orNoSuchKey(key, index.object(key))
  return {
    ...multipart(state),
    put: (key, body, options) =>
      Effect.gen(function*() {
        const blob = yield* blobs.write(body)
        const object: HeldObject = {
          key,
          size: blob.size,
          etag: yield* Identifiers.etag,
          contentType: options?.contentType,
          lastModified: yield* Clock.currentTimeMillis,
          checksum: blob.checksum,
          blobs: [blob],
          isSealed: false
        }
        yield* change(state, Effect.tapError(replace(state, object), () => blob.remove))
        // not in turn: all that have come meanwhile wait for the disk at once
        yield* index.lasting
        return object
      }),
    seal: (key) => change(state, orNoSuchKey(key, index.seal(key))),
    head: (key) =>
      Effect.tap(
        findObject(key),
        ({ blobs }) => Effect.forEach(blobs, (blob) => blob.check ?? Effect.void, { discard: true, concurrency: 16 })
      ),
    get: (key, range, which) =>
      Stream.unwrapScoped(Effect.map(
        // nothing is freed between its being found and its being read
        state.unchanged(readers.reading(Effect.filterOrFail(
          findObject(key),
          ({ etag }) => which?.etag === undefined || which.etag === etag,
          () => StorageRefused.make("PreconditionFailed", { details: { Condition: "If-Match" } })
        ))),
        (object) => readBlobs(object.blobs, range?.offset ?? 0, range?.length ?? object.size)
      )),
    remove: (key) =>
      Effect.gen(function*() {
        // what cannot be read can be removed all the same
        const object = yield* Effect.catchIf(
          index.object(key),
          ({ code }) => code === "ObjectUnreadable",
          () => Effect.succeedNone
        )
        yield* index.remove(key)
        if (Option.isSome(object)) yield* readers.release(object.value)
      }).pipe((removed) => change(state, removed))
  }
}
