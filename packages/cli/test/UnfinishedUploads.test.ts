import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Reports from "../src/Reports.js"
import * as UnfinishedUploads from "../src/UnfinishedUploads.js"

const upload = {
  id: "5f0c2a9be1d04477",
  service: "https://api.test",
  name: "inter\tview\u001b[31m.mp4",
  mediaType: "video/mp4",
  size: 40_000_000,
  phase: "uploading",
  confirmed: 10_485_760,
  parts: { total: 8, confirmed: 2 },
  startedAt: new Date(60_000)
} as const

describe("UnfinishedUploads", () => {
  it("shows an upload in six columns even if its name contains control characters", () => {
    assert.deepStrictEqual(UnfinishedUploads.row(upload, 3_720_000).split("\t"), [
      "5f0c2a9be1d04477",
      "inter\ufffdview\ufffd[31m.mp4",
      "40.0 MB",
      "2 of 8 parts",
      "uploading",
      "1h 1m"
    ])
  })

  it("shows an age of 0 when the clock was set back", () => {
    assert.include(UnfinishedUploads.row(upload, 0), "\t0")
  })

  it("reports an upload as JSON that its schema decodes", () => {
    const line: unknown = JSON.parse(JSON.stringify(Reports.unfinished(upload)))
    assert.deepStrictEqual(Schema.decodeUnknownSync(Reports.Unfinished)(line), {
      ...upload,
      type: "unfinished",
      startedAt: "1970-01-01T00:01:00.000Z"
    })
  })
})
