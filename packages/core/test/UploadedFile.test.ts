import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, FastCheck, Schema } from "effect"
import * as UploadedFile from "../src/UploadedFile.js"

const Json = Schema.parseJson(UploadedFile.UploadedFile)

const unnamed = FastCheck.dictionary(FastCheck.string().map((name) => `x_${name}`), FastCheck.jsonValue())

describe("UploadedFile", () => {
  it.prop("survives JSON, with everything that the service reported", {
    file: UploadedFile.UploadedFile,
    more: unnamed
  }, ({ file, more }) => {
    const extra: unknown = JSON.parse(JSON.stringify({ ...file.extra, ...more }))
    const text = Schema.encodeSync(Json)({ ...file, extra: { ...file.extra, ...more } })
    const decoded = Schema.decodeSync(Json)(text)
    assert.deepStrictEqual(decoded.extra ?? {}, extra)
    assert.strictEqual(Schema.encodeSync(Json)(decoded), text)
  })

  it("keeps what the service calls as a field of ours is called, or `extra`", () => {
    const file = {
      id: "f1",
      name: "a.txt",
      size: 5,
      sent: { bytes: 5, parts: 1, sessions: 1, checksum: undefined, proof: "unproven" as const },
      extra: { sent: "2030-01-01", name: 7, size: "5 B", extra: { a: 1 }, colour: "red" }
    }
    const text = Schema.encodeSync(Json)(file)
    assert.deepInclude(JSON.parse(text), { colour: "red", name: "a.txt" })
    assert.deepStrictEqual(Schema.decodeSync(Json)(text), file)
  })

  it.effect("is what an upload returns, in one piece or in several, with or without lost responses", () =>
    Effect.gen(function*() {
      const source = UploadSources.fromBytes("a.bin", new Uint8Array(20_000_000))
      for (const strategy of ["single", "multipart"] as const) {
        const file = yield* Uploads.upload(source, { strategy })
        assert.deepStrictEqual(yield* Schema.decode(Json)(yield* Schema.encode(Json)(file)), file)
      }
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("complete").loseAnswer() }))))
})
