import type { HttpClientRequest } from "@effect/platform"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Chunk, Effect, Stream } from "effect"
import type { StoredPart } from "../../src/ObjectStore.js"
import { selectParts } from "../../src/ObjectStore.js"
import * as S3Xml from "../../src/s3/xml.js"
import * as StorageRefused from "../../src/StorageRefused.js"

/** What a bucket offers against being replaced. */
export interface Abilities {
  readonly versions?: boolean
  readonly ifNoneMatch?: boolean
  readonly copy?: boolean
}

interface Version {
  readonly versionId: string
  readonly etag: string
  readonly bytes: Uint8Array
  readonly contentType: string
}

interface Upload {
  readonly key: string
  readonly contentType: string
  readonly parts: Map<number, StoredPart & { readonly bytes: Uint8Array }>
}

const joined = (chunks: Iterable<Uint8Array>) => new Uint8Array(Buffer.concat([...chunks]))

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Effect.Effect<Uint8Array> =>
  body._tag === "Uint8Array"
    ? Effect.succeed(body.body)
    : body._tag === "Stream"
    ? Effect.map(Effect.orDie(Stream.runCollect(body.stream)), (chunks) => joined(Chunk.toReadonlyArray(chunks)))
    : Effect.succeed(new Uint8Array(0))

const xml = (name: string, content: string) => `<?xml version="1.0" encoding="UTF-8"?><${name}>${content}</${name}>`

/**
 * A bucket of S3 in memory, as an HTTP client that reaches nothing else. A PUT counts when all of its body has come, and what it
 * asks for is looked at then.
 */
