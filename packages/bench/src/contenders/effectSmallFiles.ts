/** `<origin> <folder> <count> <files at once>`: the same three requests a file by Effect's client over undici, and nothing else. Writes the seconds. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

const [origin = "", folder = "", count = "1", files = "16"] = process.argv.slice(2)

const Opened = Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })

const post = (path: string, body: unknown) =>
  HttpClient.execute(
    HttpClientRequest.post(`${origin}${path}`, {
      headers: { authorization: "Bearer api.loopback" },
      body: HttpBody.unsafeJson(body)
    })
  ).pipe(Effect.flatMap((answer) => answer.json))

const upload = (number: number) =>
  Effect.gen(function*() {
    const name = `${number}.bin`
    const bytes = yield* Effect.tryPromise(() => readFile(join(folder, name)))
    const answer = yield* post("/v2/files/upload", { name, type: "application/octet-stream", size: bytes.length })
    const { data } = yield* Schema.decodeUnknown(Opened)(answer)
    const stored = yield* HttpClient.execute(
      HttpClientRequest.put(data.upload_url, {
        headers: { "x-amz-server-side-encryption": "aws:kms" },
        body: HttpBody.uint8Array(bytes)
      })
    )
    yield* stored.text
    yield* post(`/v2/files/${data.id}/upload/complete`, {})
  })

const before = performance.now()

await Effect.forEach(Array.from({ length: Number(count) }, (_, index) => index + 1), upload, {
  concurrency: Number(files),
  discard: true
}).pipe(
  Effect.withTracerEnabled(false),
  Effect.provide(NodeHttpClient.layerUndici),
  Effect.runPromise
)
process.stdout.write(String((performance.now() - before) / 1000))
