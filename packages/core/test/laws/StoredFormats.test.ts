import { assert, describe, it } from "@effect/vitest"
import * as Checkpoints from "@stevedore/core/Checkpoints"
import * as DownloadError from "@stevedore/core/DownloadError"
import * as ListError from "@stevedore/core/ListError"
import * as ServiceError from "@stevedore/core/ServiceError"
import * as UploadError from "@stevedore/core/UploadError"
import * as UploadEvent from "@stevedore/core/UploadEvent"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as UploadOptions from "@stevedore/core/UploadOptions"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as UploadProgress from "@stevedore/core/UploadProgress"
import * as UploadSession from "@stevedore/core/UploadSession"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import * as UploadOutcome from "../../src/upload/outcome.js"

/** By the line that wrote it: each of these texts is read, and written again as it stands, by every line of Effect. */
const texts: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(
  readFileSync(new URL("storedFormats.json", import.meta.url), "utf8")
)

const written: Readonly<Record<string, Schema.Schema<unknown, string>>> = {
  checkpoint: Schema.parseJson(Schema.make<unknown>(Checkpoints.Checkpoint.ast)),
  downloadError: Schema.parseJson(Schema.make<unknown>(DownloadError.DownloadError.ast)),
  error: Schema.parseJson(Schema.make<unknown>(ServiceError.ServiceError.ast)),
  event: Schema.parseJson(Schema.make<unknown>(UploadEvent.UploadEvent.ast)),
  listError: Schema.parseJson(Schema.make<unknown>(ListError.ListError.ast)),
  options: Schema.parseJson(Schema.make<unknown>(UploadOptions.UploadOptions.ast)),
  outcome: Schema.parseJson(Schema.make<unknown>(UploadOutcome.UploadOutcome.ast)),
  plan: Schema.parseJson(Schema.make<unknown>(UploadPlan.UploadPlan.ast)),
  progress: Schema.parseJson(Schema.make<unknown>(UploadProgress.UploadProgress.ast)),
  receipt: Schema.parseJson(Schema.make<unknown>(UploadSession.PartReceipt.ast)),
  record: Schema.parseJson(Schema.make<unknown>(UploadLedger.UploadRecord.ast)),
  uploadError: Schema.parseJson(Schema.make<unknown>(UploadError.UploadError.ast))
}

/** The errors that have an example. */
const tagsIn = (kind: string): ReadonlySet<string> =>
  new Set(texts[kind]?.map((text) => /"_tag":"(\w+)"\}$/.exec(text)?.[1] ?? text))

describe("what is kept or sent as JSON", () => {
  it("has an example of each kind", () => {
    assert.deepStrictEqual(Object.keys(texts).sort(), Object.keys(written).sort())
  })

  it("has an example of each error", () => {
    for (
      const [kind, { members }] of [
        ["uploadError", UploadError.UploadError],
        ["downloadError", DownloadError.DownloadError],
        ["listError", ListError.ListError]
      ] as const
    ) {
      assert.deepStrictEqual(
        tagsIn(kind),
        new Set(members.map(({ identifier }) => identifier.replace(/.*\//, ""))),
        kind
      )
    }
  })

  for (const [kind, schema] of Object.entries(written)) {
    for (const text of texts[kind] ?? []) {
      it(`a ${kind} is read, and written again as it was: ${text.slice(0, 60)}`, () => {
        const again = Schema.encodeSync(schema)(Schema.decodeSync(schema)(text))
        assert.deepStrictEqual(JSON.parse(again), JSON.parse(text))
      })
    }
  }
})
