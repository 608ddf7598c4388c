import { assert, describe, it } from "@effect/vitest"
import * as Checkpoints from "@stevedore/core/Checkpoints"
import * as ServiceError from "@stevedore/core/ServiceError"
import * as UploadEvent from "@stevedore/core/UploadEvent"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as UploadOptions from "@stevedore/core/UploadOptions"
import * as UploadSession from "@stevedore/core/UploadSession"
import { Schema } from "effect"
import { readFileSync } from "node:fs"

/** By the line that wrote it: each of these texts is read, and written again as it stands, by every line of Effect. */
const texts: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(
  readFileSync(new URL("storedFormats.json", import.meta.url), "utf8")
)

const written: Readonly<Record<string, Schema.Schema<unknown, string>>> = {
  checkpoint: Schema.parseJson(Schema.make<unknown>(Checkpoints.Checkpoint.ast)),
  error: Schema.parseJson(Schema.make<unknown>(ServiceError.ServiceError.ast)),
  event: Schema.parseJson(Schema.make<unknown>(UploadEvent.UploadEvent.ast)),
  options: Schema.parseJson(Schema.make<unknown>(UploadOptions.UploadOptions.ast)),
  receipt: Schema.parseJson(Schema.make<unknown>(UploadSession.PartReceipt.ast)),
  record: Schema.parseJson(Schema.make<unknown>(UploadLedger.UploadRecord.ast))
}

describe("what is kept or sent as JSON", () => {
  it("has an example of each kind", () => {
    assert.deepStrictEqual(Object.keys(texts).sort(), Object.keys(written).sort())
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
