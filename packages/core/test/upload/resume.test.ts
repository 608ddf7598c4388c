import { assert, describe, it } from "@effect/vitest"
import {
  Checksum,
  ServiceApi,
  ServiceProfile,
  SourceError,
  type UploadOptions,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { FaultScript, Recorder, Sandbox, type SandboxLayer } from "@stevedore/testing"
import { Chunk, Deferred, Effect, FastCheck, Fiber, Option, Schema, Stream, TestClock } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import * as UploadRecord from "../../src/ledger/record.js"
import * as UploadResume from "../../src/upload/resume.js"
import { distinct, openLedger, recognizable } from "../fixtures/ledgers.js"
import {
  confirmed,
  content,
  inParts,
  killedAt,
  type Moment,
  numbersOf,
  only,
  patiently,
  quietly,
  sandbox,
  source,
  stopping,
  succeeds,
  token,
  uploadWith
} from "../fixtures/uploadResume.js"

const few: UploadOptions.UploadOptions = { strategy: "multipart", parts: 4 }

/** A second session was opened, and whoever reads the log knows of it. */
const startedOver = Effect.gen(function*() {
  const requests = yield* only
  assert.strictEqual(requests.initiated, 2)
  const said = (yield* Recorder.logs).filter(({ level, message }) =>
    level !== "DEBUG" && /is sent anew|starts over|could not be read/.test(message)
  )
  assert.lengthOf(said, 1)
  return requests
})

const recorded = Effect.provide(Recorder.layer)

const startsOverWithAnotherAlgorithm = (moment: Moment) =>
  Effect.gen(function*() {
    const { ledger } = yield* openLedger()
    yield* killedAt(ledger, moment).pipe(
      Effect.provide(Checksum.layer({ ...Checksum.crc32, name: "crc32c" }))
    )
    yield* succeeds(ledger)
    yield* startedOver
  }).pipe(Effect.provide(sandbox()), recorded)

describe("an interrupted upload", () => {
  it.effect("resumes in the session that it had opened, even before its first part", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "begin" })
      yield* succeeds(ledger)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put, 10)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("by a timeout of its caller resumes, and progress starts with what storage has", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const cutOff = Effect.flip(uploadWith(ledger).pipe(Effect.timeout("2 seconds")))
      const fiber = yield* Effect.fork(cutOff)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "TimeoutException")
      assert.strictEqual((yield* confirmed(ledger)).length, 9)
      const confirmedBytes = yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* Uploads.start(source, inParts)
        yield* TestClock.adjust("1 second")
        const { confirmed, parts } = yield* handle.progress.get
        assert.deepStrictEqual(parts, { total: 10, confirmed: 9 })
        return confirmed
      })).pipe(Effect.provideService(UploadLedger.UploadLedger, ledger))
      assert.strictEqual(confirmedBytes, 900)
    }).pipe(
      Effect.provide(sandbox({ faults: FaultScript.on("putPart").part(10).times(2).stall("answer") })),
      quietly
    ))

  it.effect("in a single PUT sends the bytes again in the same session", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const single: UploadOptions.UploadOptions = { strategy: "single" }
      yield* killedAt(ledger, { at: "receive", after: 0 }, source, single)
      yield* succeeds(ledger, source, single)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put, 2)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect.each<readonly [says: string, line: RegExp, faults: FaultScript.FaultScript, at: Moment, from?: Uint8Array]>(
    [
      [
        "that it resumes, and each retry",
        /^Resuming |^Attempt /,
        FaultScript.on("putPart").part(7).answer(503),
        { at: "receive", after: 5 }
      ],
      [
        "that the earlier session is gone",
        /^The earlier session /,
        FaultScript.on("putPart").part(7).answer(404, "NoSuchUpload"),
        { at: "begin" }
      ],
      ["that a session ended", /^Session 1 /, FaultScript.on("putPart").part(7).expire(), { at: "begin" }],
      [
        "that parts are sent again",
        /^Storage refused /,
        FaultScript.on("completeLarge").always().answer(502),
        { at: "receive", after: 5 }
      ],
      ["that it starts over", / cannot be resumed /, FaultScript.empty, { at: "receive", after: 5 }, distinct(1000, 7)]
    ]
  )(
    "%s is one line in the log, and obeyed by no terminal, whatever the file's name",
    ([, line, faults, at, other]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        const name = "a\n\u001b[2Jlevel=ERROR\u202e.txt"
        yield* killedAt(ledger, at, { ...source, name })
        yield* patiently(Effect.exit(uploadWith(ledger, { ...recognizable(other ?? content), name })))
        const messages = (yield* Recorder.logs).map(({ message }) => message)
        assert.isTrue(messages.some((message) => line.test(message)))
        for (const message of messages) assert.notMatch(message, /[\p{Cc}\p{Bidi_C}]/u)
      }).pipe(Effect.provide(sandbox({ faults })), recorded)
  )

  it.effect("starts over with resume: false, and leaves the other's record as it is", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 5 })
      const before = new Map(values)
      const file = yield* uploadWith(ledger, source, { ...inParts, resume: false })
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      assert.strictEqual((yield* only).initiated, 2)
      assert.deepStrictEqual(values, before)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("whose source cannot be recognized starts over and is not recorded", () =>
    Effect.gen(function*() {
      const { ledger, writes } = yield* openLedger()
      const { identity: _, ...fingerprint } = source.fingerprint
      yield* succeeds(ledger, { ...source, fingerprint })
      assert.strictEqual(writes(), 0)
    }).pipe(Effect.provide(sandbox())))

  it.effect("repairs a part that storage has from an attempt of the dead process, even if it had no receipt", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      // so that the dead process has not come to the last part
      const four = { ...inParts, concurrency: 4 }
      yield* killedAt(ledger, { at: "receive", after: 0 }, source, four)
      yield* succeeds(ledger, source, four)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put.filter(({ part }) => part === 10), 2)
    }).pipe(
      // as long as the retries of Complete last, the etags are refused
      Effect.provide(sandbox({ faults: FaultScript.on("completeLarge").times(5).answer(502) })),
      quietly
    ))
})

