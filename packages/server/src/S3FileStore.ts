/**
 * Files in a bucket of an S3-compatible store. Clients send to the store itself, by pre-signed URLs; what the service itself
 * asks of it are a few calls for each file, signed as those URLs are. No SDK is needed.
 *
 * What the store holds decides: Complete's own answer says nothing that a HEAD afterwards does not say better, since stores
 * differ in what they answer to a lost or doubled one.
 *
 * The credential needs these rights on the bucket: `s3:PutObject`, `s3:GetObject`, `s3:DeleteObject`,
 * `s3:AbortMultipartUpload`, `s3:ListMultipartUploadParts`, `s3:ListBucketMultipartUploads`, `s3:ListBucket` (without it, a
 * missing object is answered with 403), `s3:GetBucketVersioning`; on a versioned bucket `s3:GetObjectVersion`,
 * `s3:DeleteObjectVersion` and `s3:ListBucketVersions`; and under KMS `kms:GenerateDataKey` and `kms:Decrypt`.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { type Checksum, checksumsOf } from "@stevedore/core/Checksum"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { FileStoreService } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import type { ObjectStoreService, StoredObject, Which } from "./ObjectStore.js"
import { queryOf } from "./ObjectStore.js"
import * as BlobStore from "./parts/blobStore.js"
import * as Identifiers from "./parts/identifiers.js"
import * as UrlSigner from "./parts/urlSigner.js"
import type { Credential } from "./parts/urlSigner.js"
import * as S3Calls from "./s3/calls.js"
import type { Answer, Calls } from "./s3/calls.js"
import * as S3Xml from "./s3/xml.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * Which bucket, and how it is reached.
 *
 * @category models
 */
export interface Options {
  readonly bucket: string
  /** What signs, or an effect that says it anew for each URL: of a session, it has an end that no URL outlives. */
  readonly credential: Credential | Effect.Effect<Credential, StorageRefused.StorageRefused>
  /** Where the service reaches the store, such as `http://minio:9000`. Defaults to AWS in the credential's region. */
  readonly endpoint?: string | undefined
  /** Where clients reach it: the URLs that they are given begin so. Defaults to `endpoint`. */
  readonly publicEndpoint?: string | undefined
  /** Whether the bucket is in the path (default) or in the host name. */
  readonly pathStyle?: boolean | undefined
  /**
   * What makes the store encrypt. Multipart uploads are opened with these headers, so that their parts need none; a single
   * PUT carries them. Defaults to `x-amz-server-side-encryption: aws:kms` (service contract); `{}` for a store without it.
   */
  readonly encryptionHeaders?: Readonly<Record<string, string>> | undefined
}

/**
 * What keeps a file as it was completed, although the URL of its PUT is still valid:
 *
 * - `versions`: the bucket keeps all versions, and the one that was completed is read.
 * - `if-none-match`: the URL signs `If-None-Match: *`, and the store refuses a second PUT.
 * - `copy`: what was completed is copied to where no URL of a PUT leads, and served from there. Of a PUT that ends later, the
 *   bytes stay where they are until the file is removed.
 * - `none`: nothing does, as in a sandbox. {@link protectionOf} never answers so.
 *
 * @category models
 */
export type Protection = "versions" | "if-none-match" | "copy" | "none"

const NEVER_REPLACE = { "if-none-match": "*" } as const

/** Where a completed object is copied to. */
const completedKey = (key: string): string => `${key}.completed`

const kms = ServiceProfile.standard.encryptionHeaders

const isSameKey = (element: S3Xml.Element, key: string) => S3Xml.text(element, "Key") === key

const versionOf = (version: string | undefined): string | undefined => version === "null" ? undefined : version

const versionQuery = (which: Which | undefined) => which?.versionId === undefined ? {} : { versionId: which.versionId }

