import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as BlobStore from "../BlobStore.js"
import type { HeldObject, HeldPart, HeldUpload, Journal } from "../ObjectStore.js"
import * as StorageRefused from "../StorageRefused.js"

const KeptBlob = Schema.Struct({ name: Schema.String, size: Schema.Number })

const KeptObject = Schema.parseJson(Schema.Struct({
  key: Schema.String,
  size: Schema.Number,
  etag: Schema.String,
  contentType: Schema.UndefinedOr(Schema.String).pipe(Schema.optional),
  lastModified: Schema.Number,
  blobs: Schema.Array(KeptBlob)
}))

const KeptUpload = Schema.parseJson(Schema.Struct({ key: Schema.String, contentType: Schema.optional(Schema.String) }))

const KeptPart = Schema.parseJson(Schema.Struct({
  partNumber: Schema.Int,
  etag: Schema.String,
  blob: KeptBlob
}))

const failed = () => StorageRefused.make("InternalError")

const blobOf = ({ name, size }: BlobStore.Blob) => ({ name: name ?? "", size })

const UPLOAD = "upload.json"

/**
 * A journal in a directory, made if it is missing: a file for each object in `objects`, a folder for each upload in
 * `uploads`, with a file for each of its parts. A file is written beside its place and moved there, so it is whole or not
 * there at all. Blobs that nothing names any more are removed at the start.
 */
export const make = (
  directory: string,
  blobs: BlobStore.KeptBlobs
): Effect.Effect<Journal, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const objectFolder = path.join(directory, "objects")
    const uploadFolder = path.join(directory, "uploads")

    // the name of what was moved is itself on the disk only then; not every system lets a directory be opened
    const syncFolder = (folder: string) =>
      Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (file) => file.sync)))

    const write = (folder: string, name: string, text: string) =>
      Effect.scoped(Effect.gen(function*() {
        const place = path.join(folder, name)
        const beside = `${place}.new`
        yield* Effect.scoped(Effect.gen(function*() {
          const file = yield* fs.open(beside, { flag: "w" })
          yield* file.writeAll(new TextEncoder().encode(text))
          yield* file.sync
        }))
        yield* fs.rename(beside, place)
        yield* syncFolder(folder)
      })).pipe(Effect.mapError(failed))

    const readAll = <A>(folder: string, schema: Schema.Schema<A, string>) =>
      fs.readDirectory(folder).pipe(
        Effect.flatMap((names) =>
          Effect.forEach(
            names.filter((name) => name.endsWith(".json") && name !== UPLOAD),
            (name) => Effect.flatMap(fs.readFileString(path.join(folder, name)), Schema.decode(schema))
          )
        ),
        Effect.mapError(failed)
      )

    // no key of the service is longer than a name may be
    const objectFile = (key: string) => `${encodeURIComponent(key)}.json`

    yield* Effect.mapError(
      Effect.forEach([objectFolder, uploadFolder], (folder) => fs.makeDirectory(folder, { recursive: true })),
      failed
    )

    const objects = new Map(
      (yield* readAll(objectFolder, KeptObject)).map((kept): readonly [string, HeldObject] => [kept.key, {
        ...kept,
        contentType: kept.contentType,
        blobs: kept.blobs.map(({ name, size }) => blobs.open(name, size))
      }])
    )
    const stored = new Set([...objects.values()].flatMap((object) => object.blobs.map(({ name }) => name)))

    const uploads = new Map<string, HeldUpload>()
    for (const uploadId of yield* Effect.mapError(fs.readDirectory(uploadFolder), failed)) {
      const folder = path.join(uploadFolder, uploadId)
      const upload = yield* Effect.option(
        Effect.flatMap(fs.readFileString(path.join(folder, UPLOAD)), Schema.decode(KeptUpload))
      )
      const parts = yield* readAll(folder, KeptPart)
      // one whose parts are an object was completed: only its end is missing
      if (Option.isNone(upload) || parts.some(({ blob }) => stored.has(blob.name))) {
        yield* Effect.mapError(fs.remove(folder, { recursive: true }), failed)
        continue
      }
      uploads.set(uploadId, {
        key: upload.value.key,
        contentType: upload.value.contentType,
        parts: new Map(parts.map(({ blob, etag, partNumber }): readonly [number, HeldPart] => [
          partNumber,
          { partNumber, etag, size: blob.size, blob: blobs.open(blob.name, blob.size) }
        ]))
      })
    }
    const waiting = [...uploads.values()].flatMap((upload) => [...upload.parts.values()].map(({ blob }) => blob.name))
    yield* blobs.retain(new Set([...stored, ...waiting].filter((name) => name !== undefined)))

    return {
      objects,
      uploads,
      objectStored: (object) =>
        write(
          objectFolder,
          objectFile(object.key),
          Schema.encodeSync(KeptObject)({ ...object, blobs: object.blobs.map(blobOf) })
        ),
      objectGone: (key) =>
        fs.remove(path.join(objectFolder, objectFile(key)), { force: true }).pipe(
          Effect.zipRight(syncFolder(objectFolder)),
          Effect.mapError(failed)
        ),
      uploadOpened: (uploadId, { contentType, key }) =>
        fs.makeDirectory(path.join(uploadFolder, uploadId)).pipe(
          Effect.mapError(failed),
          Effect.zipRight(
            write(
              path.join(uploadFolder, uploadId),
              UPLOAD,
              Schema.encodeSync(KeptUpload)({ key, ...(contentType === undefined ? {} : { contentType }) })
            )
          ),
          Effect.zipRight(syncFolder(uploadFolder))
        ),
      partStored: (uploadId, { blob, etag, partNumber }) =>
        write(
          path.join(uploadFolder, uploadId),
          `${partNumber}.json`,
          Schema.encodeSync(KeptPart)({ partNumber, etag, blob: blobOf(blob) })
        ),
      uploadGone: (uploadId) =>
        Effect.mapError(fs.remove(path.join(uploadFolder, uploadId), { recursive: true, force: true }), failed)
    }
  })
