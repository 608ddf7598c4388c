/**
 * The service as an `HttpApi` value: a description only, for OpenAPI and for typed clients. `ServerApp` answers, and a test
 * requires that each of its answers is one that is described here.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import { Checksum } from "@stevedore/core/Checksum"
import * as Schema from "effect/Schema"
import { LARGEST } from "./http/apiRequest.js"
import * as ServiceRefused from "./ServiceRefused.js"

/**
 * The body of every refusal.
 *
 * @category schemas
 */
export const Refusal = Schema.Struct({ errors: Schema.NonEmptyArray(ServiceRefused.Issue) }).annotations({
  identifier: "Refusal"
})

const KeptMetadata = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
  description: "What the application wants to know of the file. An addition to the interface."
})

/**
 * The record of a file.
 *
 * @category schemas
 */
export const FileRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.NullOr(Schema.String),
  size: Schema.Int.annotations({ description: "In bytes" }),
  status: Schema.Literal("pending", "completed", "failed"),
  author: Schema.NullOr(Schema.Struct({ id: Schema.String, name: Schema.String })),
  created_at: Schema.String.annotations({ description: "ISO 8601" }),
  checksum: Schema.optional(Checksum).annotations({ description: "Of the content. An addition to the interface." }),
  metadata: Schema.optional(KeptMetadata)
}).annotations({ identifier: "FileRecord" })

const enveloped = <A, I>(schema: Schema.Schema<A, I>) => Schema.Struct({ data: schema })

const pageOf = <A, I>(item: Schema.Schema<A, I>) =>
  Schema.Struct({
    data: Schema.Array(item),
    page: Schema.Struct({
      total_count: Schema.Int,
      has_more: Schema.Boolean,
      next_cursor: Schema.optional(Schema.NullOr(Schema.String))
    })
  })

const FileId = Schema.Struct({ file_id: Schema.String })

const declaration = (largest: number) => ({
  name: Schema.String.annotations({ description: "1 to 1024 characters" }),
  type: Schema.optional(
    Schema.NullOr(Schema.String.annotations({ description: "A media type, up to 255 characters" }))
  ),
  size: Schema.Int.pipe(Schema.between(1, largest)).annotations({ description: "In bytes" }),
  metadata: Schema.optional(KeptMetadata)
})

class Bearer extends HttpApiMiddleware.Tag<Bearer>()("@stevedore/server/Bearer", {
  security: { bearer: HttpApiSecurity.bearer }
}) {}

const described = (description: string) => OpenApi.annotations({ description })

const uploads = HttpApiGroup.make("uploads").add(
  HttpApiEndpoint.post("initiateUpload", "/v2/files/upload")
    .setPayload(Schema.Struct(declaration(LARGEST.single)))
    .addSuccess(enveloped(Schema.Struct({ id: Schema.String, upload_url: Schema.String })), { status: 201 })
    .annotateContext(described("Begins an upload of one PUT."))
).add(
  HttpApiEndpoint.post("initiateLargeUpload", "/v2/files/large-upload")
    .setPayload(Schema.Struct({
      ...declaration(LARGEST.multipart),
      parts: Schema.optional(Schema.Int.pipe(Schema.between(1, 10_000)))
    }))
    .addSuccess(
      enveloped(Schema.Struct({ id: Schema.String, upload_id: Schema.String, urls: Schema.Array(Schema.String) })),
      { status: 201 }
    )
    .annotateContext(described("Begins an upload in parts: a pre-signed URL for each of them."))
).add(
  HttpApiEndpoint.post("completeUpload", "/v2/files/:file_id/upload/complete")
    .setPath(FileId)
    .addSuccess(enveloped(FileRecord))
    .annotateContext(described("Ends an upload of one PUT. The same answer however often it is asked."))
).add(
  HttpApiEndpoint.post("completeLargeUpload", "/v2/files/:file_id/large-upload/complete")
    .setPath(FileId)
    .setPayload(Schema.Struct({
      upload_id: Schema.String,
      parts: Schema.Array(Schema.Struct({ part_number: Schema.Int, etag: Schema.String }))
    }))
    .addSuccess(enveloped(FileRecord))
    .annotateContext(described("Ends an upload in parts. The same answer however often it is asked."))
)

const files = HttpApiGroup.make("files").add(
  HttpApiEndpoint.get("file", "/v1/files/:file_id").setPath(FileId).addSuccess(enveloped(FileRecord))
).add(
  HttpApiEndpoint.del("removeFile", "/v1/files/:file_id").setPath(FileId).addSuccess(HttpApiSchema.NoContent)
    .annotateContext(described("Removes a file. An addition to the interface."))
).add(
  HttpApiEndpoint.get("download", "/v1/files/:file_id/download").setPath(FileId)
    .addSuccess(HttpApiSchema.Uint8Array())
    .addSuccess(HttpApiSchema.Uint8Array(), { status: 206 })
    .annotateContext(described("The content, whole or a range of it; or a link to it where the service is set up so."))
).add(
  HttpApiEndpoint.get("files", "/v1/files").addSuccess(pageOf(FileRecord))
    .annotateContext(described("The files of the tenant. An addition to the interface."))
)

const Item = Schema.Struct({}, { key: Schema.String, value: Schema.Unknown })

const others = HttpApiGroup.make("service").add(
  HttpApiEndpoint.get("tokenInfo", "/v1/token/info").addSuccess(
    enveloped(Schema.Struct({ id: Schema.String, subdomain: Schema.String }))
  )
).add(
  HttpApiEndpoint.get("folderContents", "/v1/folders/:id/contents").setPath(Schema.Struct({ id: Schema.String }))
    .addSuccess(pageOf(Item))
).add(
  HttpApiEndpoint.get("list", "/v1/:list").setPath(Schema.Struct({ list: Schema.String })).addSuccess(pageOf(Item))
    .annotateContext(
      described("A list, such as `projects` or `tags`: `page[limit]`, `page[start_cursor]`, `sort`, `filter[…]`.")
    )
)

const refusing = HttpApi.make("stevedore")
  // at each of them: an operation without a scheme of its own would be one without a token
  .add(uploads.middleware(Bearer))
  .add(files.middleware(Bearer))
  .add(others.middleware(Bearer))
  .addError(Refusal, { status: 400 })
  .annotateContext(OpenApi.annotations({
    title: "Stevedore",
    description: "A service that hands out pre-signed URLs for uploads, and keeps what was uploaded.",
    version: "0.1.0"
  }))

/**
 * The description of the service, with the paths and names of the standard profile.
 *
 * @category models
 */
export class ServerApi extends [401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503].reduce(
  (api, status) => api.addError(Refusal, { status }),
  refusing
) {}
