import { assert, describe, it } from "@effect/vitest"
import {
  ServiceApi,
  ServiceError,
  ServiceProfile,
  SourceError,
  TransferGate,
  UploadLedger,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Deferred, Effect, Either, FastCheck, Layer, Option, Stream, TestClock } from "effect"
import { isDoubtful } from "../../src/upload/meaning.js"
import { deadlineOf, rangesOf } from "../../src/upload/session.js"
import { parse, presigned } from "../fixtures/presignedUrls.js"
import { bytes, inTime, requestsOf, sourceOf, tiny } from "../fixtures/uploads.js"

const refusal = { operation: "completeLargeUpload", issues: [] }
const otherIssue = { ...refusal, issues: [{ code: "BadGateway", title: "Storage refused", path: undefined }] }
const invalidPart = { ...refusal, issues: [{ code: "InvalidPart", title: "An etag does not match", path: undefined }] }

describe("the parts of a session", () => {
  it.each<readonly [by: string, isForDoubt: boolean, error: ServiceError.ServiceError]>([
    ["the service's 502", true, new ServiceError.ServiceUnavailable({ ...otherIssue, status: 502 })],
    ["a gateway's 502", false, new ServiceError.ServiceUnavailable({ ...refusal, status: 502 })],
    ["the name of a part", true, new ServiceError.RequestRejected({ ...invalidPart, status: 400 })]
  ])("parts that a browser may have repeated are in doubt if Complete is refused by %s: %s", (_, isForDoubt, error) => {
    const receipt = { partNumber: 1, etag: "\"e\"", size: 1, attempts: 1, perhapsRepeated: true }
    assert.strictEqual(isDoubtful(error, receipt), isForDoubt)
    assert.isFalse(isDoubtful(error, { ...receipt, perhapsRepeated: false }))
  })

  it.each<readonly [refused: string, isForDoubt: boolean, error: ServiceError.ServiceError]>([
    ["by a 502", true, new ServiceError.ServiceUnavailable({ ...refusal, status: 502 })],
    ["for a part", true, new ServiceError.RequestRejected({ ...invalidPart, status: 400 })],
    ["for a part, in a 200", true, new ServiceError.ServiceUnavailable({ ...invalidPart, status: 200 })],
    ["by a 503", false, new ServiceError.ServiceUnavailable({ ...refusal, status: 503 })],
    ["for something else", false, new ServiceError.RequestRejected({ ...refusal, status: 422 })],
    ["for its token", false, new ServiceError.Unauthorized({ ...invalidPart, status: 401 })]
  ])("parts that were sent twice are in doubt if Complete is refused %s: %s", (_, isForDoubt, error) => {
    const receiptOf = (partNumber: number, attempts: number) => ({
      partNumber,
      etag: "\"e\"",
      size: 1,
      attempts,
      checksum: undefined
    })
    assert.strictEqual(isDoubtful(error, receiptOf(2, 2)), isForDoubt)
    assert.isFalse(isDoubtful(error, receiptOf(2, 1)))
  })

  it.prop(
    "the deadline is when the first of the URLs ends, whichever it is; one that does not say counts for nothing",
    [FastCheck.uniqueArray(FastCheck.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 5 }), FastCheck.nat(5)],
    ([seconds, silent]) => {
      const lasting = seconds.map((seconds) => presigned({ seconds }))
      const urls = [
        ...lasting.slice(0, silent),
        parse("https://storage.test/key?X-Amz-Signature=a"),
        ...lasting.slice(silent)
      ]
      const parts = urls.map((url, index) => ({ partNumber: index + 1, range: { offset: 0, length: 1 }, url }))
      const ends = lasting.map(({ deadline }) => Option.getOrThrow(deadline).getTime())
      assert.strictEqual(deadlineOf(parts).getTime(), Math.min(...ends))
    }
  )

  it("a single PUT takes all bytes, even if they are more than one part may have", () => {
    const limits = { ...ServiceProfile.standard.limits, maximumPartSize: 10 }
    const ranges = rangesOf({ parts: 1 }, 95, limits)
    assert.deepStrictEqual(ranges, Either.right([{ offset: 0, length: 95 }]))
    assert.isTrue(Either.isLeft(rangesOf({ parts: 1, uploadId: "u" }, 95, limits)))
  })

  it.effect("a new session is opened only when no part of the last one is in flight or waiting", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit: 3 })
      const inTheGate: Array<number> = []
      const api = yield* ServiceApi.ServiceApi
      const counting = ServiceApi.ServiceApi.of({
        ...api,
        initiateLargeUpload: (file) =>
          Effect.flatMap(gate.state, ({ inFlight, waiting }) => {
            inTheGate.push(inFlight + waiting)
            return api.initiateLargeUpload(file)
          })
      })
      const file = yield* inTime(
        Uploads.upload(sourceOf(95), { strategy: "multipart", concurrency: 8 }).pipe(
          Effect.provideService(ServiceApi.ServiceApi, counting),
          Effect.provideService(TransferGate.TransferGate, gate)
        )
      )
      assert.strictEqual(file.sent.sessions, 2)
      assert.deepStrictEqual(inTheGate, [0, 0])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        tiny({
          faults: FaultScript.all([
            FaultScript.on("putPart").part(1).expire(),
            FaultScript.on("putPart").part(2).delay("1 minute")
          ])
        })
      )
    ))

  it.effect("no part of a stream is buffered for an upload that has failed for good", () =>
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

  for (const strategy of ["single", "multipart"] as const) {
    it.effect(`a source written over while its last bytes go up is not completed: ${strategy}`, () =>
      Effect.gen(function*() {
        const source = sourceOf(95)
        let sent = 0
        const overwritten: UploadSource = {
          ...source,
          open: Effect.map(source.open, (opened) => ({
            ...opened,
            section: (range) =>
              Effect.map(opened.section(range), (section) => ({
                ...section,
                body: (observe) => {
                  sent += range.length
                  return section.body(observe)
                }
              })),
            unchanged: Effect.suspend(() =>
              sent < 95 ? Effect.void : new SourceError.SourceChanged({ fileName: source.name, what: "modified" })
            )
          }))
        }
        const error = yield* inTime(Effect.flip(Uploads.upload(overwritten, { strategy, concurrency: 1 })))
        assert.strictEqual(error._tag, "SourceChanged")
        const report = yield* Sandbox.report
        assert.isNotEmpty(requestsOf(report, strategy === "single" ? "put" : "putPart"))
        assert.lengthOf([...requestsOf(report, "complete"), ...requestsOf(report, "completeLarge")], 0)
      }).pipe(Effect.provide(tiny())))
  }

  it.effect("an upload that is paused when storage has its last part is completed once it goes on", () =>
    Effect.gen(function*() {
      const ledger = yield* UploadLedger.UploadLedger
      const started = yield* Deferred.make<Uploads.UploadHandle>()
      const handle = yield* Uploads.start({ ...sourceOf(5), fingerprint: { kind: "file", size: 5, identity: "5" } })
        .pipe(
          Effect.provideService(UploadLedger.UploadLedger, {
            ...ledger,
            receive: () => Effect.flatMap(Deferred.await(started), ({ pause }) => pause)
          })
        )
      yield* Deferred.succeed(started, handle)
      yield* TestClock.adjust("1 minute")
      const operations = Effect.map(Sandbox.report, ({ requests }) => requests.map(({ operation }) => operation))
      assert.deepStrictEqual(yield* operations, ["initiate", "put"])
      yield* handle.resume
      yield* inTime(handle.await)
      assert.deepStrictEqual(yield* operations, ["initiate", "put", "complete"])
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(UploadLedger.layerMemory, tiny()))))
})
