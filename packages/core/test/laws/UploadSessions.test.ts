import { assert, describe, it } from "@effect/vitest"
import {
  ObjectStorage,
  RetryPolicy,
  ServiceApi,
  ServiceError,
  ServiceProfile,
  TransferGate,
  Uploads,
  UploadSources
} from "@stevedore/core"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Stream } from "effect"
import { distinct, openLedger, recognizable } from "../fixtures/ledgers.js"
import { bytes, inTime, requestsOf, sourceOf, tiny } from "../fixtures/uploads.js"

const multipart = (options: Uploads.UploadAllOptions = {}) =>
  Uploads.upload(sourceOf(95), { strategy: "multipart", ...options })

const perhapsRepeating = Effect.map(
  ObjectStorage.ObjectStorage,
  (storage) =>
    ObjectStorage.ObjectStorage.of({
      ...storage,
      put: (request) => Effect.map(storage.put(request), (receipt) => ({ ...receipt, perhapsRepeated: true }))
    })
)

// A gateway gives up, the service goes on, and is done a moment after the file was asked for
const completingLate = Effect.map(ServiceApi.ServiceApi, (service) => {
  let told: Parameters<typeof service.completeLargeUpload>[0] | undefined
  let asked = 0
  return ServiceApi.ServiceApi.of({
    ...service,
    completeLargeUpload: (completion) =>
      Effect.suspend(() => {
        if (told !== undefined) return service.completeLargeUpload(completion)
        told = completion
        return new ServiceError.ServiceUnavailable({
          operation: "completeLargeUpload",
          status: 502,
          issues: [],
          attempts: 5
        })
      }),
    file: (fileId) =>
      Effect.suspend(() =>
        asked++ > 0 || told === undefined
          ? service.file(fileId)
          : Effect.flatMap(
            Effect.exit(service.file(fileId)),
            (exit) => told === undefined ? exit : Effect.zipRight(service.completeLargeUpload(told), exit)
          )
      )
  })
})

const once = { strategy: "multipart", maxSessions: 1, concurrency: 1 } as const

/** An upload that fails, and what is left of it in a ledger. */
const failed = Effect.gen(function*() {
  const { ledger, values } = yield* openLedger()
  const upload = Uploads.upload(recognizable(distinct(95)), once).pipe(
    Effect.provideService(UploadLedger.UploadLedger, ledger)
  )
  const error = yield* inTime(Effect.flip(upload))
  return { error, upload, unfinished: yield* ledger.unfinished, text: [...values.values()].join() }
})

const on = FaultScript.on

const silentFile = on("file").times(5).answer(503)

