import { assert, describe, it } from "@effect/vitest"
import { Metadata, ServiceApi, ServiceProfile, UploadLedger, UploadOptions, Uploads } from "@stevedore/core"
import { Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Either, FastCheck, Option, Schema } from "effect"
import * as UploadResume from "../src/upload/resume.js"
import { distinct, recognizable } from "./fixtures/ledgers.js"
import { sourceOf } from "./fixtures/uploads.js"

const { limits } = ServiceProfile.standard

const names = (count: number): Metadata.Metadata =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, ""]))

const valid: ReadonlyArray<readonly [string, Metadata.Metadata]> = [
  ["nothing", {}],
  ["32 names", names(32)],
  ["a name of 64", { ["a".repeat(64)]: "" }],
  ["2048 bytes", { a: "x".repeat(2047) }],
  ["text of any script", { album: "Ünïcode 港 🚢" }],
  ["a name of an object's own", { constructor: "a" }]
]

const invalid: ReadonlyArray<readonly [string, Metadata.Metadata]> = [
  ["33 names", names(33)],
  ["a name of 65", { ["a".repeat(65)]: "" }],
  ["no name", { "": "a" }],
  ["a blank in a name", { "an album": "a" }],
  ["a name outside ASCII", { bücher: "a" }],
  ["a name that is an object's prototype", JSON.parse("{\"__proto__\":\"a\"}")],
  ["2049 bytes", { a: "x".repeat(2048) }],
  ["2049 bytes in fewer characters", { a: "ü".repeat(1024) }],
  ["a line break", { a: "x\ny" }],
  ["half of a character", { a: "\ud83d" }],
  ["a number, from JavaScript", JSON.parse("{\"a\":1}")],
  ["an object, from JavaScript", JSON.parse("{\"a\":{}}")]
]

const source = recognizable(distinct(1000))

/** A client that tells what its initiate calls are given. */
const telling = (told: Array<Metadata.Metadata | undefined>) =>
  Effect.updateService(ServiceApi.ServiceApi, (api): ServiceApi.Service => ({
    ...api,
    initiateLargeUpload: (file) =>
      Effect.zipRight(Effect.sync(() => told.push(file.metadata)), api.initiateLargeUpload(file))
  }))

describe("metadata of an upload", () => {
  it.each(valid)("with %s is accepted", (_, metadata) => {
    assert.isTrue(Metadata.isValid(metadata))
    assert.isTrue(Either.isRight(UploadOptions.check(sourceOf(95), { metadata }, limits)))
    assert.deepStrictEqual(Schema.decodeUnknownSync(Metadata.Metadata)(metadata), metadata)
  })

  it.effect.each(invalid)(
    "with %s is refused before any request, and not repeated",
    ([, metadata]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Uploads.upload(source, { metadata }))
        assert.strictEqual(error._tag, "InvalidUploadOption")
        assert.include(error.message, "metadata")
        assert.isBelow(error.message.length, 200)
        const decoded = Schema.decodeUnknownEither(Metadata.Metadata)(metadata)
        // a Schema of Effect 3 drops this name by itself
        const isDropped = Object.hasOwn(metadata, "__proto__") && Either.isRight(decoded) &&
          Object.keys(decoded.right).length === 0
        assert.isTrue(Either.isLeft(decoded) || isDropped)
        assert.deepStrictEqual((yield* Sandbox.report).requests, [])
      }).pipe(Effect.provide(SandboxLayer.memory()))
  )

  it.prop("within the bounds takes no more than 2048 bytes", {
    metadata: FastCheck.dictionary(FastCheck.string(), FastCheck.string({ maxLength: 300 }), { maxKeys: 40 })
  }, ({ metadata }) => {
    const entries = Object.entries(metadata)
    const bytes = Buffer.byteLength(entries.flat().join(""))
    assert.isTrue(!Metadata.isValid(metadata) || (bytes <= 2048 && entries.length <= 32))
  })

  it.effect("is not sent to a service whose profile names no field for it, and is kept all the same", () =>
    Effect.gen(function*() {
      const ledger = yield* UploadLedger.makeMemory()
      const seen: Array<unknown> = []
      const watching: UploadLedger.Service = {
        ...ledger,
        begin: (record) => Effect.zipRight(Effect.sync(() => seen.push(record.metadata)), ledger.begin(record))
      }
      yield* Uploads.upload(source, { metadata: { album: "a" } }).pipe(
        Effect.provideService(UploadLedger.UploadLedger, watching)
      )
      const { requests } = yield* Sandbox.report
      const told = requests.map((request) => JSON.stringify(request))
      assert.notInclude(told.join("\n"), "album")
      assert.deepStrictEqual(seen, [{ album: "a" }])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  /** A ledger without URLs, in which an earlier process has left this source with an album. */
  const left = Effect.gen(function*() {
    const service = yield* ServiceApi.ServiceApi
    const ledger = yield* UploadLedger.makeMemory({ keepUrls: false })
    const { mediaType, name, size } = source
    const session = yield* service.initiateLargeUpload({ name, mediaType, size, parts: Option.some(4) })
    const id = Option.getOrThrow(UploadLedger.idOf(service.baseUrl, source))
    yield* ledger.begin(yield* UploadResume.recordOf(source, id, session, { album: "a" }))
    return ledger
  })

  it.effect.each<readonly [string, UploadOptions.UploadOptions, Metadata.Metadata]>([
    ["what it was given, if it is given nothing now", {}, { album: "a" }],
    ["what it is given now", { metadata: { album: "b" } }, { album: "b" }]
  ])("of a session that replaces one of an earlier process is %s", ([, options, expected]) =>
    Effect.gen(function*() {
      const ledger = yield* left
      const told: Array<Metadata.Metadata | undefined> = []
      const records: Array<Metadata.Metadata | undefined> = []
      const watching: UploadLedger.Service = {
        ...ledger,
        begin: (record) => Effect.zipRight(Effect.sync(() => records.push(record.metadata)), ledger.begin(record))
      }
      const [unfinished] = yield* Effect.provideService(Uploads.unfinished, UploadLedger.UploadLedger, ledger)
      assert.deepStrictEqual(unfinished?.metadata, { album: "a" })
      yield* Uploads.upload(source, { strategy: "multipart", parts: 4, ...options }).pipe(
        Effect.provideService(UploadLedger.UploadLedger, watching),
        telling(told)
      )
      assert.deepStrictEqual([told, records], [[expected], [expected]])
    }).pipe(Effect.provide(SandboxLayer.memory({ minimumPartSize: 1 }))))

  it("of a record survives JSON, and a record without any is read as before", () => {
    const Record = Schema.parseJson(UploadLedger.UploadRecord)
    const of = (metadata?: Metadata.Metadata): UploadLedger.UploadRecord => ({
      version: 1,
      id: "a",
      service: "https://service.test",
      name: "a.bin",
      mediaType: "text/plain",
      fingerprint: source.fingerprint,
      checksumAlgorithm: "crc32",
      session: { fileId: "f", clockOffset: 0, openedAt: 0, parts: 1 },
      phase: "uploading",
      startedAt: 0,
      ...(metadata && { metadata })
    })
    const again = (record: UploadLedger.UploadRecord) => Schema.decodeSync(Record)(Schema.encodeSync(Record)(record))
    assert.deepStrictEqual(again(of({ album: "a" })).metadata, { album: "a" })
    assert.notProperty(again(of()), "metadata")
  })
})