/** The first that a client may compare. */
const checksumOf = (headers: Answer["headers"]): Checksum | undefined => {
  const known = checksumsOf(headers)
  return ["crc64nvme", "crc32", "sha256"].flatMap((algorithm) => {
    const value = known[algorithm]
    return value === undefined ? [] : [{ algorithm, value }]
  })[0]
}

const storedObject = (key: string, { headers }: Answer): Effect.Effect<StoredObject, StorageRefused.StorageRefused> =>
  Effect.gen(function*() {
    const modified = Date.parse(headers["last-modified"] ?? "")
    return {
      key,
      size: yield* S3Calls.wholeNumber(headers["content-length"], "Content-Length"),
      etag: yield* S3Calls.required(headers["etag"], "ETag"),
      contentType: headers["content-type"],
      lastModified: Number.isNaN(modified) ? 0 : modified,
      versionId: versionOf(headers["x-amz-version-id"]),
      checksum: checksumOf(headers)
    }
  })

const listOf = (parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>): string =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
    parts.map(({ etag, partNumber }) =>
      `<Part><PartNumber>${partNumber}</PartNumber><ETag>${S3Xml.escape(etag)}</ETag></Part>`
    ).join("")
  }</CompleteMultipartUpload>`

type Query = Readonly<Record<string, string>>

interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** How the next page is asked for, if there is one. */
  readonly next: Query | undefined
}

/** All elements of a list that comes in pages. */
const paged = <A>(
  first: Query,
  page: (query: Query) => Effect.Effect<Page<A>, StorageRefused.StorageRefused>
): Effect.Effect<ReadonlyArray<A>, StorageRefused.StorageRefused> =>
  Effect.gen(function*() {
    const found: Array<A> = []
    for (let query: Query | undefined = first; query !== undefined;) {
      const { items, next }: Page<A> = yield* page(query)
      for (const item of items) found.push(item)
      query = next
    }
    return found
  })

/** The query of the next page of a list, from the elements that name where it begins. */
const following = (
  root: S3Xml.Element,
  query: Readonly<Record<string, string>>,
  markers: Readonly<Record<string, string>>
): Effect.Effect<Readonly<Record<string, string>> | undefined, StorageRefused.StorageRefused> =>
  S3Xml.text(root, "IsTruncated") === "true"
    ? Effect.map(
      Effect.forEach(
        Object.entries(markers),
        ([parameter, element]) => Effect.map(S3Calls.textIn(root, element), (value) => [parameter, value] as const)
      ),
      (pairs) => ({ ...query, ...Object.fromEntries(pairs) })
    )
    : Effect.succeed(undefined)

const isMissing = ({ code, status }: StorageRefused.StorageRefused) => status === 404 && code !== "NoSuchBucket"

const unlessMissing = (call: Effect.Effect<unknown, StorageRefused.StorageRefused>) =>
  Effect.asVoid(Effect.catchIf(call, isMissing, () => Effect.void))

const versionsOf = ({ sendAgain }: Calls, key: string) =>
  paged({ versions: "", prefix: key }, (query) =>
    Effect.gen(function*() {
      const root = yield* S3Calls.rootOf(yield* sendAgain({ method: "GET", query }), "ListVersionsResult")
      const found = [...S3Xml.all(root, "Version"), ...S3Xml.all(root, "DeleteMarker")]
      return {
        items: yield* Effect.forEach(
          found.filter((element) => isSameKey(element, key)),
          (element) => S3Calls.textIn(element, "VersionId")
        ),
        next: yield* following(root, query, {
          "key-marker": "NextKeyMarker",
          "version-id-marker": "NextVersionIdMarker"
        })
      }
    }))

const keysOf = ({ sendAgain }: Calls) =>
  Stream.unwrap(Effect.map(
    paged({ "list-type": "2", prefix: "files/" }, (query) =>
      Effect.gen(function*() {
        const root = yield* S3Calls.rootOf(yield* sendAgain({ method: "GET", query }), "ListBucketResult")
        const keys = yield* Effect.forEach(S3Xml.all(root, "Contents"), (element) => S3Calls.textIn(element, "Key"))
        return {
          // what was completed, and was copied there, is the object
          items: keys.map((key) => key.replace(/\.completed$/, "")),
          next: yield* following(root, query, { "continuation-token": "NextContinuationToken" })
        }
      })),
    Stream.fromIterable
  ))

/** What a PUT to the store is without a body that streams: the service itself sends next to nothing. */
const collected = <E, R>(body: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Uint8Array, E, R> =>
  Effect.map(Stream.runCollect(body), (chunks) => {
    const bytes = new Uint8Array(Chunk.reduce(chunks, 0, (size, chunk) => size + chunk.byteLength))
    let at = 0
    for (const chunk of chunks) {
      bytes.set(chunk, at)
      at += chunk.byteLength
    }
    return bytes
  })

/** Multipart uploads, where `place` says. */
const multipartOver = (
  { send, sendAgain }: Calls,
  place: (key: string) => string,
  head: ObjectStoreService["head"],
  encryption: Readonly<Record<string, string>>
): Pick<
  ObjectStoreService,
  "abortUpload" | "completeUpload" | "createUpload" | "opened" | "parts" | "putPart"
> => ({
  createUpload: (key, options) =>
    sendAgain({
      method: "POST",
      key: place(key),
      query: { uploads: "" },
      headers: {
        ...encryption,
        ...(options?.contentType === undefined ? {} : { "content-type": options.contentType })
      }
    }).pipe(
      Effect.flatMap((answer) => S3Calls.rootOf(answer, "InitiateMultipartUploadResult")),
      Effect.flatMap((root) => S3Calls.textIn(root, "UploadId"))
    ),
  putPart: (key, uploadId, partNumber, body) =>
    Effect.gen(function*() {
      const bytes = yield* collected(body)
      const { headers } = yield* send({
        method: "PUT",
        key: place(key),
        query: { partNumber: String(partNumber), uploadId },
        body: bytes,
        timeout: "5 minutes"
      })
      return { partNumber, size: bytes.byteLength, etag: yield* S3Calls.required(headers["etag"], "ETag") }
    }),
  parts: (key, uploadId) =>
    paged({ uploadId }, (query) =>
      Effect.gen(function*() {
        const root = yield* S3Calls.rootOf(
          yield* sendAgain({ method: "GET", key: place(key), query }),
          "ListPartsResult"
        )
        return {
          items: yield* Effect.forEach(S3Xml.all(root, "Part"), (part) =>
            Effect.all({
              partNumber: S3Calls.wholeNumber(S3Xml.text(part, "PartNumber"), "PartNumber"),
              etag: S3Calls.textIn(part, "ETag"),
              size: S3Calls.wholeNumber(S3Xml.text(part, "Size"), "Size")
            })),
          next: yield* following(root, query, { "part-number-marker": "NextPartNumberMarker" })
        }
      })),
  completeUpload: (key, uploadId, parts) =>
    Effect.zipRight(
      send({
        method: "POST",
        key: place(key),
        query: { uploadId },
        headers: { "content-type": "application/xml" },
        body: listOf(parts),
        timeout: "5 minutes"
      }),
      head(key)
    ),
  abortUpload: (key, uploadId) => unlessMissing(sendAgain({ method: "DELETE", key: place(key), query: { uploadId } })),
  opened: (key) =>
    paged({ uploads: "", prefix: place(key) }, (query) =>
      Effect.gen(function*() {
        const answer = yield* sendAgain({ method: "GET", query })
        const root = yield* S3Calls.rootOf(answer, "ListMultipartUploadsResult")
        return {
          items: yield* Effect.forEach(
            S3Xml.all(root, "Upload").filter((element) => isSameKey(element, place(key))),
            (element) => S3Calls.textIn(element, "UploadId")
          ),
          next: yield* following(root, query, {
            "key-marker": "NextKeyMarker",
            "upload-id-marker": "NextUploadIdMarker"
          })
        }
      }))
})

const storeOver = (calls: Calls, options: Options, protection: Protection): FileStoreService => {
  const { read, send, sendAgain, sign } = calls
  const encryption = options.encryptionHeaders ?? kms

  const drop = (key: string, versionId: string | undefined) =>
    unlessMissing(sendAgain({ method: "DELETE", key, query: versionQuery({ versionId }) }))

  // where a file is that is completed: for all that leads to a PUT of a whole object, it is elsewhere
  const place = protection === "copy" ? completedKey : (key: string) => key

  const headAt = (key: string, at: string, which?: Pick<Which, "versionId">) =>
    Effect.flatMap(
      sendAgain({
        method: "HEAD",
        key: at,
        query: versionQuery(which),
        headers: { "x-amz-checksum-mode": "ENABLED" }
      }),
      (answer) => storedObject(key, answer)
    )

  const head: ObjectStoreService["head"] = (key, which) =>
    protection === "copy"
      ? Effect.catchIf(headAt(key, place(key)), isMissing, () => headAt(key, key))
      : headAt(key, key, which)

  const get = (
    key: string,
    range: { readonly offset: number; readonly length: number } | undefined,
    which: Which | undefined
  ) =>
    read({
      method: "GET",
      key,
      query: versionQuery(which),
      headers: {
        ...(range === undefined ? {} : { range: `bytes=${range.offset}-${range.offset + range.length - 1}` }),
        ...(which?.etag === undefined ? {} : { "if-match": which.etag })
      }
    })

  /** Copied as it was seen: what has come meanwhile is not taken for it. Of two that copy at once, both copy the same. */
  const copied = (key: string) =>
    Effect.gen(function*() {
      const { contentType, etag } = yield* headAt(key, key)
      yield* send({
        method: "PUT",
        key: place(key),
        headers: {
          ...encryption,
          "x-amz-copy-source": UrlSigner.pathOf(options.bucket, key),
          "x-amz-copy-source-if-match": etag,
          "x-amz-metadata-directive": "REPLACE",
          ...(contentType === undefined ? {} : { "content-type": contentType })
        },
        timeout: "5 minutes"
      })
      yield* drop(key, undefined)
      return yield* headAt(key, place(key))
    })

  return {
    head,
    seal: (key) =>
      protection === "copy" ? Effect.catchIf(headAt(key, place(key)), isMissing, () => copied(key)) : head(key),
    keys: keysOf(calls),
    ready: Effect.asVoid(send({ method: "HEAD", timeout: "5 seconds" })),
    putHeaders: protection === "if-none-match" ? NEVER_REPLACE : {},
    presign: ({ expiresIn, headers, key, method, ...request }) =>
      sign(
        {
          method,
          key: method === "PUT" && request.part === undefined ? key : place(key),
          query: queryOf({ expiresIn, headers, key, method, ...request }),
          headers
        },
        expiresIn,
        options.publicEndpoint
      ),
    put: (key, body, options) =>
      Effect.gen(function*() {
        yield* send({
          method: "PUT",
          key,
          headers: { ...encryption, "content-type": options?.contentType ?? "binary/octet-stream" },
          body: yield* collected(BlobStore.streamOf(body)),
          timeout: "5 minutes"
        })
        return yield* head(key)
      }),
    ...multipartOver(calls, place, head, encryption),
    get: (key, range, which) =>
      range?.length === 0
        ? Stream.empty
        : protection === "copy"
        ? Stream.catchAll(
          get(place(key), range, which),
          (refusal) => isMissing(refusal) ? get(key, range, which) : Stream.fail(refusal)
        )
        : get(key, range, which),
    remove: (key) =>
      protection === "versions"
        // without their ids, they would only be hidden
        ? Effect.flatMap(versionsOf(calls, key), (versions) =>
          Effect.forEach(versions, (versionId) => drop(key, versionId), { discard: true }))
        : Effect.forEach(new Set([key, place(key)]), (at) =>
          drop(at, undefined), { discard: true })
  }
}

/** A second PUT with `If-None-Match: *` must be refused. */
const refusesSecond = ({ send, sendAgain }: Calls, encryption: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const key = `stevedore-probe/${yield* Identifiers.recordId}`
    const put = send({ method: "PUT", key, headers: { ...encryption, ...NEVER_REPLACE }, body: new Uint8Array(1) })
    const tried = Effect.gen(function*() {
      yield* put
      return yield* put.pipe(
        Effect.as(false),
        Effect.catchIf(({ status }) => status === 412, () => Effect.succeed(true))
      )
    })
    return yield* tried.pipe(
      // a store that does not know the header may refuse it
      Effect.catchIf(({ status }) => status === 400 || status === 501, () => Effect.succeed(false)),
      Effect.ensuring(Effect.ignore(sendAgain({ method: "DELETE", key })))
    )
  })

/** An object can be copied within the bucket. */
const copies = (calls: Calls, options: Options) =>
  Effect.gen(function*() {
    const store = storeOver(calls, options, "copy")
    const key = `stevedore-probe/${yield* Identifiers.recordId}`
    return yield* Effect.zipRight(store.put(key, Stream.make(new Uint8Array(1))), store.seal(key)).pipe(
      Effect.as(true),
      Effect.catchIf(({ status }) => status === 400 || status === 501, () => Effect.succeed(false)),
      Effect.ensuring(Effect.ignore(store.remove(key)))
    )
  })

/** @internal */
export const calls = (options: Options) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const credential = Effect.isEffect(options.credential) ? options.credential : Effect.succeed(options.credential)
    const { region } = yield* credential
    return S3Calls.make(client, {
      endpoint: options.endpoint ?? `https://s3.${region}.amazonaws.com`,
      bucket: options.bucket,
      isPathStyle: options.pathStyle ?? true
    }, credential)
  })

