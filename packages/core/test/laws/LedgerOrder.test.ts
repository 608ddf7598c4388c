import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, ServiceApi, ServiceProfile, TransferGate, UploadLedger, Uploads } from "@stevedore/core"
import { Effect, Layer, Option } from "effect"
import { openLedger } from "../fixtures/ledgers.js"
import { presigned } from "../fixtures/presignedUrls.js"
import { inTime } from "../fixtures/uploads.js"
import { source } from "../upload/ledgerRecords.js"

/** An upload of three parts that says what it does, with a ledger that takes a second for each write. */
const said = (change: (ledger: UploadLedger.Service) => UploadLedger.Service, uploads: number) =>
  Effect.gen(function*() {
    const did: Array<string> = []
    const say = (what: string) => Effect.sync(() => did.push(what))
    const slowly = (what: string, write: Effect.Effect<void>) =>
      Effect.sleep("1 second").pipe(Effect.zipRight(write), Effect.zipLeft(say(what)))
    const { ledger } = yield* openLedger()
    const changed = change(ledger)
    const file = { id: "f-1", name: source.name, size: source.size, status: "completed" as const, created_at: "" }
    const upload = Uploads.upload(source, { strategy: "multipart", parts: 3, concurrency: 1 }).pipe(
      Effect.provideService(UploadLedger.UploadLedger, {
        ...changed,
        begin: (record) => slowly("begin", changed.begin(record)),
        receive: (record, receipt) => slowly(`receive ${receipt.partNumber}`, changed.receive(record, receipt)),
        completing: (record) => slowly("completing", changed.completing(record)),
        forget: (record) => slowly("forget", changed.forget(record))
      }),
      Effect.provide(Layer.mergeAll(
        TransferGate.layerNoop({}),
        ServiceApi.layerNoop({
          profile: ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } }),
          initiateLargeUpload: () =>
            Effect.succeed({
              _tag: "MultipartSession" as const,
              fileId: "f-1",
              uploadId: "u-1",
              clockOffset: 0,
              openedAt: 0,
              urls: [presigned({ part: 1 }), presigned({ part: 2 }), presigned({ part: 3 })] as const,
              extra: {}
            }),
          completeLargeUpload: () => Effect.as(say("Complete"), file)
        }),
        ObjectStorage.layerNoop({
          put: ({ section, url }) =>
            Effect.scoped(section.body(() => undefined)).pipe(
              Effect.zipRight(say(`PUT ${Option.getOrElse(url.partNumber, () => 0)}`)),
              Effect.as({ etag: "\"e\"", requestId: undefined, checksums: {} })
            )
        })
      ))
    )
    yield* inTime(Effect.repeatN(upload, uploads - 1))
    return did
  })

const whole = [
  "begin",
  ...[1, 2, 3].flatMap((part) => [`PUT ${part}`, `receive ${part}`]),
  "completing",
  "Complete",
  "forget"
]

describe("what a ledger may rely on", () => {
  it.effect("each write is awaited: begin before the first part, a receipt before the next, completing before Complete", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* said((ledger) => ledger, 1), whole)
    }))

  it.effect("it may forget later: the next run sends the same Complete again, and nothing else", () =>
    Effect.gen(function*() {
      const deferred = (ledger: UploadLedger.Service) => ({ ...ledger, forget: () => Effect.void })
      assert.deepStrictEqual(yield* said(deferred, 2), [...whole, "Complete", "forget"])
    }))
})
