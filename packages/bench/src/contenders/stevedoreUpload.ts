/** `<base URL> <file> [concurrency] [parts] [smallest part]`: one upload with the whole engine, ledger and checksum included. */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const [baseUrl, file = "", ...numbers] = process.argv.slice(2)
const [concurrency, parts, minimumPartSize] = numbers.map((text) => text === "-" ? undefined : Number(text))

const profile = ServiceProfile.extend(
  ServiceProfile.standard,
  minimumPartSize === undefined ? {} : { limits: { minimumPartSize } }
)

const stevedore = NodeStevedore.layer({ baseUrl, token: Redacted.make("api.loopback"), profile })

await Effect.flatMap(FileSource.fromPath(file), (source) =>
  Uploads.upload(source, {
    concurrency,
    ...(parts === undefined ? {} : parts === 1 ? { strategy: "single" } : { strategy: "multipart", parts })
  })).pipe(
    Effect.provide(stevedore),
    Effect.runPromise
  )
