/** What the sink answers, in the wire forms of those who send to it. */
import type { Request } from "./RequestReader.js"

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number>>
  /** Text, or so many bytes of no meaning. */
  readonly body?: string | number
}

const json = (status: number, body: unknown): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

const xml = (body: string): Answer => ({ status: 200, headers: { "content-type": "application/xml" }, body })

const mebibyte = 2 ** 20

/** The id of a file that has so many bytes, for a download. */
export const fileIdOf = (bytes: number): string => `Bytes${String(bytes).padStart(17, "0")}`

const bytesOf = (fileId: string): number => Number(fileId.slice(5))

const record = (id: string) => ({
  data: {
    id,
    name: "file.bin",
    type: "application/octet-stream",
    size: bytesOf(id),
    status: "completed",
    author: null,
    created_at: "2026-01-01T00:00:00.000Z"
  }
})

const signed = (headers: string) =>
  `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=loopback&X-Amz-Date=20990101T000000Z&X-Amz-Expires=10800` +
  `&X-Amz-SignedHeaders=${headers}&X-Amz-Signature=0000000000000000000000000000000000000000000000000000000000000000`

const single = signed("host%3Bx-amz-server-side-encryption")

const part = signed("host")

interface Declared {
  readonly size: number
  readonly parts: number
}

const declaredIn = (text: string): Declared => {
  const body: unknown = JSON.parse(text)
  const field = (name: string): number | undefined => {
    const value: unknown = typeof body === "object" && body !== null
      ? Object.getOwnPropertyDescriptor(body, name)?.value
      : undefined
    return typeof value === "number" ? value : undefined
  }
  const size = field("size") ?? 0
  return { size, parts: field("parts") ?? Math.ceil(size / (16 * mebibyte)) }
}

const initiated = (origin: string, text: string): Answer => {
  const id = fileIdOf(declaredIn(text).size)
  return json(201, { data: { id, upload_url: `${origin}/storage/${id}?${single}` } })
}

const initiatedLarge = (origin: string, text: string): Answer => {
  const { parts, size } = declaredIn(text)
  const id = fileIdOf(size)
  const urls = Array.from(
    { length: parts },
    (_, index) => `${origin}/storage/${id}?partNumber=${index + 1}&uploadId=u&${part}`
  )
  return json(201, { data: { id, upload_id: "u", urls } })
}

const project = (number: number) => ({
  id: `Project${String(number).padStart(15, "0")}`,
  title: `Project ${number}`,
  type: "project",
  author: { id: "Author0000000000000001", name: "Somebody" },
  created_at: "2026-01-01T00:00:00.000Z",
  deleted: false,
  folder: null
})

/** A page of `/lists/{length}/v1/projects`: nothing of the list is held. */
const page = (length: number, query: URLSearchParams): Answer => {
  const first = Number(query.get("page[start_cursor]") ?? 0)
  const last = Math.min(length, first + Number(query.get("page[limit]") ?? 100))
  return json(200, {
    data: Array.from({ length: last - first }, (_, index) => project(first + index)),
    page: { total_count: length, has_more: last < length, next_cursor: last < length ? String(last) : null }
  })
}

const content = (fileId: string, range: string | undefined): Answer => {
  const size = bytesOf(fileId)
  const headers = { "accept-ranges": "bytes", etag: "\"content\"", "content-type": "application/octet-stream" }
  const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? []
  if (range === undefined) return { status: 200, headers, body: size }
  const first = Number(from)
  const last = Math.min(size - 1, to === "" ? size - 1 : Number(to))
  if (first >= size) return { status: 416, headers: { ...headers, "content-range": `bytes */${size}` } }
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${first}-${last}/${size}` },
    body: last - first + 1
  }
}

const s3 = (method: string, query: URLSearchParams): Answer => {
  if (method === "PUT") return { status: 200, headers: { etag: "\"object\"" } }
  return query.has("uploads")
    ? xml(
      "<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>key</Key><UploadId>u</UploadId>" +
        "</InitiateMultipartUploadResult>"
    )
    : xml(
      "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>key</Key><ETag>\"object\"</ETag>" +
        "</CompleteMultipartUploadResult>"
    )
}

const tus = (request: Request, origin: string): Answer => {
  const headers = { "tus-resumable": "1.0.0" }
  if (request.method === "POST") return { status: 201, headers: { ...headers, location: `${origin}/tus/upload` } }
  const offset = Number(request.headers.get("upload-offset") ?? 0) + request.bodyLength
  return { status: 204, headers: { ...headers, "upload-offset": offset } }
}

const service = (request: Request, origin: string, path: string, query: URLSearchParams): Answer => {
  if (path === "/v2/files/upload") return initiated(origin, request.text)
  if (path === "/v2/files/large-upload") return initiatedLarge(origin, request.text)
  const [, , , fileId = ""] = path.split("/")
  if (path.endsWith("/download")) return content(fileId, request.headers.get("range"))
  if (path.endsWith("/projects")) return page(Number(path.split("/")[2]), query)
  return json(200, record(fileId))
}

/** Answers one request. `scheme` is how the sink is reached. */
export const answer = (request: Request, scheme: "http" | "https"): Answer => {
  const origin = `${scheme}://${request.headers.get("host") ?? ""}`
  const [path = "", query = ""] = request.target.split("?")
  const parameters = new URLSearchParams(query)
  if (path.startsWith("/storage/")) return { status: 200, headers: { etag: "\"part\"" } }
  if (path.startsWith("/bucket/")) return s3(request.method, parameters)
  if (path.startsWith("/tus")) return tus(request, origin)
  return service(request, origin, path, parameters)
}
