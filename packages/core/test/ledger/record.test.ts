import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, ServiceApi, ServiceProfile, TransferGate, UploadLedger, Uploads } from "@stevedore/core"
import { Effect, Layer, Option, Schema, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { openLock, openStore } from "../fixtures/ledgers.js"
import { type kinds, source } from "../upload/ledgerRecords.js"

// Written by version 1 as it was first released: never written again by a test
const Golden = Schema.parseJson(
  Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.String }) })
)
const golden = Schema.decodeSync(Golden)(readFileSync(new URL("ledgerRecords.json", import.meta.url), "utf8"))

const profile = ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } })

const file = { id: "f", name: source.name, size: source.size, status: "completed" as const, created_at: "" }

/** Continues what a store has, and says what it took. */
const continued = (values: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(Date.UTC(2030, 0, 1))
    const did: Array<string> = []
    const say = (what: string) => Effect.sync(() => did.push(what))
    const { store, values: kept } = openStore()
    for (const [key, value] of Object.entries(values)) kept.set(key, value)
    const ledger = yield* UploadLedger.make({ store, lock: openLock().lock, keepUrls: true })
    yield* Uploads.upload(source, { strategy: "multipart", concurrency: 1 }).pipe(
      Effect.provideService(UploadLedger.UploadLedger, ledger),
      Effect.provide(Layer.mergeAll(
        TransferGate.layerNoop({}),
        ServiceApi.layerNoop({
          profile,
          initiateLargeUpload: () => Effect.zipRight(say("a new session"), Effect.interrupt),
          completeUpload: ({ fileId }) => Effect.as(say(`Complete ${fileId}`), file),
          completeLargeUpload: ({ fileId, parts, uploadId }) =>
            Effect.as(say(`Complete ${fileId} ${uploadId} with ${parts.map(({ etag }) => etag).join()}`), file),
          file: (fileId) => Effect.as(say(`asks for ${fileId}`), file)
        }),
        ObjectStorage.layerNoop({
          put: ({ section, url }) =>
            Effect.scoped(section.body(() => undefined)).pipe(
              Effect.zipRight(say(`PUT ${Option.getOrElse(url.partNumber, () => "all")}`)),
              Effect.as({ etag: "\"new\"", requestId: undefined, checksums: {} })
            )
        })
      )),
      Effect.exit
    )
    return { did, left: [...kept.keys()].filter((key) => key.endsWith("/record")) }
  })

const expected = {
  "a single PUT, begun": ["PUT all", "Complete f-small"],
  "a single PUT, sent": ["Complete f-small"],
  "a single PUT, completing": ["Complete f-small"],
  "in parts, begun": ["PUT 1", "PUT 2", "PUT 3", "Complete f-large u-1 with \"new\",\"new\",\"new\""],
  "in parts, with two receipts": ["PUT 2", "Complete f-large u-1 with \"etag-1\",\"new\",\"etag-3\""],
  "in parts, completing": ["Complete f-large u-1 with \"etag-1\",\"etag-2\",\"etag-3\""],
  "in parts, completing, with a lost receipt": ["asks for f-large"],
  "in parts, without URLs": ["a new session"]
} satisfies { readonly [Kind in keyof typeof kinds]: ReadonlyArray<string> }

describe("a record of the first version", () => {
  for (const [kind, did] of Object.entries(expected)) {
    it.effect(`is read and continued: ${kind}`, () =>
      Effect.gen(function*() {
        const end = yield* continued(golden[kind] ?? {})
        assert.deepStrictEqual(end.did, did)
        assert.lengthOf(end.left, 0)
      }))

    it.effect(`is read with fields that a later version may add: ${kind}`, () =>
      Effect.gen(function*() {
        const later = Object.entries(golden[kind] ?? {}).map(([key, value]) => {
          const json: unknown = JSON.parse(value)
          const more = typeof json === "object" && json !== null && !Array.isArray(json)
            ? JSON.stringify({ ...json, addedLater: { is: "ignored" } })
            : value
          return [key, more] as const
        })
        assert.deepStrictEqual((yield* continued(Object.fromEntries(later))).did, did)
      }))
  }
})
