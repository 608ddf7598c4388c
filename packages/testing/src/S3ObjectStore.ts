/**
 * An external object store: a real S3, or one that speaks its dialect. The sandbox hands out that store's own
 * pre-signed URLs, and its Complete calls the store's, so the bytes go where they would go in production.
 *
 * It needs `@aws-sdk/client-s3` and `@aws-sdk/s3-request-presigner`, which nothing else here does. It is therefore not
 * in the package's index: import it from `@stevedore/testing/S3ObjectStore`.
 *
 * @since 0.1.0
 */
import type { S3ClientConfig, ServiceInputTypes, ServiceOutputTypes } from "@aws-sdk/client-s3"
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand
} from "@aws-sdk/client-s3"
import { getSignedUrl } from "@aws-sdk/s3-request-presigner"
import * as ObjectStore from "@stevedore/server/ObjectStore"
import * as StorageCors from "@stevedore/server/StorageCors"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import type * as UrlSigner from "@stevedore/server/UrlSigner"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { S3Command } from "./internal/s3Calls.js"
import { call, refusalOf, required, withHeaders } from "./internal/s3Calls.js"

/**
 * Which store to use, and how it should encrypt.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The store's address, such as `http://127.0.0.1:7480`. Defaults to AWS's own endpoint for the region. */
  readonly endpoint?: string | undefined
  readonly bucket: string
  readonly credential: UrlSigner.Credential
  /** Whether the bucket is in the path (default) or in the host name. */
  readonly pathStyle?: boolean | undefined
  /**
   * The headers that make the store encrypt what is not sent through a pre-signed URL. They are sent when a multipart
   * upload is opened, so its parts need none. Defaults to `x-amz-server-side-encryption: aws:kms`. The headers of the
   * single PUT are the sandbox's option of the same name: give both the same value.
   */
  readonly encryptionHeaders?: Readonly<Record<string, string>> | undefined
  /**
   * Creates the bucket if it does not exist, and lets pages of any origin send to it and read etags. Defaults to no.
   */
  readonly createBucket?: boolean | undefined
}

const collect = <E, R>(body: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Uint8Array, E, R> =>
  Effect.map(Stream.runCollect(body), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

// the same as for the sandbox's own storage
const CORS_RULES = [{
  AllowedOrigins: ["*"],
  AllowedMethods: [...StorageCors.METHODS],
  AllowedHeaders: [...StorageCors.ALLOWED_HEADERS],
  ExposeHeaders: ["ETag", ...StorageCors.EXPOSED],
  MaxAgeSeconds: 3000
}]

const prepareBucket = (client: S3Client, bucket: string): Effect.Effect<void, StorageRefused.StorageRefused> =>
  call((abortSignal) => client.send(new CreateBucketCommand({ Bucket: bucket }), { abortSignal })).pipe(
    Effect.catchIf(({ code }) => code === "BucketAlreadyOwnedByYou", () => Effect.void),
    Effect.zipRight(call((abortSignal) =>
      client.send(
        new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: CORS_RULES } }),
        { abortSignal }
      )
    )),
    Effect.asVoid
  )

type Sign = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: S3Command<Input, Output>
) => Effect.Effect<string, StorageRefused.StorageRefused>

