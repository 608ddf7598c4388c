import { HelpDoc, ValidationError } from "@effect/cli"
import { assert, describe, it } from "@effect/vitest"
import { NotFound, Unauthorized } from "@stevedore/core/ServiceError"
import { Cause, ConfigError, Exit, FiberId } from "effect"
import * as ExitCode from "../src/ExitCode.js"
import { InvalidInput } from "../src/InvalidInput.js"
import { OutputFailed } from "../src/Output.js"
import { UploadsFailed } from "../src/Upload.js"

const answer = { operation: "file", issues: [] }

const codes: ReadonlyArray<readonly [string, unknown, number]> = [
  ["wrong usage", ValidationError.invalidValue(HelpDoc.p("")), 2],
  ["wrong configuration", ConfigError.MissingData(["A"], ""), 2],
  ["bad input", new InvalidInput({ input: "a", problem: "b" }), 2],
  ["a token that is not accepted", new Unauthorized({ ...answer, status: 401 }), 3],
  ["any other refusal", new NotFound({ ...answer, status: 404 }), 1],
  ["an upload that failed", new UploadsFailed({ failed: 1, files: 2, unauthorized: false }), 1],
  ["uploads for which the token is not accepted", new UploadsFailed({ failed: 2, files: 2, unauthorized: true }), 3],
  ["a reader that has had enough", new OutputFailed({ code: "EPIPE" }), 0],
  ["output that is lost", new OutputFailed({ code: "ENOSPC" }), 1],
  ["something that is no error", "oh", 1]
]

describe("ExitCode", () => {
  it.each(codes)("%s ends in its code", (_, error, code) => {
    assert.strictEqual(ExitCode.ofExit(Exit.fail(error)), code)
  })

  it("a success is 0, an interruption 130, a fault of the program 1", () => {
    assert.strictEqual(ExitCode.ofExit(Exit.void), 0)
    assert.strictEqual(ExitCode.ofExit(Exit.interrupt(FiberId.none)), 130)
    assert.strictEqual(ExitCode.ofExit(Exit.die("oh")), 1)
  })

  it("what was interrupted after it had failed has failed", () => {
    const cause = Cause.sequential(
      Cause.fail(new InvalidInput({ input: "a", problem: "b" })),
      Cause.interrupt(FiberId.none)
    )
    assert.strictEqual(ExitCode.ofExit(Exit.failCause(cause)), 2)
  })
})
