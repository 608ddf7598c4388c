import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Downloads, Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, type Sandbox, type SandboxOptions } from "@stevedore/testing"
import { ConfigProvider, Effect, Layer, Redacted, Stream } from "effect"
import { Live, once, profile } from "../../src/OtherServices.js"
import * as Servers from "../Servers.js"

const bytes = new TextEncoder().encode("hello")
const source = UploadSources.fromBytes("notes.txt", bytes, { mediaType: "text/plain" })

const archive: SandboxOptions.Options = { encryptionHeaders: profile.encryptionHeaders, download: "link" }

const configuredFor = (sandbox: Sandbox.SandboxService) =>
  Layer.provide(
    Live,
    Layer.setConfigProvider(ConfigProvider.fromMap(
      new Map([["ARCHIVE_URL", sandbox.baseUrl], ["ARCHIVE_TOKEN", Redacted.value(sandbox.token)]])
    ))
  )

const busy = FaultScript.on("put").times(7).answer(503, "SlowDown", { retryAfter: 0 })

describe("OtherServices", () => {
  it.scopedLive("a storage that signs the key's id too is given both headers, and a download follows the link", () =>
    Effect.gen(function*() {
      const sandbox = yield* Servers.sandbox(archive)
      const downloaded = yield* Effect.flatMap(
        Uploads.upload(source),
        (file) => Stream.runCollect(Downloads.stream(file.id))
      )
        .pipe(Effect.provide(configuredFor(sandbox)))
      assert.deepStrictEqual(Buffer.concat([...downloaded]), Buffer.from(bytes))
      assert.deepStrictEqual((yield* sandbox.report).breaches, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("the policy given to the layer holds for the uploads that use it: 8 attempts", () =>
    Effect.gen(function*() {
      const sandbox = yield* Servers.sandbox({ ...archive, faults: busy })
      const file = yield* Effect.provide(Uploads.upload(source), configuredFor(sandbox))
      assert.deepStrictEqual(yield* sandbox.stored(file.id), bytes)
      const { requests } = yield* sandbox.report
      assert.lengthOf(requests.filter((request) => request.operation === "put"), 8)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("the policy given to one call goes before it: a single attempt", () =>
    Effect.gen(function*() {
      const sandbox = yield* Servers.sandbox({ ...archive, faults: busy })
      const error = yield* Effect.flip(Effect.provide(once(source), configuredFor(sandbox)))
      assert.strictEqual(error._tag, "StorageUnavailable")
      const { requests } = yield* sandbox.report
      assert.lengthOf(requests.filter((request) => request.operation === "put"), 1)
    }).pipe(Effect.provide(NodeContext.layer)))
})