const storeOver = (
  client: S3Client,
  bucket: string,
  encryptionHeaders: Readonly<Record<string, string>>
): ObjectStore.ObjectStoreService => {
  const at = (key: string) => ({ Bucket: bucket, Key: key })

  const head: ObjectStore.ObjectStoreService["head"] = (key) =>
    Effect.gen(function*() {
      const found = yield* call((abortSignal) => client.send(new HeadObjectCommand(at(key)), { abortSignal }))
      return {
        key,
        size: yield* required(found.ContentLength, "Content-Length"),
        etag: yield* required(found.ETag, "ETag"),
        contentType: found.ContentType,
        lastModified: (yield* required(found.LastModified, "Last-Modified")).getTime()
      }
    })

  // page by page, because the store returns at most a thousand at a time
  const parts: ObjectStore.ObjectStoreService["parts"] = (key, uploadId) =>
    Stream.paginateChunkEffect(undefined, (marker: string | undefined) =>
      Effect.gen(function*() {
        const page = yield* call((abortSignal) =>
          client.send(
            new ListPartsCommand({ ...at(key), UploadId: uploadId, PartNumberMarker: marker }),
            { abortSignal }
          )
        )
        const held = yield* Effect.forEach(page.Parts ?? [], (part) =>
          Effect.all({
            partNumber: required(part.PartNumber, "part number"),
            etag: required(part.ETag, "ETag"),
            size: required(part.Size, "size")
          }))
        const next = page.IsTruncated === true ? Option.fromNullable(page.NextPartNumberMarker) : Option.none()
        return [Chunk.fromIterable(held), next]
      })).pipe(Stream.runCollect, Effect.map(Chunk.toReadonlyArray))

  const presign = (request: ObjectStore.PresignRequest): Effect.Effect<string, StorageRefused.StorageRefused> =>
    Effect.gen(function*() {
      const names = new Set(Object.keys(request.headers).map((name) => name.toLowerCase()))
      const options = {
        expiresIn: request.expiresIn,
        signingDate: new Date(yield* Clock.currentTimeMillis),
        // in the headers, where clients send them, and not in the query
        unhoistableHeaders: names,
        signableHeaders: names
      }
      const { headers, key, method, part } = request
      const sign: Sign = (command) => call(() => getSignedUrl(client, withHeaders(command, headers), options))
      return yield* method === "GET"
        ? sign(new GetObjectCommand(at(key)))
        : part === undefined
        ? sign(new PutObjectCommand(at(key)))
        : sign(new UploadPartCommand({ ...at(key), UploadId: part.uploadId, PartNumber: part.partNumber }))
    })

  return {
    presign,
    head,
    parts,
    put: (key, body, options) =>
      Effect.gen(function*() {
        const bytes = yield* collect(body)
        const command = withHeaders(
          new PutObjectCommand({ ...at(key), Body: bytes, ContentType: options?.contentType }),
          encryptionHeaders
        )
        yield* call((abortSignal) => client.send(command, { abortSignal }))
        return yield* head(key)
      }),
    createUpload: (key, options) =>
      Effect.gen(function*() {
        const command = withHeaders(
          new CreateMultipartUploadCommand({ ...at(key), ContentType: options?.contentType }),
          encryptionHeaders
        )
        const opened = yield* call((abortSignal) => client.send(command, { abortSignal }))
        return yield* required(opened.UploadId, "upload id")
      }),
    putPart: (key, uploadId, partNumber, body) =>
      Effect.gen(function*() {
        const bytes = yield* collect(body)
        const command = new UploadPartCommand({
          ...at(key),
          UploadId: uploadId,
          PartNumber: partNumber,
          Body: bytes
        })
        const stored = yield* call((abortSignal) => client.send(command, { abortSignal }))
        return { partNumber, size: bytes.byteLength, etag: yield* required(stored.ETag, "ETag") }
      }),
    completeUpload: (key, uploadId, listed) =>
      Effect.gen(function*() {
        const command = new CompleteMultipartUploadCommand({
          ...at(key),
          UploadId: uploadId,
          MultipartUpload: { Parts: listed.map(({ etag, partNumber }) => ({ PartNumber: partNumber, ETag: etag })) }
        })
        yield* call((abortSignal) => client.send(command, { abortSignal }))
        // requested separately: not every store returns the etag in its response, and none the size
        return yield* head(key)
      }),
    abortUpload: (key, uploadId) =>
      call((abortSignal) =>
        client.send(new AbortMultipartUploadCommand({ ...at(key), UploadId: uploadId }), { abortSignal })
      ).pipe(
        Effect.catchIf(({ code }) => code === "NoSuchUpload", () => Effect.void),
        Effect.asVoid
      ),
    opened: (key) =>
      call((abortSignal) =>
        client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }), { abortSignal })
      ).pipe(
        Effect.map(({ Uploads }) =>
          (Uploads ?? []).flatMap((upload) =>
            upload.Key === key && upload.UploadId !== undefined ? [upload.UploadId] : []
          )
        )
      ),
    get: (key, range) =>
      range?.length === 0
        ? Stream.empty
        : Stream.unwrap(Effect.gen(function*() {
          const command = new GetObjectCommand({
            ...at(key),
            ...(range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` })
          })
          const { Body: body } = yield* call((abortSignal) => client.send(command, { abortSignal }))
          const readable = yield* required(body, "body")
          return Stream.fromReadableStream({ evaluate: () => readable.transformToWebStream(), onError: refusalOf })
        })),
    remove: (key) =>
      Effect.asVoid(call((abortSignal) => client.send(new DeleteObjectCommand(at(key)), { abortSignal })))
  }
}

const config = (options: Options): S3ClientConfig => ({
  ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
  region: options.credential.region,
  credentials: {
    accessKeyId: options.credential.accessKeyId,
    secretAccessKey: Redacted.value(options.credential.secretAccessKey)
  },
  forcePathStyle: options.pathStyle ?? true,
  // otherwise every URL would require a checksum from its client, and stores of other vendors know none
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED"
})

/**
 * The store over its own client, which is closed with the scope. `put` and `putPart` hold their body in memory: the
 * sandbox does not call them, because its clients send to the store directly. Fails if the bucket has to be created and
 * cannot be.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<ObjectStore.ObjectStoreService, StorageRefused.StorageRefused, Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new S3Client(config(options))),
      (client) => Effect.sync(() => client.destroy())
    )
    if (options.createBucket === true) {
      yield* prepareBucket(client, options.bucket)
    }
    return storeOver(
      client,
      options.bucket,
      options.encryptionHeaders ?? { "x-amz-server-side-encryption": "aws:kms" }
    )
  })

/**
 * {@link make} as a layer.
 *
 * @example
 * import { NodeHttpServer } from "@effect/platform-node"
 * import { SandboxHttp } from "@stevedore/testing"
 * import * as S3ObjectStore from "@stevedore/testing/S3ObjectStore"
 * import { Effect, Redacted } from "effect"
 * import { createServer } from "node:http"
 *
 * const encryptionHeaders = {
 *   "x-amz-server-side-encryption": "aws:kms",
 *   "x-amz-server-side-encryption-aws-kms-key-id": "testkey-1"
 * }
 *
 * const store = S3ObjectStore.layer({
 *   endpoint: "http://127.0.0.1:7480",
 *   bucket: "uploads",
 *   credential: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
 *   encryptionHeaders,
 *   createBucket: true
 * })
 *
 * const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })
 *
 * export const sandbox = Effect.all({ api: server, storage: server }).pipe(
 *   Effect.flatMap((servers) => SandboxHttp.serve(servers, { encryptionHeaders })),
 *   Effect.provide(store)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<ObjectStore.ObjectStore, StorageRefused.StorageRefused> =>
  Layer.scoped(ObjectStore.ObjectStore, make(options))