describe("an upload that was interrupted while completing", () => {
  it.effect("resumes there: Complete is sent with the receipts, and no byte", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      yield* succeeds(ledger)
      const { completed, initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put, 10)
      assert.lengthOf(completed, 1)
      assert.notMatch(JSON.stringify(yield* Recorder.logs), /starts over/)
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect("says so to those who watch it", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      const upload = yield* Effect.provideService(Uploads.start(source, inParts), UploadLedger.UploadLedger, ledger)
      yield* patiently(upload.await)
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(upload.events)).map(({ _tag }) => _tag)
      assert.deepStrictEqual(events, ["Completing", "Completed"])
    }).pipe(Effect.scoped, Effect.provide(sandbox()), quietly))

  it.effect("after the service had accepted it returns the file, and Complete is accepted once", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "forget" })
      const file = yield* succeeds(ledger)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put, 10)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect.each([[404, "NotFound"], [400, "InvalidOperation"]] as const)(
    "asks for the file when Complete, which the service had accepted, is answered by %d now",
    ([status, code]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        yield* killedAt(ledger, { at: "forget" })
        yield* succeeds(ledger)
        const { initiated, put } = yield* only
        assert.strictEqual(initiated, 1)
        assert.lengthOf(put, 10)
      }).pipe(
        Effect.provide(sandbox({ faults: FaultScript.on("completeLarge").after(1).answer(status, code) })),
        quietly
      )
  )

  it.effect("resumes even if the URLs of its session expired long ago", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      yield* TestClock.adjust("4 hours")
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("resumes without URLs in the ledger", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger({ keepUrls: false })
      yield* killedAt(ledger, { at: "completing" })
      yield* succeeds(ledger)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.lengthOf(put, 10)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("asks for the file if a receipt was lost, and finds it", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "forget" })
      const receipt = [...values.keys()].find((key) => key.endsWith("-4"))
      assert.isTrue(values.delete(receipt ?? ""))
      const file = yield* uploadWith(ledger)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      assert.strictEqual(file.sent.checksum, undefined)
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("starts over if a receipt was lost and the service has no file", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      const receipt = [...values.keys()].find((key) => key.endsWith("-4"))
      assert.isTrue(values.delete(receipt ?? ""))
      yield* succeeds(ledger)
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect.each(
    [
      ["failed there", { status: "failed" }],
      ["has another size there", { size: 999 }]
    ] as const
  )("starts over if a receipt was lost and the file %s", ([, told]) =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "forget" })
      assert.isTrue(values.delete([...values.keys()].find((key) => key.endsWith("-4")) ?? ""))
      const service = yield* ServiceApi.ServiceApi
      const file = (fileId: string) => Effect.map(service.file(fileId), (record) => ({ ...record, ...told }))
      yield* Effect.provideService(succeeds(ledger), ServiceApi.ServiceApi, { ...service, file })
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect("starts over if the service has collected the upload", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      yield* TestClock.adjust("25 hours")
      yield* succeeds(ledger)
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect.each(
    [
      { what: "every byte is another", bytes: distinct(1000, 1), verify: "sample" },
      { what: "verify is all and one byte is another", bytes: content.with(250, 7), verify: "all" }
    ] as const
  )("starts over when the source has the same size and date, and $what", ({ bytes, verify }) =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      yield* succeeds(ledger, recognizable(bytes), { ...inParts, verify }, bytes)
      const { completed } = yield* startedOver
      assert.lengthOf(completed, 1)
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect(
    "starts over if its checksums use another algorithm: they could neither be compared nor combined",
    () => startsOverWithAnotherAlgorithm({ at: "completing" })
  )

  it.effect("is refused, and kept, if it was requested by its id and the source has other bytes", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      const id = Option.getOrThrow(UploadLedger.idOf("https://api.sandbox.test", source))
      const other = recognizable(distinct(1000, 1))
      const error = yield* Effect.flip(
        Effect.provideService(Uploads.resume(id, other), UploadLedger.UploadLedger, ledger)
      )
      assert.deepInclude(error, { _tag: "SourceChanged", what: "content" })
      assert.lengthOf((yield* only).completed, 0)
      yield* succeeds(ledger)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("keeps what it has if the service cannot answer, and succeeds the next time", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      const error = yield* Effect.flip(patiently(uploadWith(ledger)))
      assert.strictEqual(error._tag, "CompletionUnknown")
      assert.lengthOf(yield* ledger.unfinished, 1)
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(
      Effect.provide(sandbox({
        faults: FaultScript.on("completeLarge").times(5).answer(503).and(FaultScript.on("file").times(5).answer(503))
      })),
      quietly
    ))

  it.effect("starts over if parts that may be stored twice are refused, because they can no longer be put", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 5 })
      yield* killedAt(ledger, { at: "completing" })
      yield* succeeds(ledger)
      yield* startedOver
    }).pipe(
      Effect.provide(sandbox({ faults: FaultScript.on("completeLarge").times(5).answer(502) })),
      recorded
    ))

  it.effect("starts over if the service says again that storage rejects the etags: it would say so every time", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const error = yield* Effect.flip(patiently(uploadWith(ledger)))
      assert.deepInclude(error, { _tag: "ServiceUnavailable", status: 502 })
      assert.lengthOf(yield* ledger.unfinished, 1)
      yield* succeeds(ledger)
      yield* startedOver
    }).pipe(
      Effect.provide(sandbox({ faults: FaultScript.on("completeLarge").times(10).answer(502, "InvalidPart") })),
      recorded
    ))
})

