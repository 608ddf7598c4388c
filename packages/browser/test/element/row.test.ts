import { assert, describe, it } from "@effect/vitest"
import { isFinal } from "../../src/element/row.js"
import { added } from "../../src/queue/item.js"

const failed = (status: number, operation?: string, reason?: string) => ({
  ...added("a", { file: new File(["a"], "a"), name: "a" }),
  state: "failed" as const,
  error: { tag: "RequestRejected", message: "", status, operation, reason }
})

describe("a row", () => {
  it("offers no retry of what the application has refused for good, and one of everything else", () => {
    const service = "initiateUpload"
    const finals = [
      ...[403, 413, 415, 422].map((status) => failed(status, service)),
      failed(409, service, "This invoice was already sent."),
      // a proxy's
      failed(413)
    ]
    const others = [
      // that the upload is in another state: started over, it may succeed
      failed(409, service),
      ...[400, 401, 404, 408, 429, 500, 503].map((status) => failed(status, service)),
      // storage's, whose URL may have been the reason
      ...[403, 415, 422].map((status) => failed(status))
    ]
    assert.deepStrictEqual(finals.filter((item) => !isFinal(item)), [])
    assert.deepStrictEqual(others.filter(isFinal), [])
  })
})
