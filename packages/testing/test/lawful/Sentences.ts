/**
 * The sentences of the service contract that speak of a service, and what a client that knows nothing else finds when it
 * holds a service to them. It shares no code with the SDK.
 */
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Effect, Layer, Predicate, Redacted, Schema } from "effect"
import { gunzipSync, inflateSync } from "node:zlib"
import { Sandbox, SandboxHttp, VirtualTime } from "../../src/index.js"
import * as ServiceVariation from "../variation/ServiceVariation.js"
import * as Varied from "../variation/varied.js"

export const sentences = {
  "O1": "Initiate single PUT: POST JSON with Bearer. 201, session details with upload_url",
  "O2": "Complete upload: POST /v2/files/{file_id}/upload/complete with Bearer",
  "O3": "Initiate multipart: POST /v2/files/large-upload with Bearer, JSON: declared size, optional number of parts",
  "O4": "Initiate multipart: 201, session details with opaque upload_id",
  "O5": "Initiate multipart: urls, one pre-signed PUT URL per part, all of them at once",
  "O6": "Complete large upload: POST /v2/files/{file_id}/large-upload/complete with Bearer, the etag of each part",
  "O7": "Inspect: GET /v1/files/{file_id} with Bearer gives the file record",
  "O8": "Download: GET /v1/files/{file_id}/download with Bearer gives the file content",
  "O9": "List: GET /v1/projects gives { data: [...], page: { total_count, has_more, next_cursor } }",
  "U1": "Single PUT: the whole body to upload_url, with the encryption header",
  "U1 otherwise": "Without the encryption header, or with a different one: 403",
  "U1 type": "Single PUT: it should also carry the file's Content-Type",
  "U2": "After a successful PUT the client calls Complete for the same file_id",
  "U3": "Larger than 5 GB must not use single PUT. Larger than 10 GB cannot be uploaded",
  "U4": "Number of parts omitted: the server chooses. Given: an integer, 1 to 10000",
  "U5": "Each part is PUT to its URL, its etag collected, then Complete with those etags",
  "U6": "Each part URL is valid about 3 hours from issue",
  "U6 after": "A part PUT that fails after that: the client abandons the upload and initiates a new session",
  "U6 none": "There is no call that renews a URL, lists parts, or aborts",
  "U7": "PUTs to pre-signed URLs never carry the bearer token",
  "U8": "A file is read only once it is finalized, through the v1 endpoints",
  "U9": "Orphaned sessions are cleaned up by the server",
  "P1": "page[limit]: default 100, maximum 100. A page may hold fewer items than asked for",
  "P2": "page[start_cursor]: opaque, sent back exactly as received. Omitted: from the start",
  "P3": "Same request again with next_cursor, until it is null or absent",
  "P4": "total_count may change between pages"
} as const

export type Sentence = keyof typeof sentences

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => Predicate.isRecord(value) ? Object.fromEntries(Object.entries(value)) : {}

// each dot in a name leads into an object
const under = (fields: Fields, name: string): unknown =>
  name.split(".").reduce<unknown>((value, step) => fieldsOf(value)[step], fields)

class Broken extends Schema.TaggedError<Broken>()("Broken", { sentence: Schema.String, what: Schema.String }) {}

const insist = (sentence: Sentence, holds: boolean, what: string) =>
  holds ? Effect.void : new Broken({ sentence, what })

// As a browser reads a response: without its coding, and without a byte order mark
const textOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function*() {
    const bytes = new Uint8Array(yield* response.arrayBuffer)
    const coding = response.headers["content-encoding"]
    return new TextDecoder().decode(
      coding === "gzip" ? gunzipSync(bytes) : coding === "deflate" ? inflateSync(bytes) : bytes
    )
  })

const isFine = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

const content = (size: number) => Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 3)) & 0xff)

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

