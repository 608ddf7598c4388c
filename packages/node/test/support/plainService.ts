import { Effect } from "effect"
import * as StorageServer from "./storageServer.js"

const query = "X-Amz-Expires=3600&X-Amz-Date=20300101T000000Z"

/** Opens, stores and completes, in this process, but without any Effect. Its list has five pages. */
export const plainService = Effect.gen(function*() {
  const server: StorageServer.StorageServer = yield* StorageServer.serve(async ({ received, request, response }) => {
    let body = ""
    if (received.method === "PUT") request.resume()
    else request.on("data", (bytes) => body += bytes)
    await new Promise((resolve) => request.on("end", resolve))
    if (received.method === "PUT") return void response.writeHead(200, { etag: "\"etag\"" }).end()
    const json = (value: unknown) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
    const object = `${server.origin}/object?${query}`
    if (received.target.startsWith("/v1/things")) {
      const page = Number(new URL(received.target, server.origin).searchParams.get("page[start_cursor]") ?? 1)
      return json({
        data: [{ id: String(page) }],
        page: { has_more: page < 5, next_cursor: page < 5 ? String(page + 1) : null }
      })
    }
    if (received.target.endsWith("/large-upload")) {
      const { parts } = JSON.parse(body)
      const urls = Array.from({ length: parts }, (_, index) => `${object}&uploadId=u&partNumber=${index + 1}`)
      return json({ data: { id: "f", upload_id: "u", urls } })
    }
    return json({ data: received.target.endsWith("/upload") ? { id: "f", upload_url: object } : {} })
  })
  return server
})
