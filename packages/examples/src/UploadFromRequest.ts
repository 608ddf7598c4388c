import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpApiSchema,
  HttpServerResponse,
  Multipart
} from "@effect/platform"
import {
  UploadError,
  UploadProgress,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { FileSource, SpoolError } from "@stevedore/node"
import { Effect, Layer, Option, Schema, Stream } from "effect"

const gigabyte = 1_000_000_000

const Recording = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  bytes: Schema.Number
})
const Named = Schema.Struct({ name: Schema.NonEmptyString })
const Sized = Schema.Struct({
  "content-length": Schema.optional(Schema.NumberFromString)
})
const Form = HttpApiSchema.Multipart(
  Schema.Struct({ recording: Multipart.SingleFileSchema }),
  { maxFileSize: Option.some(gigabyte) }
)

// each error of an upload has its HTTP status
export const Api = HttpApi.make("archive").add(
  HttpApiGroup.make("recordings")
    .add(
      HttpApiEndpoint.post("form", "/recordings")
        .setPayload(Form)
        .addSuccess(Recording)
        .addError(UploadError.UploadError)
    )
    .add(
      HttpApiEndpoint.put("body", "/recordings/:name")
        .setPath(Named)
        .setHeaders(Sized)
        .addSuccess(Recording)
        .addError(UploadError.UploadError)
        .addError(SpoolError.SpoolUnwritable, { status: 507 })
    )
    .add(
      HttpApiEndpoint.get("progress", "/recordings/:name/progress")
        .setPath(Named)
        .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
        .addError(HttpApiError.NotFound)
    )
)

/** The uploads that are on their way, by name, for whoever watches them. */
class OnTheirWay extends Effect.Service<OnTheirWay>()("OnTheirWay", {
  sync: () => {
    const uploads = new Map<string, Uploads.UploadHandle>()
    return {
      of: (name: string) => Option.fromNullable(uploads.get(name)),
      // a client that goes away interrupts this, and with it the upload
      upload: (source: UploadSource) =>
        Effect.scoped(Effect.gen(function*() {
          const handle = yield* Uploads.start(source)
          uploads.set(source.name, handle)
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => uploads.delete(source.name))
          )
          const { id, name, size } = yield* handle.await
          return { id, name, bytes: size }
        }))
    }
  }
}) {}

const event = (progress: UploadProgress.UploadProgress) =>
  Effect.map(
    Schema.encode(Schema.parseJson(UploadProgress.UploadProgress))(progress),
    (json) => new TextEncoder().encode(`data: ${json}\n\n`)
  )

const mediaTypeOf = (headers: Readonly<Record<string, string | undefined>>) =>
  headers["content-type"]

export const RecordingsLive = HttpApiBuilder.group(
  Api,
  "recordings",
  (handlers) =>
    handlers
      // a form: each of its files is written to a temporary directory, which
      // is gone after the response
      .handle("form", ({ payload: { recording } }) =>
        Effect.gen(function*() {
          const { contentType: mediaType, name, path } = recording
          const source = yield* FileSource.fromPath(path, { name, mediaType })
          return yield* (yield* OnTheirWay).upload(source)
        }))
      // the file itself as the body: straight through if the client says how
      // long it is, else by way of a temporary file
      .handleRaw("body", ({ headers, path: { name }, request }) =>
        Effect.scoped(Effect.gen(function*() {
          const mediaType = mediaTypeOf(request.headers)
          const size = headers["content-length"]
          const source = size === undefined
            ? yield* FileSource.spooled(name, request.stream, {
              mediaType,
              atMost: gigabyte
            })
            : UploadSources.fromStreamOnce(name, request.stream, {
              size,
              mediaType
            })
          return yield* (yield* OnTheirWay).upload(source)
        })))
      .handleRaw("progress", ({ path: { name } }) =>
        Effect.gen(function*() {
          const handle = yield* Effect.mapError(
            (yield* OnTheirWay).of(name),
            () =>
              new HttpApiError.NotFound()
          )
          return HttpServerResponse.stream(
            Stream.mapEffect(handle.progress.changes, event),
            {
              contentType: "text/event-stream"
            }
          )
        }))
).pipe(Layer.provide(OnTheirWay.Default))
