import { HelpDoc, ValidationError } from "@effect/cli"
import { assert, describe, it } from "@effect/vitest"
import { Cause, FiberId, Option } from "effect"
import * as Complaint from "../src/Complaint.js"
import { InvalidInput } from "../src/InvalidInput.js"
import { OutputFailed } from "../src/Output.js"
import { UploadsFailed } from "../src/Upload.js"

describe("Complaint", () => {
  it("an error is told in its own words, which name the next step", () => {
    const error = new InvalidInput({ input: "--profile", problem: "no such file" })
    assert.deepStrictEqual(Complaint.ofError(error), Option.some("--profile: no such file"))
    assert.deepStrictEqual(
      Complaint.ofError(new UploadsFailed({ failed: 1, files: 2, unauthorized: false })),
      Option.some(
        "1 of 2 files failed. Fix the errors above and run the command again: it skips what is already uploaded, " +
          "unless --no-resume is given."
      )
    )
  })

  it.each([
    ["what the parser told", ValidationError.invalidValue(HelpDoc.p("x"))],
    ["a reader that has had enough", new OutputFailed({ code: "EPIPE" })],
    ["the only file, told when it failed", new UploadsFailed({ failed: 1, files: 1, unauthorized: false })]
  ])("%s is not told again", (_, error) => {
    assert.deepStrictEqual(Complaint.ofError(error), Option.none())
  })

  it("an interruption is told, and a fault of the program as one", () => {
    assert.deepStrictEqual(Complaint.ofCause(Cause.interrupt(FiberId.none)), Option.some("Interrupted."))
    assert.match(Option.getOrThrow(Complaint.ofCause(Cause.die(new Error("oh")))), /a bug in stevedore[^]*oh/)
  })
})
