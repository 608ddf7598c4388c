/** `<base URL> <file> <concurrency> <parts>`: the transport of Stevedore without the engine, the same parts. */
import * as ObjectStorage from "@stevedore/core/ObjectStorage"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const [baseUrl, file = "", concurrency = "4", parts = "1"] = process.argv.slice(2)

const upload = Effect.gen(function*() {
  const storage = yield* ObjectStorage.ObjectStorage
  const source = yield* FileSource.fromPath(file)
  const opened = yield* source.open
  const partSize = Math.ceil(source.size / Number(parts))
  const offsets = Array.from({ length: Number(parts) }, (_, index) => index * partSize)
  yield* Effect.forEach(offsets, (offset, index) =>
    Effect.scoped(Effect.gen(function*() {
      const length = Math.min(partSize, source.size - offset)
      const url = yield* PresignedUrl.fromString(`${baseUrl}/storage/bare?partNumber=${index + 1}&uploadId=u`)
      const section = yield* opened.section({ offset, length })
      const { name } = source
      yield* storage.put({ url, section, name, headers: {}, clockOffset: 0, attempt: 1, onSent: () => {} })
    })), { concurrency: Number(concurrency), discard: true })
})

await upload.pipe(
  Effect.scoped,
  Effect.provide(NodeStevedore.layer({ baseUrl, token: Redacted.make("api.loopback"), ledger: false })),
  Effect.runPromise
)
