import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, FastCheck, Schema } from "effect"
import * as UploadedFile from "../src/upload/uploadedFile.js"

const Json = Schema.parseJson(UploadedFile.UploadedFile)

const unnamed = FastCheck.dictionary(FastCheck.string().map((name) => `x_${name}`), FastCheck.jsonValue())

describe("UploadedFile", () => {
  it.prop("survives JSON, with everything that the service reported", {
    file: UploadedFile.UploadedFile,
    more: unnamed
  }, ({ file, more }) => {
    const whole = JSON.parse(JSON.stringify({ ...file, ...more }))
    assert.deepStrictEqual(
      JSON.parse(Schema.encodeSync(Json)(Schema.decodeUnknownSync(Json)(JSON.stringify(whole)))),
      whole
    )
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