const startsOver = (
  options: {
    readonly between?: Effect.Effect<void>
    readonly from?: UploadSource
    readonly bytes?: Uint8Array
    readonly options?: UploadOptions.UploadOptions
    readonly keepUrls?: boolean
    readonly sandbox?: SandboxLayer.Options
    readonly sessions?: number
  }
) =>
  Effect.gen(function*() {
    const { ledger, values } = yield* openLedger({ keepUrls: options.keepUrls ?? true })
    yield* killedAt(ledger, { at: "receive", after: 6 })
    yield* options.between ?? Effect.void
    const file = yield* succeeds(ledger, options.from, options.options, options.bytes)
    const { put } = yield* startedOver
    // the old one is not even tried, unless only the service can know
    assert.strictEqual(file.sent.sessions, options.sessions ?? 1)
    const sent = numbersOf(put.filter(({ fileId }) => fileId === file.id))
    assert.deepStrictEqual(sent, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    assert.deepStrictEqual([...values.keys()], ["uploads"])
  }).pipe(Effect.provide(sandbox(options.sandbox)), recorded)

describe("a fresh session is opened, and the old one forgotten, when", () => {
  it.effect("the source has a different size", () =>
    startsOver({ from: recognizable(distinct(1001)), bytes: distinct(1001) }))

  it.effect("the source has a different date", () =>
    startsOver({ from: recognizable(content, { fingerprint: { modified: 1000.6 } }) }))

  it.effect("the source has a different media type", () =>
    startsOver({ from: recognizable(content, { mediaType: "audio/wav" }) }))

  it.effect("the source has the same size and date, but different bytes", () =>
    startsOver({ from: recognizable(distinct(1000, 1)), bytes: distinct(1000, 1) }))

  it.effect("verify is all and one byte of a confirmed part differs", () => {
    const bytes = content.slice()
    bytes[250] = (bytes[250] ?? 0) ^ 1
    return startsOver({ from: recognizable(bytes), bytes, options: { ...inParts, verify: "all" } })
  })

  it.effect("the URLs have expired", () => startsOver({ between: TestClock.adjust("3 hours") }))

  it.effect("the URLs expire within a minute", () => startsOver({ between: TestClock.adjust("10741 seconds") }))

  it.effect("the URLs have expired by the server's clock, which is ahead of ours", () =>
    startsOver({
      between: TestClock.adjust("121 minutes"),
      sandbox: { urlLifetime: "2 hours", clockOffsetMillis: 3_600_000 }
    }))

  it.effect("no URLs were kept", () => startsOver({ keepUrls: false }))

  it.effect("the URLs were kept while http was allowed for files, and it no longer is", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      const encrypted = { ...yield* ServiceApi.ServiceApi, allowInsecureHttp: false }
      const file = yield* Effect.provideService(succeeds(ledger), ServiceApi.ServiceApi, encrypted)
      const { put } = yield* startedOver
      const sent = numbersOf(put.filter(({ fileId }) => fileId === file.id))
      assert.deepStrictEqual(sent, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }).pipe(Effect.provide(sandbox({ storageOrigin: "http://storage.sandbox.test" })), recorded))

  it.effect("the service has collected the session, although its URLs are still valid", () =>
    startsOver({ between: TestClock.adjust("25 hours"), sandbox: { urlLifetime: "48 hours" }, sessions: 2 }))

  it.effect.each([
    { status: 404, code: "NoSuchUpload" },
    { status: 403, code: "AccessDenied" }
  ])(
    "and an event reports its end before the new one is opened: $status $code",
    ({ code, status }) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        const oneByOne = { ...inParts, concurrency: 1 }
        yield* killedAt(ledger, { at: "receive", after: 6 }, source, oneByOne)
        const handle = yield* Effect.provideService(
          Uploads.start(source, oneByOne),
          UploadLedger.UploadLedger,
          ledger
        )
        yield* patiently(handle.await)
        const sessions = yield* Stream.runCollect(
          Stream.filter(handle.events, ({ _tag }) => _tag === "SessionOpened" || _tag === "SessionEnded")
        )
        assert.deepStrictEqual([...sessions].map(({ _tag }) => _tag), [
          "SessionOpened",
          "SessionEnded",
          "SessionOpened"
        ])
      }).pipe(
        Effect.scoped,
        Effect.provide(sandbox({ faults: FaultScript.on("putPart").part(8).times(1).answer(status, code) })),
        quietly
      )
  )

  it.effect("the checksums use another algorithm", () => startsOverWithAnotherAlgorithm({ at: "receive", after: 6 }))

  it.effect("its bytes can only be read in order, so earlier ones cannot be compared", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const stream = UploadSources.fromStream("interview.mp4", Stream.succeed(content), { size: 1000 })
      const identified = { ...stream, fingerprint: { ...stream.fingerprint, identity: "bucket/key@etag" } }
      yield* killedAt(ledger, { at: "receive", after: 6 }, identified)
      yield* succeeds(ledger, identified)
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect("its bytes can be read only once: none of them is spent on a comparison", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      const piped = UploadSources.fromStreamOnce(source.name, Stream.succeed(content), {
        size: content.length,
        mediaType: source.mediaType
      })
      yield* succeeds(ledger, { ...piped, fingerprint: source.fingerprint })
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect("the record is invalid", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      for (const key of values.keys()) if (key.endsWith("/record")) values.set(key, "{\"version\":1,")
      yield* succeeds(ledger)
      yield* startedOver
    }).pipe(Effect.provide(sandbox()), recorded))
})

