import { Checksum, ServiceApi, UploadLedger, type UploadSession, type UploadSource } from "@stevedore/core"
import { Effect, Option } from "effect"
import * as UploadResume from "../../src/upload/resume.js"
import { distinct, openStore, recognizable } from "../fixtures/ledgers.js"
import { presigned } from "../fixtures/presignedUrls.js"

export const content = distinct(300)

export const source: UploadSource = recognizable(content)

const opened = { clockOffset: -5, openedAt: Date.UTC(2030, 0, 1), extra: {} }

const multipart: UploadSession.MultipartSession = {
  ...opened,
  _tag: "MultipartSession",
  fileId: "f-large",
  uploadId: "u-1",
  urls: [presigned({ part: 1 }), presigned({ part: 2 }), presigned({ part: 3 })]
}

const single: UploadSession.SingleSession = { ...opened, _tag: "SingleSession", fileId: "f-small", url: presigned() }

interface Kind {
  readonly session: UploadSession.UploadSession
  readonly receipts: ReadonlyArray<number>
  readonly completing?: boolean
  readonly keepUrls?: boolean
}

/** Every kind of record that an upload leaves. */
export const kinds = {
  "a single PUT, begun": { session: single, receipts: [] },
  "a single PUT, sent": { session: single, receipts: [1] },
  "a single PUT, completing": { session: single, receipts: [1], completing: true },
  "in parts, begun": { session: multipart, receipts: [] },
  "in parts, with two receipts": { session: multipart, receipts: [1, 3] },
  "in parts, completing": { session: multipart, receipts: [1, 2, 3], completing: true },
  "in parts, completing, with a lost receipt": { session: multipart, receipts: [1, 3], completing: true },
  "in parts, without URLs": { session: multipart, receipts: [1, 3], keepUrls: false }
} satisfies Readonly<Record<string, Kind>>

/** What the store of a ledger has of an upload of this kind. */
export const written = ({ completing = false, keepUrls = true, receipts, session }: Kind) =>
  Effect.gen(function*() {
    const { store, values } = openStore()
    const ledger = yield* UploadLedger.make({ store, lock: () => Effect.succeed(true), keepUrls })
    const id = Option.getOrThrow(UploadLedger.idOf("https://service.test", source))
    const record = yield* UploadResume.recordOf(source, id, session)
    yield* ledger.begin(record)
    for (const partNumber of receipts) {
      const bytes = session._tag === "SingleSession"
        ? content
        : content.subarray(100 * partNumber - 100, 100 * partNumber)
      yield* ledger.receive(record, {
        partNumber,
        etag: `"etag-${partNumber}"`,
        size: bytes.length,
        attempts: partNumber,
        perhapsRepeated: false,
        checksum: Checksum.ofBytes(Checksum.crc32, bytes).value
      })
    }
    if (completing) yield* ledger.completing(record)
    return Object.fromEntries([...values].sort())
  }).pipe(Effect.provide(ServiceApi.layerNoop({})), Effect.map((values: Readonly<Record<string, string>>) => values))