describe("UploadSessions", () => {
  it.effect("expired URLs lead to a new session, in which everything is sent again", () =>
    Effect.gen(function*() {
      const file = yield* inTime(multipart())
      assert.strictEqual(file.sent.sessions, 2)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "initiateLarge"), 2)
      const second = requestsOf(report, "putPart").filter((request) => request.fileId === file.id)
      assert.deepStrictEqual(
        new Set(second.map((request) => request.part)),
        new Set(Array.from({ length: file.sent.parts }, (_, index) => index + 1))
      )
      assert.deepStrictEqual(report.breaches, [])
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").part(7).expire() }))))

  it.effect("an expired URL is refused before it is used, once its deadline has passed by the server's clock", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart({ maxSessions: 1 })))
      assert.strictEqual(error._tag, "UrlExpired")
      if (error._tag === "UrlExpired") assert.strictEqual(error.reason, "Deadline")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(
      tiny({
        backOff: true,
        urlLifetime: "10 seconds",
        clockOffsetMillis: 7_200_000,
        faults: FaultScript.on("putPart").always().answer(503)
      }).pipe(Layer.provide(RetryPolicy.layer({ base: "40 seconds", cap: "40 seconds", attempts: 100 })))
    )))

  it.effect("at most maxSessions are opened", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart({ maxSessions: 2 })))
      assert.strictEqual(error._tag, "UrlExpired")
      assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 2)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").always().expire() }))))

  it.effect("a key that storage does not know is tried in one new session, as it may have been rotated, and no more", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart({ maxSessions: 5 })))
      assert.strictEqual(error._tag === "UrlExpired" ? error.reason : error._tag, "UnknownKey")
      assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 2)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").always().answer(403, "InvalidAccessKeyId") }))))

  it.effect("calls a ledger when there is something to record, and not before: it may be anybody's code", () => {
    const calls: Array<string> = []
    const called = (operation: string) => () => {
      calls.push(operation)
      return Effect.void
    }
    return Uploads.upload(recognizable(distinct(20)), { strategy: "multipart", parts: 2, concurrency: 1 }).pipe(
      Effect.tap(() =>
        Effect.sync(() => assert.deepStrictEqual(calls, ["begin", "receive", "receive", "completing", "forget"]))
      ),
      Effect.provide(Layer.merge(
        UploadLedger.layerNoop({
          begin: called("begin"),
          receive: called("receive"),
          completing: called("completing"),
          forget: called("forget")
        }),
        tiny()
      ))
    )
  })

  it.effect("a source that can be read only once has one session", () =>
    Effect.gen(function*() {
      const source = UploadSources.fromStreamOnce("s.bin", Stream.succeed(bytes(95)), { size: 95 })
      const error = yield* inTime(Effect.flip(Uploads.upload(source, { strategy: "multipart" })))
      assert.strictEqual(error._tag, "UrlExpired")
      assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 1)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").expire() }))))

  it.effect("a part of a source that can be read only once is sent again from memory, and never read again", () =>
    Effect.gen(function*() {
      let runs = 0
      const stream = Stream.suspend(() => {
        runs++
        return Stream.succeed(bytes(95))
      })
      const source = UploadSources.fromStreamOnce("s.bin", stream, { size: 95 })
      const file = yield* inTime(Uploads.upload(source, { strategy: "multipart" }))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      assert.strictEqual(runs, 1)
      assert.strictEqual(
        (yield* Effect.flip(Uploads.upload(source, { strategy: "multipart" })))._tag,
        "SourceUnreadable"
      )
      assert.strictEqual(runs, 1)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").times(3).answer(503, "SlowDown") }))))

  it.effect("a signature mismatch fails at once, naming the signed headers and what was sent", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(sourceOf(95)))
      assert.strictEqual(error._tag, "SignatureMismatch403")
      if (error._tag === "SignatureMismatch403") {
        assert.deepStrictEqual(error.signedHeaders, ["x-amz-server-side-encryption"])
        assert.deepStrictEqual([...error.sentHeaders].sort(), [
          "content-length",
          "content-type",
          "x-amz-server-side-encryption"
        ])
      }
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "put"), 1)
      assert.lengthOf(requestsOf(report, "initiate"), 1)
    }).pipe(Effect.provide(tiny({
      profile: ServiceProfile.extend(ServiceProfile.standard, {
        encryptionHeaders: { "x-amz-server-side-encryption": "AES256" }
      })
    }))))

  it.effect("a signed header that the profile lacks is named before anything is sent", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(sourceOf(95)))
      assert.strictEqual(error._tag, "SignedHeaderMissing")
      if (error._tag === "SignedHeaderMissing") {
        assert.deepStrictEqual(error.headers, ["x-amz-server-side-encryption-aws-kms-key-id"])
      }
      assert.lengthOf(requestsOf(yield* Sandbox.report, "put"), 0)
    }).pipe(Effect.provide(tiny({
      encryptionHeaders: {
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": "key-1"
      },
      profile: ServiceProfile.standard
    }))))

  it.effect.each(
    [[502, "InternalError"], [500, "InvalidPart"], [400, "InvalidPart"]] as const
  )(
    "a doubtful part is put again if storage refuses the etags (%s), and only that part",
    ([status, code]) =>
      Effect.gen(function*() {
        const file = yield* inTime(multipart())
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
        const puts = requestsOf(yield* Sandbox.report, "putPart")
        const times = (part: number) => puts.filter((request) => request.part === part).length
        assert.deepStrictEqual([times(1), times(3), times(5), times(9)], [1, 3, 1, 1])
        assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 1)
      }).pipe(Effect.provide(tiny({
        faults: FaultScript.on("putPart").part(3).loseAnswer()
          .and(FaultScript.on("complete").times(status === 400 ? 1 : 5).answer(status, code))
      })))
  )

  it.effect("doubtful parts are put again as many at once as the upload may send", () => {
    let inFlight = 0
    let most = 0
    return Effect.gen(function*() {
      const gate = yield* TransferGate.TransferGate
      const api = yield* ServiceApi.ServiceApi
      const counting = TransferGate.TransferGate.of({
        ...gate,
        pass: (transfer, passage) =>
          gate.pass(
            Effect.acquireUseRelease(
              Effect.sync(() => {
                inFlight += 1
                most = Math.max(most, inFlight)
              }),
              () => transfer,
              () => Effect.sync(() => inFlight -= 1)
            ),
            passage
          )
      })
      const mostBefore: Array<number> = []
      const counted = ServiceApi.ServiceApi.of({
        ...api,
        completeLargeUpload: (upload) =>
          Effect.suspend(() => {
            mostBefore.push(most)
            most = 0
            return api.completeLargeUpload(upload)
          })
      })
      const upload = multipart({ concurrency: 4 }).pipe(
        Effect.provideService(TransferGate.TransferGate, counting),
        Effect.provideService(ServiceApi.ServiceApi, counted)
      )
      yield* inTime(upload)
      assert.deepStrictEqual(mostBefore, [4, 4])
    }).pipe(Effect.provide(tiny({
      faults: FaultScript.all([
        FaultScript.on("putPart").times(10).loseAnswer(),
        FaultScript.on("putPart").always().delay("10 seconds"),
        FaultScript.on("complete").times(5).answer(502)
      ])
    })))
  })

  it.effect("every part is put again if storage refuses the etags of a client that may have repeated requests", () =>
    Effect.gen(function*() {
      const file = yield* inTime(
        Effect.provideServiceEffect(multipart(), ObjectStorage.ObjectStorage, perhapsRepeating)
      )
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "putPart"), 18)
      assert.lengthOf(requestsOf(report, "initiateLarge"), 1)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("complete").times(5).answer(502) }))))

  it.effect("no part of such a client is put again because a gateway failed, and the upload can be resumed", () =>
    Effect.gen(function*() {
      const source = recognizable(bytes(95))
      const { ledger } = yield* openLedger()
      const upload = Effect.provideServiceEffect(
        Uploads.upload(source, { strategy: "multipart" }),
        ObjectStorage.ObjectStorage,
        perhapsRepeating
      ).pipe(Effect.provideService(UploadLedger.UploadLedger, ledger))
      assert.strictEqual((yield* Effect.flip(inTime(upload)))._tag, "ServiceUnavailable")
      const file = yield* inTime(upload)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "putPart"), 9)
      assert.lengthOf(requestsOf(report, "initiateLarge"), 1)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("complete").times(5).html(502) }))))

  it.effect("a stream with a doubtful part is reopened for another session, because what was read is gone", () =>
    Effect.gen(function*() {
      const source = UploadSources.fromStream("s.bin", Stream.succeed(bytes(95)), { size: 95 })
      const file = yield* inTime(Uploads.upload(source, { strategy: "multipart" }))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      assert.strictEqual(file.sent.sessions, 2)
    }).pipe(Effect.provide(tiny({
      faults: FaultScript.on("putPart").part(3).loseAnswer()
        .and(FaultScript.on("complete").times(5).answer(502))
    }))))

  it.effect("if a doubtful part cannot be put again, the service is asked for the file: Complete may have been received", () =>
    Effect.gen(function*() {
      const late = yield* completingLate
      const file = yield* inTime(Effect.provideService(multipart(), ServiceApi.ServiceApi, late))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      assert.lengthOf(yield* Sandbox.files, 1)
      assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 1)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").part(3).loseAnswer() }))))

  it.effect("when a part in doubt cannot be put again, a file that has failed is not taken for it", () =>
    Effect.gen(function*() {
      const service = yield* ServiceApi.ServiceApi
      const failed = ServiceApi.ServiceApi.of({
        ...service,
        file: (id) =>
          Effect.succeed({ id, name: "interview.mp4", status: "failed", created_at: "2030-01-01T00:00:00Z" })
      })
      const error = yield* inTime(Effect.flip(Effect.provideService(multipart(), ServiceApi.ServiceApi, failed)))
      assert.strictEqual(error._tag === "StorageRejected" ? error.code : error._tag, "NoSuchUpload")
    }).pipe(Effect.provide(tiny({
      faults: FaultScript.on("putPart").part(3).loseAnswer()
        .and(FaultScript.on("complete").times(5).answer(502))
        .and(FaultScript.on("putPart").part(3).after(1).answer(404, "NoSuchUpload"))
    }))))

  it.effect("a session with more URLs than an upload can have parts is not kept: the next run asks the service again", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const upload = Effect.provideService(
        Uploads.upload(recognizable(distinct(95)), { strategy: "multipart" }),
        UploadLedger.UploadLedger,
        ledger
      )
      const errors = yield* Effect.all([Effect.flip(upload), Effect.flip(upload)])
      assert.deepStrictEqual(errors.map(({ _tag }) => _tag), ["InvalidPartCount", "InvalidPartCount"])
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), 2)
    }).pipe(Effect.provide(tiny({
      profile: ServiceProfile.extend(SandboxLayer.profileOf({ minimumPartSize: 10 }), {
        limits: { parts: 5 }
      })
    }))))

  it.effect.each([
    { what: "a 503", fault: FaultScript.on("putPart").times(3).answer(503, "SlowDown") },
    { what: "a 500 with a page of a proxy", fault: FaultScript.on("putPart").times(2).html(500) },
    { what: "a broken connection", fault: FaultScript.on("putPart").part(2).times(2).reset() },
    { what: "a connection that breaks in the body", fault: FaultScript.on("putPart").part(4).resetAfter(3) },
    { what: "a lost answer", fault: FaultScript.on("putPart").part(5).loseAnswer() },
    { what: "a connection that stalls", fault: FaultScript.on("putPart").part(1).stall("connect") },
    { what: "a body that stalls", fault: FaultScript.on("putPart").part(1).stall("body") },
    { what: "an answer that does not come", fault: FaultScript.on("putPart").part(9).stall("answer") },
    { what: "a RequestTimeout", fault: FaultScript.on("putPart").part(6).answer(400, "RequestTimeout") },
    { what: "an IncompleteBody", fault: FaultScript.on("putPart").part(6).answer(400, "IncompleteBody") },
    {
      what: "an IncompleteBody after a broken connection",
      fault: FaultScript.on("putPart").part(6).reset().and(
        FaultScript.on("putPart").part(6).answer(400, "IncompleteBody")
      )
    },
    { what: "an OperationAborted", fault: FaultScript.on("putPart").part(6).answer(409, "OperationAborted") },
    { what: "a lost answer to Complete", fault: FaultScript.on("complete").times(2).loseAnswer() },
    { what: "a 502 to Complete", fault: FaultScript.on("complete").times(2).answer(502) },
    { what: "a rate limit at Complete", fault: FaultScript.on("complete").times(1).retryAfter(7) },
    { what: "a rate limit at initiate", fault: FaultScript.on("initiateLarge").times(1).retryAfter(7) },
    { what: "a lost answer to initiate", fault: FaultScript.on("initiateLarge").times(2).loseAnswer() },
    { what: "a 502 to initiate", fault: FaultScript.on("initiateLarge").times(2).answer(502) }
  ])("$what does not matter: storage ends up with the source", ({ fault }) =>
    Effect.gen(function*() {
      const file = yield* inTime(multipart())
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      assert.strictEqual(file.sent.sessions, 1)
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(tiny({ faults: fault }))))

  it.effect.each([
    { status: 301, code: "PermanentRedirect", tag: "StorageRejected" },
    { status: 307, code: "TemporaryRedirect", tag: "StorageRejected" },
    { status: 400, code: "InvalidArgument", tag: "StorageRejected" },
    { status: 403, code: "AccessDenied", tag: "StorageForbidden" },
    { status: 403, code: "SignatureDoesNotMatch", tag: "SignatureMismatch403" },
    { status: 404, code: "NoSuchUpload", tag: "StorageRejected" },
    { status: 412, code: "PreconditionFailed", tag: "StorageRejected" }
  ])("$status $code is not tried again", ({ code, status, tag }) =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart({ concurrency: 1 })))
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(error.attempts, 1)
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "putPart"), 1)
      assert.lengthOf(requestsOf(report, "completeLarge"), 0)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").always().answer(status, code) }))))

  it.effect.each(["one", "two"] as const)(
    "no more sessions are opened than allowed, even if no response comes: %s",
    (most) =>
      Effect.gen(function*() {
        const maxSessions = most === "one" ? 1 : 2
        const error = yield* inTime(Effect.flip(multipart({ maxSessions })))
        assert.strictEqual(error._tag, "ConnectionFailed")
        assert.lengthOf(requestsOf(yield* Sandbox.report, "initiateLarge"), maxSessions)
      }).pipe(Effect.provide(tiny({ faults: FaultScript.on("initiateLarge").always().loseAnswer() })))
  )

  it.effect("a server that always fails gets exactly the policy's attempts", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart({ concurrency: 1 })))
      assert.strictEqual(error._tag, "StorageUnavailable")
      assert.strictEqual(error.attempts, 7)
      assert.lengthOf(requestsOf(yield* Sandbox.report, "putPart"), 7)
    }).pipe(Effect.provide(
      tiny({ faults: FaultScript.on("putPart").always().answer(500) }).pipe(
        Layer.provide(RetryPolicy.layer({ attempts: 7 }))
      )
    )))

  it.effect("an unreadable etag is an error that names the CORS setting", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(multipart()))
      assert.strictEqual(error._tag, "EtagMissing")
      assert.include(error.message, "Access-Control-Expose-Headers")
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").part(2).omitEtag() }))))

  it.effect("a single PUT that loses all responses to Complete still ends with a file", () =>
    Effect.gen(function*() {
      const file = yield* inTime(Uploads.upload(sourceOf(95)))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("complete").always().loseAnswer() }))))

  it.effect.each(
    [
      ["Unauthorized", on("complete").answer(401)],
      ["Forbidden", on("complete").answer(403)],
      ["RateLimited", on("complete").times(5).answer(429)],
      ["CompletionUnknown", on("complete").times(5).answer(503).and(silentFile)],
      ["ServiceUnavailable", on("complete").times(5).answer(502)],
      ["StorageUnavailable", on("putPart").part(4).times(10).answer(503)],
      ["ConnectionFailed", on("putPart").part(4).times(10).reset()]
    ] as const
  )(
    "after %s, which may pass, the same upload goes on: storage has what it has",
    ([tag, faults]) =>
      Effect.gen(function*() {
        const { error, unfinished, upload } = yield* failed
        assert.strictEqual(error._tag, tag)
        const has = unfinished.flatMap(({ receipts }) => receipts.map(({ partNumber }) => partNumber))
        assert.isAbove(has.length, 2)
        const file = yield* inTime(upload)
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), distinct(95))
        const report = yield* Sandbox.report
        assert.lengthOf(requestsOf(report, "initiateLarge"), 1)
        const puts = requestsOf(report, "putPart")
        assert.isTrue(has.every((part) => puts.filter((put) => put.part === part).length === 1))
      }).pipe(Effect.provide(tiny({ faults })))
  )

  it.effect.each(
    [
      ["SignatureMismatch403", on("putPart").part(4).always().answer(403, "SignatureDoesNotMatch")],
      ["StorageForbidden", on("putPart").part(4).always().answer(403, "AccessDenied")],
      ["StorageRejected", on("putPart").part(4).always().answer(404, "NoSuchUpload")],
      ["UrlExpired", on("putPart").part(4).always().expire()],
      ["EtagMissing", on("putPart").part(4).always().omitEtag()],
      ["RequestRejected", on("complete").always().answer(400)],
      ["UploadConflict", on("complete").always().answer(409)]
    ] as const
  )("after %s, which nothing helps, no URL of the session is kept", ([tag, faults]) =>
    Effect.gen(function*() {
      const { error, text, unfinished } = yield* failed
      assert.strictEqual(error._tag, tag)
      assert.deepStrictEqual(unfinished, [])
      assert.notInclude(text, "X-Amz-")
    }).pipe(Effect.provide(tiny({ faults }))))

  it.effect("if neither Complete nor the file can be asked, the error says that the outcome is unknown", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(Uploads.upload(sourceOf(95))))
      assert.strictEqual(error._tag, "CompletionUnknown")
    }).pipe(Effect.provide(tiny({
      faults: FaultScript.on("complete").always().loseAnswer().and(FaultScript.on("file").always().reset())
    }))))
})