describe("the session continues if", () => {
  it.effect("the profile's smallest part is larger by now: the service's URLs are the plan", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      const service = yield* ServiceApi.ServiceApi
      const profile = ServiceProfile.extend(service.profile, { limits: { minimumPartSize: 200 } })
      yield* succeeds(ledger, source, few).pipe(
        Effect.provideService(ServiceApi.ServiceApi, { ...service, profile })
      )
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }).pipe(Effect.provide(sandbox()), recorded))

  it.effect("the URLs are valid for more than a minute", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      yield* TestClock.adjust("178 minutes")
      yield* uploadWith(ledger)
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect.each([-4, 4, 1000])(
    "our clock was %d hours wrong when it was opened, and has been set right since",
    (hours) =>
      Effect.gen(function*() {
        const { ledger, values } = yield* openLedger()
        yield* killedAt(ledger, { at: "receive", after: 6 })
        // as a clock that is so much behind the server's would have recorded it
        for (const [key, value] of values) {
          const behind = `"clockOffset":${hours * 3_600_000}`
          if (key.endsWith("/record")) values.set(key, value.replace(/"clockOffset":-?[\d.]+/, behind))
        }
        const before = yield* only
        const { id } = yield* succeeds(ledger)
        const { put } = yield* only
        assert.deepStrictEqual([id, ...new Set(put.map(({ fileId }) => fileId))], [id, id])
        // but for what was in flight, none twice
        assert.isAtMost(put.length, before.put.length + 4)
      }).pipe(Effect.provide(sandbox()), quietly)
  )

  it.effect("verify is all and every byte is the same", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      yield* succeeds(ledger, source, { ...inParts, verify: "all" })
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("a receipt is invalid: only that part is put again", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 10 - 1 }, source, { ...inParts, concurrency: 1 })
      values.set([...values.keys()].find((key) => key.endsWith("-3")) ?? "", "garbage")
      const before = (yield* only).put.length
      yield* succeeds(ledger)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      assert.deepStrictEqual(numbersOf(put.slice(before)), [3, 10])
    }).pipe(Effect.provide(sandbox()), quietly))
})

