import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Redacted, Schema, Stream } from "effect"
import { runInNewContext } from "node:vm"
import { Sandbox } from "../src/index.js"

// The calls that a client makes, written by hand: the sandbox is tested against the contract, not against the SDK.

export type Requirements = Sandbox.Sandbox | HttpClient.HttpClient

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const api = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  options?: { readonly token?: string; readonly headers?: Record<string, string> }
) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const client = yield* HttpClient.HttpClient
    const token = options?.token ?? Redacted.value(sandbox.token)
    const request = HttpClientRequest.make(method)(`${sandbox.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...options?.headers }
    })
    return yield* client.execute(
      body === undefined ? request : HttpClientRequest.bodyUnsafeJson(request, body)
    )
  }).pipe(Effect.withTracerEnabled(false))

export const json = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  options?: { readonly token?: string; readonly headers?: Record<string, string> }
) =>
  Effect.gen(function*() {
    const response = yield* api(method, path, body, options)
    return { status: response.status, headers: response.headers, body: yield* response.json }
  })

const Single = Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })

const Multipart = Schema.Struct({
  data: Schema.Struct({ id: Schema.String, upload_id: Schema.String, urls: Schema.Array(Schema.String) })
})

export const initiate = (size: number, type = "text/plain") =>
  json("POST", "/v2/files/upload", { name: "notes.txt", type, size }).pipe(
    Effect.flatMap(({ body }) => Schema.decodeUnknown(Single)(body)),
    Effect.map(({ data }) => ({ id: data.id, url: data.upload_url }))
  )

export const initiateLarge = (size: number, parts?: number) =>
  json("POST", "/v2/files/large-upload", {
    name: "film.mp4",
    type: "video/mp4",
    size,
    ...(parts === undefined ? {} : { parts })
  })
    .pipe(
      Effect.flatMap(({ body }) => Schema.decodeUnknown(Multipart)(body)),
      Effect.map(({ data }) => ({ id: data.id, uploadId: data.upload_id, urls: data.urls }))
    )

export const ENCRYPTION = { "x-amz-server-side-encryption": "aws:kms" }

export const storage = (
  method: "GET" | "HEAD" | "OPTIONS" | "PUT",
  url: string,
  options?: {
    readonly body?: HttpBody.HttpBody
    readonly headers?: Record<string, string>
  }
) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.execute(
      HttpClientRequest.make(method)(url).pipe(
        HttpClientRequest.setBody(options?.body ?? HttpBody.empty),
        HttpClientRequest.setHeaders(options?.headers ?? {})
      )
    )
    return { status: response.status, headers: response.headers, body: yield* response.text }
  }).pipe(Effect.withTracerEnabled(false))

export const put = (url: string, bytes: Uint8Array, headers: Record<string, string> = ENCRYPTION) =>
  storage("PUT", url, { body: HttpBody.uint8Array(bytes, "text/plain"), headers })

export const putPart = (url: string, bytes: Uint8Array) => storage("PUT", url, { body: HttpBody.uint8Array(bytes) })

export const streamed = (chunks: ReadonlyArray<Uint8Array>, length?: number) =>
  HttpBody.stream(Stream.fromIterable(chunks), "application/octet-stream", length)

export const codeOf = (xml: string): string | undefined => /<Code>([^<]*)<\/Code>/.exec(xml)?.[1]

export const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]

export const uploaded = (text: string) =>
  Effect.gen(function*() {
    const bytes = bytesOf(text)
    const { id, url } = yield* initiate(bytes.byteLength)
    yield* put(url, bytes)
    yield* api("POST", `/v2/files/${id}/upload/complete`)
    return id
  })

export const lazy = (body: Stream.Stream<Uint8Array, unknown>, length?: number) =>
  HttpBody.stream(body, "application/octet-stream", length)

export const rawBodies = (text: string): ReadonlyArray<HttpBody.HttpBody> => {
  const bytes = bytesOf(text)
  const options = { contentLength: bytes.byteLength }
  async function* chunks() {
    yield await Promise.resolve(bytes)
  }
  return [
    HttpBody.raw(text, options),
    HttpBody.raw(bytes, options),
    // as in jsdom, whose Uint8Array is not that of Node
    HttpBody.raw(runInNewContext("Uint8Array.from(bytes)", { bytes }), options),
    HttpBody.raw(bytes.slice().buffer, options),
    HttpBody.raw(new Blob([text]), options),
    HttpBody.raw(chunks(), options),
    HttpBody.raw(new Response(text).body, options),
    HttpBody.uint8Array(bytes),
    streamed([bytes.subarray(0, 2), bytes.subarray(2)], bytes.byteLength)
  ]
}