const raw = (variation: ServiceVariation.ServiceVariation) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const client = yield* HttpClient.HttpClient
    const { completeBody, names } = variation.open
    const paths = variation.open.paths === "standard"
      ? { initiate: "/v2/files/upload" }
      : { initiate: "/v2/uploads" }

    const call = (method: "GET" | "POST", path: string, body?: unknown) => {
      const request = HttpClientRequest.make(method)(`${sandbox.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${Redacted.value(sandbox.token)}` }
      })
      return client.execute(body === undefined ? request : HttpClientRequest.bodyUnsafeJson(request, body))
    }

    const json = (sentence: Sentence, status: number, response: HttpClientResponse.HttpClientResponse) =>
      Effect.gen(function*() {
        const text = yield* textOf(response)
        yield* insist(sentence, response.status === status, `the status is ${response.status}: ${text.slice(0, 200)}`)
        const body = yield* Effect.try({
          try: (): unknown => JSON.parse(text),
          catch: () => new Broken({ sentence, what: `no JSON: ${text.slice(0, 200)}` })
        })
        return fieldsOf(body)
      })

    const session = (body: Fields): Fields =>
      "data" in body && Predicate.isRecord(body["data"]) ? fieldsOf(body["data"]) : body

    const put = (url: string, bytes: Uint8Array, headers: Readonly<Record<string, string>>) =>
      client.execute(
        HttpClientRequest.put(url, { headers }).pipe(HttpClientRequest.bodyUint8Array(bytes, "video/mp4"))
      )

    const get = (url: string, hops: number): Effect.Effect<Uint8Array, unknown> =>
      Effect.gen(function*() {
        const response = yield* client.execute(HttpClientRequest.get(url))
        const location = response.headers["location"]
        return location !== undefined && hops > 0
          ? yield* get(new URL(location, url).href, hops - 1)
          : new Uint8Array(yield* response.arrayBuffer)
      })

    const downloaded = (id: string) =>
      Effect.gen(function*() {
        const path = `/v1/files/${encodeURIComponent(id)}/download`
        const response = yield* call("GET", path)
        if (variation.open.download === "link") {
          return yield* get(String(under(session(yield* json("O8", 200, response)), names.downloadUrl)), 5)
        }
        const location = response.headers["location"]
        return location === undefined
          ? new Uint8Array(yield* response.arrayBuffer)
          : yield* get(new URL(location, `${sandbox.baseUrl}${path}`).href, 5)
      })

    const read = (id: string, bytes: Uint8Array) =>
      Effect.gen(function*() {
        yield* json("O7", 200, yield* call("GET", `/v1/files/${encodeURIComponent(id)}`))
        yield* insist("O8", isSame(yield* downloaded(id), bytes), "other bytes")
      })

    const described = (size: number, more: Fields = {}) => ({
      [names.fileName]: "film.mp4",
      [names.mediaType]: "video/mp4",
      [names.size]: size,
      ...more
    })

    const single = Effect.gen(function*() {
      const bytes = content(50)
      const opened = session(yield* json("O1", 201, yield* call("POST", paths.initiate, described(50))))
      const url = String(opened["upload_url"])
      const given = under(opened, names.fileId)
      const id = String(given)
      yield* insist("O1", URL.canParse(url), `upload_url is ${url}`)
      const encryption = ServiceVariation.encryptionHeaders(variation.open.storage)
      const different = Object.fromEntries(Object.keys(encryption).map((name) => [name, "AES256"]))
      for (const headers of [{}, different]) {
        const refused = yield* put(url, bytes, headers)
        yield* insist("U1 otherwise", refused.status === 403, `the status is ${refused.status}`)
      }
      const unfinished = yield* call("GET", `/v1/files/${encodeURIComponent(id)}/download`)
      yield* insist("U8", unfinished.status >= 400, `a file that is not finalized: ${unfinished.status}`)
      const stored = yield* put(url, bytes, encryption)
      yield* insist("U1", isFine(stored), `the status is ${stored.status}: ${yield* stored.text}`)
      const wanted = {
        none: undefined,
        empty: {},
        named: {
          uid: given,
          e_tag: stored.headers["etag"],
          byteCount: 50,
          label: "film.mp4",
          mime: "video/mp4",
          done: true
        }
      }
      const completed = yield* call(
        "POST",
        `/v2/files/${encodeURIComponent(id)}/upload/complete`,
        wanted[completeBody]
      )
      yield* insist("O2", isFine(completed), `the status is ${completed.status}`)
      yield* read(id, bytes)
    })

    const large = (wished: number | undefined, size: number, hours: number) =>
      Effect.gen(function*() {
        const bytes = content(size)
        const body = described(size, wished === undefined ? {} : { [names.parts]: wished })
        const opened = session(yield* json("O4", 201, yield* call("POST", "/v2/files/large-upload", body)))
        const id = String(under(opened, names.fileId))
        const entries: ReadonlyArray<unknown> = Array.isArray(opened["urls"]) ? opened["urls"] : []
        const urls = entries.map((entry, index) => {
          const fields = fieldsOf(entry)
          return typeof entry === "string"
            ? { url: entry, number: index + 1 }
            : { url: String(under(fields, names.partUrl)), number: Number(fields[names.partNumber] ?? index + 1) }
        }).sort((one, other) => one.number - other.number)
        yield* insist("O4", opened["upload_id"] !== undefined, "no upload_id")
        yield* insist("O5", new Set(urls.map(({ url }) => url)).size === urls.length, "the same URL for two parts")
        yield* insist("O5", urls.every(({ url }) => URL.canParse(url)), "not a URL")
        yield* insist("U4", urls.length >= 1 && urls.length <= size, `${urls.length} URLs for ${size} bytes`)
        yield* Effect.sleep(`${hours} hours`)
        const partSize = Math.ceil(size / urls.length)
        const starts = urls.map((_, index) => Math.floor(index * size / urls.length))
        yield* insist("U5", partSize > 0, "parts of nothing")
        const receipts = yield* Effect.forEach(urls, ({ number, url }, index) =>
          Effect.gen(function*() {
            const stored = yield* put(url, bytes.slice(starts[index], starts[index + 1]), partHeaders(url))
            yield* insist("U6", isFine(stored), `the status is ${stored.status}`)
            const etag = stored.headers["etag"]
            yield* insist("U5", etag !== undefined && etag !== "", "no etag")
            return { [names.completePartNumber]: number, [names.completeEtag]: etag }
          }))
        const completed = yield* call("POST", `/v2/files/${encodeURIComponent(id)}/large-upload/complete`, {
          upload_id: opened["upload_id"],
          [names.completeParts]: receipts
        })
        yield* insist("O6", isFine(completed), `the status is ${completed.status}`)
        yield* read(id, bytes)
      })

    // storage says in the URL which headers a part must have
    const partHeaders = (url: string): Readonly<Record<string, string>> =>
      (new URL(url).searchParams.get("X-Amz-SignedHeaders") ?? "").includes("encryption")
        ? ServiceVariation.encryptionHeaders(variation.open.storage)
        : {}

    const expired = Effect.gen(function*() {
      const opened = session(yield* json("O4", 201, yield* call("POST", "/v2/files/large-upload", described(100))))
      const [entry]: ReadonlyArray<unknown> = Array.isArray(opened["urls"]) ? opened["urls"] : []
      const url = typeof entry === "string" ? entry : String(under(fieldsOf(entry), names.partUrl))
      yield* Effect.sleep("200 minutes")
      const late = yield* put(url, content(10), partHeaders(url))
      yield* insist("U6", late.status >= 400, `after 200 minutes: ${late.status}`)
    })

    const walked = (limit: number | undefined) =>
      Effect.gen(function*() {
        let cursor: unknown
        let items = 0
        for (let pages = 0; pages < 200; pages++) {
          const search = new URLSearchParams()
          if (limit !== undefined) search.set("page[limit]", String(limit))
          if (typeof cursor === "string") search.set("page[start_cursor]", cursor)
          const body = yield* json("O9", 200, yield* call("GET", `/v1/projects?${search.toString()}`))
          const data: ReadonlyArray<unknown> | undefined = Array.isArray(body["data"]) ? body["data"] : undefined
          const page = fieldsOf(body["page"])
          yield* insist("O9", data !== undefined && Predicate.isRecord(body["page"]), "no data or no page")
          yield* insist("P1", (data?.length ?? 0) <= (limit ?? 100), `${data?.length} items`)
          items += data?.length ?? 0
          const next = page["next_cursor"]
          if (next === null || next === undefined) {
            return yield* insist("P3", items === variation.lists.items, `${items} items of ${variation.lists.items}`)
          }
          yield* insist("P2", typeof next === "string" && next !== cursor, "the same cursor again")
          cursor = next
        }
        return yield* new Broken({ sentence: "P3", what: "it does not end" })
      })

    yield* single
    yield* large(undefined, 300, 0)
    yield* large(1, 200, 0)
    yield* large(6, 200, 2.7)
    yield* expired
    yield* walked(undefined)
    yield* walked(3)
  })

/** Which sentence a service breaks first, and how; `undefined` if it keeps all of them. */
export const broken = (
  variation: ServiceVariation.ServiceVariation
): Effect.Effect<string | undefined> =>
  VirtualTime.run(raw(variation), { start: Date.UTC(2026, 0, 5, 12) }).pipe(
    Effect.match({
      onSuccess: () => undefined,
      onFailure: (error) => error instanceof Broken ? `${error.sentence}: ${error.what}` : String(error)
    }),
    Effect.provide(
      Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory(Varied.options(variation)))
    ),
    Effect.withTracerEnabled(false)
  )