describe("a source that cannot be read when its upload is to be resumed", () => {
  it.effect.each(["uploading", "completing"] as const)(
    "fails it while %s, and what storage has is kept",
    (phase) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        yield* killedAt(ledger, phase === "uploading" ? { at: "receive", after: 6 } : { at: "completing" })
        const broken = new SourceError.SourceUnreadable({ fileName: source.name, reason: "Failed", code: "EIO" })
        const open = Effect.map(source.open, (opened) => ({ ...opened, readThrough: () => Effect.fail(broken) }))
        const error = yield* Effect.flip(patiently(uploadWith(ledger, { ...source, open })))
        assert.deepInclude(error, { _tag: "SourceUnreadable", code: "EIO" })
        yield* succeeds(ledger)
        assert.strictEqual((yield* only).initiated, 1)
      }).pipe(Effect.provide(sandbox()), quietly)
  )
})

const unhashed = Effect.provide(Checksum.none)

const again = (from: UploadSource, options: UploadOptions.UploadOptions = inParts) =>
  Effect.gen(function*() {
    const { ledger } = yield* openLedger()
    yield* killedAt(ledger, { at: "receive", after: 6 }, from)
    const file = yield* patiently(uploadWith(ledger, from, options))
    assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
    assert.isUndefined(file.sent.checksum)
    const { initiated, put } = yield* only
    return { initiated, sent: numbersOf(put.filter(({ fileId }) => fileId === file.id)) }
  }).pipe(unhashed, Effect.provide(sandbox()), quietly)

describe("without checksums, an interrupted upload", () => {
  it.effect("resumes by the source's fingerprint: no confirmed part is put again", () =>
    Effect.gen(function*() {
      const { initiated, sent } = yield* again(source)
      assert.strictEqual(initiated, 1)
      assert.deepStrictEqual([...new Set(sent)], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      assert.isAtMost(sent.length, 14)
    }))

  it.effect("starts over with verify: all, because there is nothing to compare", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* again(source, { ...inParts, verify: "all" })).initiated, 2)
    }))

  it.effect("starts over if its bytes can only be read in order: what storage has could not be skipped", () => {
    const stream = UploadSources.fromStream("interview.mp4", Stream.succeed(content), { size: 1000 })
    const identified = { ...stream, fingerprint: { ...stream.fingerprint, identity: "bucket/key@etag" } }
    return Effect.gen(function*() {
      assert.strictEqual((yield* again(identified)).initiated, 2)
    })
  })

  it.effect("is refused if it was requested by its id and the source has no identity", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const anonymous = (bytes: Uint8Array) => recognizable(bytes, { fingerprint: { identity: undefined } })
      yield* killedAt(ledger, { at: "receive", after: 6 })
      const [unfinished] = yield* ledger.unfinished
      assert.isDefined(unfinished)
      const { record } = unfinished
      yield* ledger.begin({ ...record, fingerprint: { ...record.fingerprint, identity: undefined } })
      for (const receipt of unfinished.receipts) yield* ledger.receive(record, receipt)
      const error = yield* Effect.flip(
        uploadWith(ledger, anonymous(distinct(1000, 1)), { ...inParts, unfinished: record.id })
      )
      assert.deepInclude(error, { _tag: "SourceChanged", what: "content" })
    }).pipe(unhashed, Effect.provide(sandbox()), quietly))
})

