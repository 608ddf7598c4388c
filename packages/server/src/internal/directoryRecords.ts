/**
 * What an earlier version kept in files of a store's directory: a file for each object in `objects`, a folder for each upload
 * in `uploads`, with a file for each of its parts. It is taken over into the index once, and the files are left as they are.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

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

const KeptPart = Schema.parseJson(Schema.Struct({ partNumber: Schema.Int, etag: Schema.String, blob: KeptBlob }))

const UPLOAD = "upload.json"
const READ_AT_ONCE = 16
const WRITTEN_AT_ONCE = 1000

const keyIn = (file: string): Option.Option<string> =>
  Option.filter(
    Option.liftThrowable(decodeURIComponent)(file.slice(0, -".json".length)),
    (key) => key.includes("/")
  )

export const takeOver = (sql: SqlClient.SqlClient, directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const objectFolder = join(directory, "objects")
    const uploadFolder = join(directory, "uploads")

    const namesIn = (folder: string) =>
      Effect.flatMap(fs.exists(folder), (isThere) => isThere ? fs.readDirectory(folder) : Effect.succeed([]))
    const readAs = <A>(file: string, schema: Schema.Schema<A, string>) =>
      Effect.flatMap(fs.readFileString(file), Schema.decode(schema)).pipe(
        Effect.tapError((error) => Effect.logError(`The record ${file} cannot be read`, error)),
        Effect.option
      )
    const insert = (rows: ReadonlyArray<unknown>, statement: (list: string) => Effect.Effect<unknown, unknown>) =>
      Effect.forEach(Arr.chunksOf(rows, WRITTEN_AT_ONCE), (some) => statement(JSON.stringify(some)), { discard: true })

    const files = (yield* namesIn(objectFolder)).filter((name) => name.endsWith(".json"))
    const found = yield* Effect.forEach(
      files,
      (name) => Effect.map(readAs(join(objectFolder, name), KeptObject), (object) => ({ name, object })),
      { concurrency: READ_AT_ONCE }
    )
    const objects = Arr.filterMap(found, ({ object }) => object)
    // one that cannot be read costs itself: its record says so
    const broken = Arr.filterMap(found, ({ name, object }) =>
      Option.isSome(object)
        ? Option.none()
        : Option.map(keyIn(name), (key) => ({ key, problem: `${name} cannot be read` })))
    yield* insert(
      objects.map(({ blobs, ...object }) => ({ ...object, blobs: JSON.stringify(blobs) })),
      (list) =>
        sql`insert into stevedore_object (key, size, etag, content_type, last_modified, blobs)
          select value ->> 'key', value ->> 'size', value ->> 'etag', value ->> 'contentType', value ->> 'lastModified',
            value ->> 'blobs' from json_each(${list})`
    )
    yield* insert(
      broken,
      (list) =>
        sql`insert into stevedore_object (key, size, etag, last_modified, blobs, problem)
          select value ->> 'key', 0, '', 0, '[]', value ->> 'problem' from json_each(${list}) where true
          on conflict (key) do nothing`
    )

    const stored = new Set(objects.flatMap(({ blobs }) => blobs.map(({ name }) => name)))
    for (const uploadId of yield* namesIn(uploadFolder)) {
      const folder = join(uploadFolder, uploadId)
      const upload = yield* readAs(join(folder, UPLOAD), KeptUpload)
      if (Option.isNone(upload)) continue
      const names = (yield* namesIn(folder)).filter((name) => name.endsWith(".json") && name !== UPLOAD)
      const parts = Arr.filterMap(
        yield* Effect.forEach(names, (name) => readAs(join(folder, name), KeptPart), { concurrency: READ_AT_ONCE }),
        (part) => part
      )
      // one whose parts are an object was completed
      if (parts.some(({ blob }) => stored.has(blob.name))) continue
      yield* sql`insert into stevedore_upload (id, key, content_type)
        values (${uploadId}, ${upload.value.key}, ${upload.value.contentType ?? null})`
      yield* insert(
        parts.map(({ blob, etag, partNumber }) => ({ uploadId, partNumber, etag, blob: blob.name, size: blob.size })),
        (list) =>
          sql`insert into stevedore_part (upload_id, number, etag, blob, size)
            select value ->> 'uploadId', value ->> 'partNumber', value ->> 'etag', value ->> 'blob', value ->> 'size'
            from json_each(${list})`
      )
    }
  })
