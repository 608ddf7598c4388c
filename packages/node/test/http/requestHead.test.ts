import { assert, describe, it } from "@effect/vitest"
import { Downloads, Lists, ServiceApi, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, FastCheck as fc, Redacted, Schema, Stream } from "effect"
import { requestHead, targetOf } from "../../src/http/requestHead.js"
import * as StorageServer from "../support/storageServer.js"

describe("targetOf", () => {
  it("keeps path and query as they were signed, without resolving, decoding or encoding", () => {
    for (const target of ["/a/../b/./c", "/it's?X-Amz-Signature=a%2fb%2F'", "//x//y?", "/{a}|b^`\"<>?q={}|'", "/%"]) {
      assert.strictEqual(targetOf(`https://user:word@bucket.test:8443${target}`), target)
    }
  })

  it("encodes only characters that cannot be sent, omits the fragment, and is never empty", () => {
    assert.strictEqual(targetOf("http://host/ä€?q=é#there"), "/%C3%A4%E2%82%AC?q=%C3%A9")
    assert.strictEqual(targetOf("http://host/\ud800"), "/%EF%BF%BD")
    assert.strictEqual(targetOf("http://host"), "/")
    assert.strictEqual(targetOf("HTTP:///host?a"), "/?a")
  })

  it.effect.prop(
    "starts with a slash and contains only visible ASCII characters, for any URL",
    [fc.webUrl({ withQueryParameters: true, withFragments: true })],
    ([href]) => Effect.sync(() => assert.match(targetOf(href), /^\/[\x21-\x7e]*$/))
  )
})

describe("requestHead", () => {
  it("throws if the name or value of a header contains a line break", () => {
    assert.throws(() => requestHead("PUT", "http://host/", { "content-type": "a/b\r\nx-amz-acl: public-read" }))
    assert.throws(() => requestHead("PUT", "http://host/", { "a: b\r\nc": "d" }))
  })
})

const mebibyte = 1_048_576

const query = "X-Amz-Date=20990101T000000Z&X-Amz-Expires=10800&X-Amz-SignedHeaders=host&X-Amz-Signature=0"

const signedToo = query.replace("=host", "=host%3Bx-amz-server-side-encryption")

const things = Lists.make({ path: "/v1/things", item: Schema.Struct({ id: Schema.String }) })

/** The service and its storage, and the head of every request to them, byte by byte as Node read it. */
const server = Effect.gen(function*() {
  const heads: Array<string> = []
  const serving: StorageServer.StorageServer = yield* StorageServer.serve(async ({ drain, request, response }) => {
    const target = request.url ?? ""
    const lines = request.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []
    )
    const shown = lines.map((line) =>
      line.replace(/127\.0\.0\.1:\d+/, "#").replace(/^(b3|traceparent): [\da-f-]+$/, "$1: #")
    )
    heads.push([`${request.method} ${target}`, ...shown].join(", "))
    await drain()
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    const storage = `${serving.origin}/storage/f`
    const record = { id: "f", name: "a", size: 5, status: "completed", created_at: "2026-01-01T00:00:00Z" }
    if (target.startsWith("/storage/")) response.writeHead(200, { etag: "\"etag\"" }).end()
    else if (target.endsWith("/upload")) json(201, { data: { id: "f", upload_url: `${storage}?${signedToo}` } })
    else if (target.endsWith("/large-upload")) {
      const urls = [1, 2].map((part) => `${storage}?partNumber=${part}&uploadId=u&${query}`)
      json(201, { data: { id: "f", upload_id: "u", urls } })
    } else if (target.startsWith("/v1/things")) {
      const isLast = target.includes("cursor")
      json(200, { data: [{ id: "1" }], page: { has_more: !isLast, next_cursor: isLast ? null : "next" } })
    } else if (target.endsWith("/download")) {
      response.writeHead(200, { etag: "\"etag\"", "content-type": "text/plain" }).end("hello")
    } else json(200, { data: record })
  })
  return { heads, origin: serving.origin }
})

const alive = "host: #, connection: keep-alive"

const asked =
  "authorization: Bearer api.secret, accept: application/json, accept-encoding: identity, b3: #, traceparent: #"

/** The same on the line for Effect 4, in the same order. */
const programs: ReadonlyArray<
  readonly [
    name: string,
    program: Effect.Effect<unknown, unknown, Uploads.Requirements>,
    heads: ReadonlyArray<string>
  ]
> = [
  [
    "an upload by a single PUT",
    Uploads.upload(UploadSources.fromBytes("a.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })),
    [
      `POST /v2/files/upload, ${alive}, content-type: application/json, content-length: 45, ${asked}`,
      `PUT /storage/f?${signedToo}, ${alive}, accept-encoding: identity, x-amz-server-side-encryption: aws:kms, content-type: text/plain, content-length: 5`,
      `POST /v2/files/f/upload/complete, ${alive}, ${asked}, content-length: 0`
    ]
  ],
  [
    "an upload in parts",
    Uploads.upload(UploadSources.fromBytes("b.bin", new Uint8Array(10 * mebibyte)), {
      strategy: "multipart",
      parts: 2,
      concurrency: 1
    }),
    [
      `POST /v2/files/large-upload, ${alive}, content-type: application/json, content-length: 76, ${asked}`,
      `PUT /storage/f?partNumber=1&uploadId=u&${query}, ${alive}, accept-encoding: identity, content-length: 5242880`,
      `PUT /storage/f?partNumber=2&uploadId=u&${query}, ${alive}, accept-encoding: identity, content-length: 5242880`,
      `POST /v2/files/f/large-upload/complete, ${alive}, content-type: application/json, content-length: 99, ${asked}`
    ]
  ],
  ["a list", Stream.runDrain(things()), [
    `GET /v1/things?page%5Blimit%5D=100, ${alive}, ${asked}`,
    `GET /v1/things?page%5Blimit%5D=100&page%5Bstart_cursor%5D=next, ${alive}, ${asked}`
  ]],
  ["a download", Stream.runDrain(Downloads.stream("f")), [
    `GET /v1/files/f/download, ${alive}, accept: */*, authorization: Bearer api.secret, accept-encoding: identity, b3: #, traceparent: #`
  ]],
  ["a record", Effect.flatMap(ServiceApi.ServiceApi, (service) => service.file("f")), [
    `GET /v1/files/f, ${alive}, ${asked}`
  ]]
]

describe("what is on the wire", () => {
  for (const [name, program, expected] of programs) {
    it.scopedLive(`of ${name}: these headers, and no other`, () =>
      Effect.gen(function*() {
        const { heads, origin } = yield* server
        const layer = NodeStevedore.layer({ baseUrl: origin, token: Redacted.make("api.secret"), ledger: false })
        yield* Effect.provide(program, layer)
        assert.deepStrictEqual(heads, expected)
      }))
  }
})