describe("the ledger of an upload", () => {
  it.effect("allows one upload at a time: the second is told, and the first is not disturbed", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const stopped = yield* Deferred.make<void>()
      const first = yield* Effect.fork(uploadWith(stopping(ledger, { at: "receive", after: 3 }, stopped)))
      yield* Deferred.await(stopped)
      const error = yield* Effect.flip(uploadWith(ledger))
      assert.strictEqual(error._tag, "UploadLocked")
      assert.lengthOf(yield* confirmed(ledger), 3)
      yield* Fiber.interrupt(first)
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect.prop(
    "may fail at any write: the upload still succeeds",
    [FastCheck.integer({ min: 0, max: 8 }), FastCheck.boolean()],
    ([at, forGood]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger({ allowed: (write) => forGood ? write < at : write !== at })
        const file = yield* uploadWith(ledger, source, few)
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      }).pipe(Effect.provide(sandbox()), quietly),
    { fastCheck: { numRuns: runs(15) } }
  )

  it.effect.prop(
    "may have failed at any write before the process was killed: the next one still succeeds",
    [
      FastCheck.integer({ min: 0, max: 8 }),
      FastCheck.constantFrom<Moment>({ at: "completing" }, { at: "forget" }, {
        at: "receive",
        after: 2
      })
    ],
    ([failing, moment]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger({ allowed: (write) => write < failing || write > 8 })
        yield* killedAt(ledger, moment, source, few)
        const file = yield* uploadWith(ledger, source, few)
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      }).pipe(Effect.provide(sandbox()), quietly),
    { fastCheck: { numRuns: runs(15) } }
  )

  it.effect("holds URLs only while its session lives, and never the token", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      const all = () => [...values.entries()].join()
      yield* killedAt(ledger, { at: "receive", after: 6 })
      assert.include(all(), "X-Amz-Signature")
      assert.notInclude(all(), token)
      yield* killedAt(ledger, { at: "completing" })
      assert.notInclude(all(), "X-Amz-")
      assert.notInclude(all(), token)
      yield* succeeds(ledger)
      assert.deepStrictEqual([...values.entries()], [["uploads", "[]"]])
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("never holds a URL with keepUrls: false", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger({ keepUrls: false })
      for (const moment of [{ at: "begin" }, { at: "receive", after: 6 }, { at: "completing" }] as const) {
        yield* killedAt(ledger, moment)
        const all = [...values.entries()].join()
        assert.isAbove(values.size, 1)
        for (const secret of [token, "X-Amz-", "Signature", "storage.sandbox.test"]) assert.notInclude(all, secret)
      }
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("forgets a session whose error no retry can help, and keeps one that a retry may help", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const passing = yield* Effect.flip(patiently(uploadWith(ledger)))
      assert.strictEqual(passing._tag, "StorageUnavailable")
      assert.lengthOf(yield* ledger.unfinished, 1)
      const other = recognizable(content, { fingerprint: { identity: "1:3" } })
      const lasting = yield* Effect.flip(patiently(uploadWith(ledger, other)))
      assert.strictEqual(lasting._tag, "StorageRejected")
      assert.lengthOf(yield* ledger.unfinished, 1)
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 2)
    }).pipe(
      Effect.provide(sandbox({
        faults: FaultScript.on("putPart").part(4).times(10).answer(503).and(
          FaultScript.on("putPart").part(5).after(1).times(1).answer(400, "InvalidRequest")
        )
      })),
      quietly
    ))

  it.effect.each(["putPart", "completeLarge"] as const)(
    "keeps a session whose %s is redirected, as by a network's sign-in page, and continues it the next time",
    (operation) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        const oneByOne = { ...inParts, concurrency: 1 }
        for (let turn = 0; turn < 2; turn++) {
          const error = yield* Effect.flip(patiently(uploadWith(ledger, source, oneByOne)))
          assert.deepInclude({ ...error }, { status: 302 })
          assert.lengthOf(yield* ledger.unfinished, 1)
        }
        yield* succeeds(ledger, source, oneByOne)
        assert.strictEqual((yield* only).initiated, 1)
      }).pipe(
        Effect.provide(sandbox({ faults: FaultScript.on(operation).times(2).html(302) })),
        quietly
      )
  )
})

