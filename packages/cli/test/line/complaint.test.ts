import { assert, describe, it } from "@effect/vitest"
import { RequestRejected } from "@stevedore/core/ServiceError"
import { Cause, FiberId, Option } from "effect"
import { failureOf } from "../../src/files/outcomes.js"
import * as Complaint from "../../src/line/complaint.js"
import { InvalidInput } from "../../src/options/invalidInput.js"
import { OutputFailed } from "../../src/print/output.js"

const failed = (files: number) =>
  failureOf([new RequestRejected({ operation: "initiateUpload", status: 422, issues: [] })], { files, notTried: 0 })

describe("Complaint", () => {
  it("uses the error's own message, including its next step", () => {
    const error = new InvalidInput({ input: "--profile", problem: "no such file" })
    assert.deepStrictEqual(Complaint.ofError(error), Option.some("--profile: no such file"))
    assert.deepStrictEqual(
      Complaint.ofError(failed(2)),
      Option.some(
        "1 of 2 files failed. Fix the errors above and run the command again: it skips what is done."
      )
    )
  })

  it.each([
    ["output closed by its reader", new OutputFailed({ code: "EPIPE" })],
    ["a failed single file that is already reported", failed(1)]
  ])("reports nothing for %s", (_, error) => {
    assert.deepStrictEqual(Complaint.ofError(error), Option.none())
  })

  it("reports an interruption, and reports a defect as a bug in stevedore", () => {
    assert.deepStrictEqual(Complaint.ofCause(Cause.interrupt(FiberId.none)), Option.some("Interrupted."))
    assert.match(Option.getOrThrow(Complaint.ofCause(Cause.die(new Error("oh")))), /a bug in stevedore[^]*oh/)
  })
})
