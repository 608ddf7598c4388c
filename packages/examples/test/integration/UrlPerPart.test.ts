import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import { layer } from "../../src/UrlPerPart.js"

/** A service without URLs in its sessions, and its storage. */
const serving = Effect.gen(function*() {
  const asked: Array<string> = []
  const stored = new Map<string, Buffer>()
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk) => chunks.push(chunk))
        request.on("end", () => {
          const at = (request.url ?? "").replace(/\?.*/, "")
          const part = /\d+/.exec(at.replace(/^\/v2/, ""))?.[0] ?? ""
          asked.push(`${request.method} ${at}`)
          const json = (value: unknown) =>
            response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
          if (request.method === "PUT") {
            assert.isUndefined(request.headers.authorization)
            stored.set(part, Buffer.concat(chunks))
            return response.writeHead(200, { etag: `"${part}"` }).end()
          }
          assert.strictEqual(request.headers.authorization, "Bearer api.nothing")
          return json(
            at.endsWith("/url")
              ? { url: `http://${request.headers.host}/put/${part}?signature=a` }
              : { id: "f", upload_id: "u", sent: Buffer.concat(chunks).toString() }
          )
        })
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { asked, stored, baseUrl: `http://127.0.0.1:${port}` }
})

describe("UrlPerPart", () => {
  it.scopedLive("asks for the URL of each part, and sends the parts to them without the token", () =>
    Effect.gen(function*() {
      const { asked, baseUrl, stored } = yield* serving
      const bytes = new Uint8Array(11 * 1_048_576).map((_, index) => index % 251)
      const source = UploadSources.fromBytes("a.bin", bytes, { mediaType: "application/octet-stream" })
      const file = yield* Uploads.upload(source, { parts: 2 }).pipe(
        Effect.provide(layer({ baseUrl, token: Redacted.make("api.nothing"), ledger: false }))
      )
      assert.strictEqual(file.id, "f")
      assert.deepStrictEqual(asked.toSorted(), [
        "GET /v2/files/f/large-upload/parts/1/url",
        "GET /v2/files/f/large-upload/parts/2/url",
        "POST /v2/files/f/large-upload/complete",
        "POST /v2/files/large-upload",
        "PUT /put/1",
        "PUT /put/2"
      ])
      assert.isTrue(Buffer.concat([stored.get("1") ?? bytes, stored.get("2") ?? bytes]).equals(bytes))
    }))
})