const idOf = (from: UploadSource) => Option.getOrThrow(UploadLedger.idOf("https://api.sandbox.test", from))

const resumes = (ledger: UploadLedger.Service, id: string, from: UploadSource) =>
  Effect.provideService(Uploads.resume(id, from), UploadLedger.UploadLedger, ledger)

describe("Uploads.resume", () => {
  it.effect("resumes the upload with that id, even if the file has been renamed", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 }, source, { ...inParts, concurrency: 1 })
      const renamed = { ...source, name: "renamed.mp4" }
      const file = yield* patiently(resumes(ledger, idOf(source), renamed))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("refuses an id that the ledger does not have, and sends nothing", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const error = yield* Effect.flip(resumes(ledger, idOf(source), source))
      assert.strictEqual(error._tag, "UnfinishedUploadNotFound")
      assert.strictEqual((yield* only).initiated, 0)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("refuses the upload of another service, keeps it, and tells this one nothing of it", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "completing" })
      const other = ServiceApi.layerNoop({ baseUrl: "https://other.test" })
      const error = yield* Effect.flip(Effect.provide(resumes(ledger, idOf(source), source), other))
      assert.strictEqual(error._tag, "UnfinishedUploadNotFound")
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("refuses a source that cannot be compared because it can be read only once, says so, and sends nothing", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 }, source, { ...inParts, concurrency: 1 })
      const { put } = yield* only
      const piped = {
        ...UploadSources.fromStreamOnce(source.name, Stream.succeed(content), { size: content.length }),
        fingerprint: source.fingerprint
      }
      const error = yield* Effect.flip(resumes(ledger, idOf(source), piped))
      assert.strictEqual(error._tag === "SourceUnreadable" ? error.reason : error._tag, "ReadOnce")
      assert.lengthOf((yield* only).put, put.length)
      yield* succeeds(ledger)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("refuses a stream that was read past what is missing, though another session could send it again", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const streamed = {
        ...UploadSources.fromStream(source.name, Stream.succeed(content), {
          size: content.length,
          mediaType: source.mediaType
        }),
        fingerprint: source.fingerprint
      }
      yield* killedAt(ledger, { at: "receive", after: 6 }, source, { ...inParts, concurrency: 1 })
      const [unfinished] = yield* ledger.unfinished
      if (unfinished === undefined) return assert.fail("nothing was recorded")
      const { receipts, record } = unfinished
      // the first and the last part: what is missing lies between
      const apart = yield* openLedger()
      yield* apart.ledger.begin(record)
      for (const receipt of receipts.slice(0, 1)) yield* apart.ledger.receive(record, receipt)
      const { urls = [] } = record.session
      assert.lengthOf(urls, 10)
      const last = Checksum.ofBytes(Checksum.crc32, content.subarray(900))
      yield* apart.ledger.receive(record, {
        partNumber: 10,
        etag: "\"e\"",
        size: 100,
        attempts: 1,
        checksum: last.value
      })
      const { initiated } = yield* only
      const error = yield* Effect.flip(resumes(apart.ledger, idOf(source), streamed))
      assert.strictEqual(error._tag === "SourceUnreadable" ? error.reason : error._tag, "ReadOnce")
      assert.strictEqual((yield* only).initiated, initiated)
      assert.lengthOf(yield* apart.ledger.unfinished, 1)
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("refuses a different source, keeps the upload, and sends nothing more", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* killedAt(ledger, { at: "receive", after: 6 }, source, { ...inParts, concurrency: 1 })
      const [upload] = yield* ledger.unfinished
      const { put } = yield* only
      const other = { ...source, fingerprint: { ...source.fingerprint, modified: 7 } }
      const sameDate = recognizable(content.map((byte) => byte ^ 1))
      for (const [one, what] of [[other, "modified"], [sameDate, "content"]] as const) {
        const error = yield* Effect.flip(resumes(ledger, upload?.record.id ?? "", one))
        assert.strictEqual(error._tag === "SourceChanged" ? error.what : error._tag, what)
      }
      assert.lengthOf(yield* ledger.unfinished, 1)
      assert.lengthOf((yield* only).put, put.length)
      yield* succeeds(ledger)
    }).pipe(Effect.provide(sandbox()), quietly))
})

const withLedger = (ledger: UploadLedger.Service) => Effect.provideService(UploadLedger.UploadLedger, ledger)

