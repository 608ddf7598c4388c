import { assert, describe, it } from "@effect/vitest"
import { TransferGate, Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Effect, Stream } from "effect"
import { bytes, inTime, requestsOf, tiny } from "./fixtures/uploads.js"

describe("SessionTransfer", () => {
  it.effect("no part of a stream is read into the memory of one that has failed for good", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ maxBufferedBytes: 10 })
      let read = 0
      const stream = Stream.range(0, 9).pipe(
        Stream.rechunk(1),
        Stream.map((index) => {
          read += 10
          return bytes(100).subarray(index * 10, index * 10 + 10)
        })
      )
      const error = yield* inTime(
        Uploads.upload(UploadSources.fromStream("s.bin", stream, { size: 100 }), { strategy: "multipart" }).pipe(
          Effect.provideService(TransferGate.TransferGate, gate),
          Effect.flip
        )
      )
      assert.strictEqual(error._tag, "StorageForbidden")
      assert.strictEqual(read, 10)
      assert.lengthOf(requestsOf(yield* Sandbox.report, "putPart"), 1)
      assert.strictEqual((yield* gate.state).bufferedBytes, 0)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        tiny({ faults: FaultScript.on("putPart").part(1).answer(403, "AccessDenied") })
      )
    ))
})
