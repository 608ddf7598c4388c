import { assert, describe, it } from "@effect/vitest"
import { RequestRejected } from "@stevedore/core/ServiceError"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import * as UploadProgress from "@stevedore/core/UploadProgress"
import { Duration, Option, Schema, SchemaAST } from "effect"
import * as Reports from "../../src/print/reports.js"
import * as Schemas from "../../src/print/schemas.js"
import * as Public from "../../src/Reports.js"

const decode = Schema.decodeUnknownSync(Schemas.UploadReport, { onExcessProperty: "error" })

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const file = {
  id: "1kf00nQk9yfWKfsTDni8aO",
  name: "interview.mp4",
  status: "pending" as const,
  created_at: "2025-01-01T00:00:00.000Z"
}

describe("Reports", () => {
  it.each(Object.entries(Public).filter(([, one]) => Schema.isSchema(one)))(
    "%s has its name as a Schema",
    (name, one) => {
      assert.isTrue(
        Schema.isSchema(one) &&
          SchemaAST.getIdentifierAnnotation(one.ast).pipe(Option.exists((said) => said.endsWith(name)))
      )
    }
  )

  it("a failure contains the error's tag, fields and message, and omits absent fields", () => {
    const error = new RequestRejected({
      operation: "initiateUpload",
      status: 422,
      issues: [{ code: "UnprocessableContent", path: ["name"] }],
      attempts: 2
    })
    const report = overTheWire(Reports.failed({ path: "a.mp4" }, error))
    assert.deepStrictEqual(report, {
      type: "failed",
      path: "a.mp4",
      error: {
        _tag: "RequestRejected",
        kind: "refused",
        operation: "initiateUpload",
        status: 422,
        issues: [{ code: "UnprocessableContent", path: ["name"] }],
        attempts: 2,
        message: error.message
      }
    })
    assert.strictEqual(decode(report).type, "failed")
  })

  it("the failure of a missing file contains the error's tag and reason", () => {
    const report = Reports.failed({ path: "a.mp4" }, new SourceUnreadable({ fileName: "a.mp4", reason: "NotFound" }))
    assert.strictEqual(report.error._tag, "SourceUnreadable")
    assert.strictEqual(report.error["reason"], "NotFound")
  })

  it("a success contains every field of the record that the service sent, and the counts", () => {
    const checksum = { algorithm: "crc32", value: "N/eC4Q==" } as const
    const sent = { bytes: 5, parts: 1, sessions: 2, checksum, proof: "stored" } as const
    const uploaded = { ...file, size: 5, extra: { unknown: 1 }, sent }
    const report = overTheWire(
      Reports.encodeDone(Reports.completed("a.mp4", uploaded, Duration.millis(1234.5678)))
    )
    assert.deepStrictEqual(report, {
      type: "completed",
      path: "a.mp4",
      file: { ...file, size: 5, unknown: 1 },
      bytes: 5,
      parts: 1,
      sessions: 2,
      seconds: 1.235,
      checksum,
      proof: "stored"
    })
  })

  it("progress has null for an unknown speed and for an unknown or infinite time left", () => {
    const { feasibility, parts, phase, sessions, size } = UploadProgress.initial(10)
    const now = { phase, size, sent: 5, confirmed: 0, parts, sessions, feasibility }
    const begun = { ...UploadProgress.initial(10), sent: 5 }
    const unknown = overTheWire(Reports.progress("a", begun))
    const endless = overTheWire(
      Reports.progress("a", { ...begun, speed: Option.some(0.4), timeLeft: Option.some(Duration.infinity) })
    )
    assert.deepStrictEqual(decode(unknown), { type: "progress", path: "a", ...now, speed: null, timeLeft: null })
    assert.deepStrictEqual(decode(endless), { type: "progress", path: "a", ...now, speed: 0, timeLeft: null })
  })
})