describe("Uploads.unfinished", () => {
  it.effect("reports what storage has of each upload and since when, but no URL", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* TestClock.adjust("1 minute")
      yield* killedAt(ledger, { at: "receive", after: 6 }, source, { ...inParts, concurrency: 1 })
      yield* killedAt(ledger, { at: "completing" }, recognizable(content, { name: "other.mp4" }))
      const [first, second] = yield* withLedger(ledger)(Uploads.unfinished)
      assert.deepStrictEqual(first, {
        id: Option.getOrThrow(UploadLedger.idOf("https://api.sandbox.test", source)),
        service: "https://api.sandbox.test",
        name: "interview.mp4",
        mediaType: "video/mp4",
        size: 1000,
        phase: "uploading",
        confirmed: 600,
        parts: { total: 10, confirmed: 6 },
        startedAt: new Date(60_000)
      })
      assert.strictEqual(second?.phase, "completing")
      assert.deepStrictEqual(second?.parts, { total: 10, confirmed: 10 })
    }).pipe(Effect.provide(sandbox()), quietly))

  it.effect("does not list forgotten uploads; a running upload is not forgotten, nor an unknown one", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const stopped = yield* Deferred.make<void>()
      const running = yield* Effect.fork(uploadWith(stopping(ledger, { at: "receive", after: 3 }, stopped)))
      yield* Deferred.await(stopped)
      const [upload] = yield* withLedger(ledger)(Uploads.unfinished)
      const forget = withLedger(ledger)(Uploads.forget(upload?.id ?? ""))
      assert.strictEqual((yield* Effect.flip(forget))._tag, "UploadLocked")
      yield* Fiber.interrupt(running)
      assert.isTrue(yield* forget)
      assert.isFalse(yield* forget)
      assert.isFalse(yield* withLedger(ledger)(Uploads.forget("../../etc")))
      assert.deepStrictEqual(yield* withLedger(ledger)(Uploads.unfinished), [])
      yield* succeeds(ledger)
      assert.strictEqual((yield* only).initiated, 2)
    }).pipe(Effect.provide(sandbox()), quietly))
})

const size = { expected: "1000 bytes", actual: "1001 bytes" }

describe("a source that is compared with a record", () => {
  it.effect.each<readonly [what: string, fingerprint: Partial<UploadSource["fingerprint"]>, sizes?: typeof size]>([
    ["identity", { kind: "blob" }],
    ["identity", { identity: "1:3" }],
    ["size", { size: 1001 }, size],
    ["modified", { modified: 1000.25 }],
    ["content", { sample: "y/Q5Jg==" }]
  ])(
    "is refused with what differs, and with the sizes only if it is the size: %s",
    ([what, fingerprint, sizes]) =>
      Effect.gen(function*() {
        const service = yield* ServiceApi.ServiceApi
        const session = yield* service.initiateUpload({ name: source.name, mediaType: source.mediaType, size: 1000 })
        const record = yield* UploadResume.recordOf(source, "job-1", session)
        yield* UploadResume.checkSame(record, source)
        const error = yield* Effect.flip(UploadResume.checkSame(record, recognizable(content, { fingerprint })))
        assert.deepStrictEqual(
          [error.what, error.expected, error.actual],
          [what, sizes?.expected, sizes?.actual]
        )
      }).pipe(Effect.provide(sandbox()))
  )
})

describe("an upload that was opened by hand", () => {
  it.effect("is resumed from its record and receipts, both as JSON: nothing is opened or sent twice", () =>
    Effect.gen(function*() {
      const service = yield* ServiceApi.ServiceApi
      const { mediaType, name, size } = source
      const session = yield* service.initiateLargeUpload({ name, mediaType, size, parts: Option.some(4) })
      const record = yield* UploadResume.recordOf(source, "job-1", session)
      const Record = Schema.parseJson(UploadRecord.UploadRecord)
      const taken = yield* Schema.decode(Record)(yield* Schema.encode(Record)(record))
      const ledger = yield* UploadLedger.makeMemory()
      yield* ledger.begin(taken)
      const file = yield* Uploads.resume("job-1", source).pipe(
        Effect.provideService(UploadLedger.UploadLedger, ledger)
      )
      assert.strictEqual(file.id, session.fileId)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
      const { breaches, requests } = yield* Sandbox.report
      assert.deepStrictEqual(breaches, [])
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
      assert.lengthOf(requests.filter(({ operation }) => operation === "putPart"), 4)
      assert.deepStrictEqual(yield* ledger.unfinished, [])
    }).pipe(Effect.provide(sandbox())))
})