/**
 * What keeps files from being replaced in this bucket, tried out: one small object is stored and removed again. Fails with
 * `NotImplemented` where nothing can.
 *
 * @category combinators
 */
export const protectionOf = (
  options: Options
): Effect.Effect<Protection, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const bucket = yield* calls(options)
    const answer = yield* bucket.sendAgain({ method: "GET", query: { versioning: "" } })
    const isVersioned = answer.xml !== undefined && S3Xml.text(answer.xml, "Status") === "Enabled"
    if (isVersioned) return "versions"
    if (yield* refusesSecond(bucket, options.encryptionHeaders ?? kms)) return "if-none-match"
    return (yield* copies(bucket, options)) ? "copy" : yield* StorageRefused.make("NotImplemented", {
      reason: "Nothing keeps the URL of a PUT from replacing a completed file: turn on versioning of the bucket"
    })
  })

/**
 * The store over an HTTP client. `protection` is tried out unless it is given. `put` and `putPart` hold their body in
 * memory: the service does not call them, because its clients send to the store.
 *
 * @category constructors
 */
export const make = (
  options: Options,
  protection?: Protection
): Effect.Effect<FileStoreService, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const bucket = yield* calls(options)
    return storeOver(bucket, options, protection ?? (yield* protectionOf(options)))
  })

/**
 * {@link make} as a layer.
 *
 * @example
 * import { FetchHttpClient } from "@effect/platform"
 * import { S3FileStore } from "@stevedore/server"
 * import { Layer, Redacted } from "effect"
 *
 * export const store = S3FileStore.layer({
 *   endpoint: "http://minio:9000",
 *   publicEndpoint: "https://s3.example",
 *   bucket: "uploads",
 *   credential: {
 *     accessKeyId: "AKIDEXAMPLE",
 *     secretAccessKey: Redacted.make("secret"),
 *     region: "eu-central-1"
 *   }
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * @category layers
 */
export const layer = (
  options: Options,
  protection?: Protection
): Layer.Layer<FileStore, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Layer.effect(FileStore, make(options, protection))
