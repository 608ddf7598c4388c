import { assert, describe, it } from "@effect/vitest"
import { InvalidConfiguration } from "@stevedore/core/ServiceConfig"
import { NotFound, Unauthorized } from "@stevedore/core/ServiceError"
import { TargetExists } from "@stevedore/node/DownloadTargetError"
import { Cause, ConfigError, Exit, FiberId } from "effect"
import { InvalidInput } from "../../src/options/invalidInput.js"
import * as ExitCode from "../../src/print/exitCode.js"
import { OutputFailed } from "../../src/print/output.js"

const answer = { operation: "file", issues: [] }

const codes: ReadonlyArray<readonly [string, unknown, number]> = [
  ["a variable that cannot be read", ConfigError.MissingData(["A"], ""), 2],
  ["invalid configuration", new InvalidConfiguration({ field: "token", problem: "missing", expected: "a token" }), 2],
  ["invalid input", new InvalidInput({ input: "a", problem: "b" }), 2],
  ["a target that exists", new TargetExists({ path: "a.mp4" }), 2],
  ["a rejected token", new Unauthorized({ ...answer, status: 401 }), 3],
  ["another error of the service", new NotFound({ ...answer, status: 404 }), 1],
  ["output to a closed pipe", new OutputFailed({ code: "EPIPE" }), 0],
  ["output that cannot be written", new OutputFailed({ code: "ENOSPC" }), 1],
  ["a value that is not an error", "oh", 1]
]

describe("ExitCode", () => {
  it.each(codes)("maps %s to its exit code", (_, error, code) => {
    assert.strictEqual(ExitCode.ofExit(Exit.fail(error)), code)
  })

  it("maps a success to 0, an interruption to 130 and a defect to 1", () => {
    assert.strictEqual(ExitCode.ofExit(Exit.void), 0)
    assert.strictEqual(ExitCode.ofExit(Exit.interrupt(FiberId.none)), 130)
    assert.strictEqual(ExitCode.ofExit(Exit.die("oh")), 1)
  })

  it("uses the code of a failure that precedes an interruption", () => {
    const cause = Cause.sequential(
      Cause.fail(new InvalidInput({ input: "a", problem: "b" })),
      Cause.interrupt(FiberId.none)
    )
    assert.strictEqual(ExitCode.ofExit(Exit.failCause(cause)), 2)
  })
})