export const make = (abilities: Abilities, minimumPartSize: number): HttpClient.HttpClient => {
  const objects = new Map<string, Array<Version>>()
  const uploads = new Map<string, Upload>()
  let count = 0
  const refuse = (code: StorageRefused.RefusalCode): Effect.Effect<never, StorageRefused.StorageRefused> =>
    Effect.fail(StorageRefused.make(code))
  const latest = (key: string) => objects.get(key)?.at(-1)
  const find = (key: string, versionId: string | null) => {
    const found = versionId === null ? latest(key) : objects.get(key)?.find((one) => one.versionId === versionId)
    return found === undefined ? refuse("NoSuchKey") : Effect.succeed(found)
  }
  const store = (key: string, bytes: Uint8Array, contentType: string, etag = `"${++count}"`): Version => {
    const version = { versionId: `v${++count}`, etag, bytes, contentType }
    objects.set(key, abilities.versions === true ? [...objects.get(key) ?? [], version] : [version])
    return version
  }
  const uploadOf = (key: string, id: string | null) => {
    const upload = uploads.get(id ?? "")
    return upload?.key === key ? Effect.succeed(upload) : refuse("NoSuchUpload")
  }
  const told = ({ contentType, etag, versionId }: Version) => ({
    etag,
    "content-type": contentType,
    ...(abilities.versions === true ? { "x-amz-version-id": versionId } : {})
  })

  interface Answer {
    readonly status?: number
    readonly headers?: Record<string, string>
    readonly body?: string | Uint8Array
  }

  type Answering = Effect.Effect<Answer, StorageRefused.StorageRefused>

  const put = (key: string, query: URLSearchParams, request: HttpClientRequest.HttpClientRequest): Answering =>
    Effect.gen(function*() {
      const uploadId = query.get("uploadId")
      if (uploadId !== null) yield* uploadOf(key, uploadId)
      const bytes = yield* bodyOf(request)
      const { headers } = request
      if (uploadId !== null) {
        const upload = yield* uploadOf(key, uploadId)
        const part = { partNumber: Number(query.get("partNumber")), etag: `"${++count}"`, size: bytes.length, bytes }
        upload.parts.set(part.partNumber, part)
        return { headers: { etag: part.etag } }
      }
      const source = headers["x-amz-copy-source"]
      if (source !== undefined) {
        if (abilities.copy !== true) return yield* refuse("NotImplemented")
        const from = yield* find(decodeURIComponent(source).split("/").slice(2).join("/"), null)
        if (headers["x-amz-copy-source-if-match"] !== from.etag) return yield* refuse("PreconditionFailed")
        store(key, from.bytes, headers["content-type"] ?? from.contentType)
        return { body: xml("CopyObjectResult", "<ETag>e</ETag>") }
      }
      if (headers["if-none-match"] === "*" && abilities.ifNoneMatch === true && latest(key) !== undefined) {
        return yield* refuse("PreconditionFailed")
      }
      return { headers: told(store(key, bytes, headers["content-type"] ?? "binary/octet-stream")) }
    })

  const get = (key: string, query: URLSearchParams, request: HttpClientRequest.HttpClientRequest): Answering =>
    Effect.gen(function*() {
      const found = yield* find(key, query.get("versionId"))
      const ifMatch = request.headers["if-match"]
      if (ifMatch !== undefined && ifMatch !== found.etag) return yield* refuse("PreconditionFailed")
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers["range"] ?? "") ?? []
      const body = first === undefined ? found.bytes : found.bytes.subarray(Number(first), Number(last) + 1)
      const headers = { ...told(found), "content-length": String(body.length) }
      return request.method === "HEAD" ? { headers } : { headers, body }
    })

  const listed = (key: string, query: URLSearchParams) =>
    Effect.gen(function*() {
      const prefix = query.get("prefix") ?? ""
      if (query.has("versioning")) {
        return xml("VersioningConfiguration", abilities.versions === true ? "<Status>Enabled</Status>" : "")
      }
      if (query.has("uploads")) {
        return xml(
          "ListMultipartUploadsResult",
          [...uploads].filter(([, one]) => one.key.startsWith(prefix)).map(([id, one]) =>
            `<Upload><Key>${S3Xml.escape(one.key)}</Key><UploadId>${id}</UploadId></Upload>`
          ).join("")
        )
      }
      if (query.has("versions")) {
        return xml(
          "ListVersionsResult",
          [...objects].filter(([one]) => one.startsWith(prefix)).flatMap(([one, versions]) =>
            versions.map(({ versionId }) =>
              `<Version><Key>${S3Xml.escape(one)}</Key><VersionId>${versionId}</VersionId></Version>`
            )
          ).join("")
        )
      }
      const { parts } = yield* uploadOf(key, query.get("uploadId"))
      return xml(
        "ListPartsResult",
        [...parts.values()].map(({ etag, partNumber, size }) =>
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>${S3Xml.escape(etag)}</ETag><Size>${size}</Size></Part>`
        ).join("")
      )
    })

  const post = (key: string, query: URLSearchParams, request: HttpClientRequest.HttpClientRequest) =>
    Effect.gen(function*() {
      if (query.has("uploads")) {
        const id = `u${++count}`
        uploads.set(id, {
          key,
          contentType: request.headers["content-type"] ?? "binary/octet-stream",
          parts: new Map()
        })
        return xml("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`)
      }
      const id = query.get("uploadId") ?? ""
      const { contentType, parts } = yield* uploadOf(key, id)
      const list = new TextDecoder().decode(yield* bodyOf(request))
      const named = [...list.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)].map((
        [, number, etag]
      ) => ({
        partNumber: Number(number),
        etag: (etag ?? "").replaceAll("&quot;", "\"")
      }))
      const chosen = yield* selectParts(parts, named, minimumPartSize)
      uploads.delete(id)
      store(key, joined(chosen.map(({ bytes }) => bytes)), contentType)
      return xml("CompleteMultipartUploadResult", "<ETag>e</ETag>")
    })

  const remove = (key: string, query: URLSearchParams) =>
    Effect.sync((): Answer => {
      const [id, versionId] = [query.get("uploadId"), query.get("versionId")]
      if (id !== null) uploads.delete(id)
      else if (versionId === null) objects.delete(key)
      else objects.set(key, (objects.get(key) ?? []).filter((one) => one.versionId !== versionId))
      return { status: 204 }
    })

  const answer = (request: HttpClientRequest.HttpClientRequest, url: URL): Answering => {
    const key = decodeURIComponent(url.pathname).split("/").slice(2).join("/")
    const query = url.searchParams
    const isList = ["versioning", "uploads", "versions"].some((name) => query.has(name)) ||
      (query.has("uploadId") && request.method === "GET")
    switch (request.method) {
      case "PUT":
        return put(key, query, request)
      case "POST":
        return Effect.map(post(key, query, request), (body) => ({ body }))
      case "DELETE":
        return remove(key, query)
      default:
        if (key === "" && request.method === "HEAD") return Effect.succeed<Answer>({})
        return isList ? Effect.map(listed(key, query), (body) => ({ body })) : get(key, query, request)
    }
  }

  return HttpClient.make((request, url) =>
    answer(request, url).pipe(
      Effect.catchTag("StorageRefused", (refusal) =>
        Effect.succeed<Answer>({ status: refusal.status, body: StorageRefused.toXml(refusal, "R") })),
      Effect.map(({ body, headers, status = 200 }: Answer) => {
        const empty = request.method === "HEAD" || status === 204
        return HttpClientResponse.fromWeb(
          request,
          new Response(empty ? null : typeof body === "string" ? body : new Uint8Array(body ?? []), {
            status,
            headers: headers ?? {}
          })
        )
      })
    )
  )
}
