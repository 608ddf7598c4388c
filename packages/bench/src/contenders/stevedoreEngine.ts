/** `<count> <files at once>`: uploads of 5 bytes over a client that answers by itself: no socket, no disk. Writes the seconds. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpObjectStorage from "@stevedore/core/HttpObjectStorage"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as TransferGate from "@stevedore/core/TransferGate"
import * as Uploads from "@stevedore/core/Uploads"
import * as UploadSources from "@stevedore/core/UploadSources"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [count = "1", files = "16"] = process.argv.slice(2)

const bytes = new TextEncoder().encode("hello")

const id = "File0000000000000000001"

const query = `X-Amz-Date=20990101T000000Z&X-Amz-Expires=10800&X-Amz-SignedHeaders=host&X-Amz-Signature=0`

const json = (status: number, data: unknown) =>
  new Response(JSON.stringify({ data }), { status, headers: { "content-type": "application/json" } })

const answerTo = ({ hostname, pathname }: URL): Response =>
  hostname === "storage.test"
    ? new Response(null, { status: 200, headers: { etag: "\"part\"" } })
    : pathname.endsWith("/complete")
    ? json(200, { id, name: "a.bin", type: "application/octet-stream", size: bytes.length, status: "completed" })
    : json(201, { id, upload_url: `https://storage.test/${id}?${query}` })

const client = HttpClient.make((request, url) => Effect.sync(() => HttpClientResponse.fromWeb(request, answerTo(url))))

const layer = Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
  Layer.provide(ServiceConfig.layer({ baseUrl: "https://service.test", token: Redacted.make("api.loopback") })),
  Layer.merge(TransferGate.layer()),
  Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
)

const before = performance.now()

await Effect.forEach(
  Array.from({ length: Number(count) }, (_, index) => UploadSources.fromBytes(`${index}.bin`, bytes)),
  (source) => Uploads.upload(source),
  { concurrency: Number(files), discard: true }
).pipe(Effect.provide(layer), Effect.runPromise)
process.stdout.write(String((performance.now() - before) / 1000))
