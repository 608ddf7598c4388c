import { assert, describe, it } from "@effect/vitest"
import { SourceError, StorageError } from "@stevedore/core"
import type { ErrorKind } from "@stevedore/core/ErrorKind"
import { NotFound, Unauthorized } from "@stevedore/core/ServiceError"
import { Option } from "effect"
import * as Outcomes from "../../src/files/outcomes.js"
import type { KnownError } from "../../src/print/reports.js"

const rejected = new Unauthorized({ operation: "file", issues: [], status: 401 })
const unknown = new NotFound({ operation: "file", issues: [], status: 404 })
const missing = new SourceError.SourceUnreadable({ fileName: "a", reason: "NotFound" })
const busy = new StorageError.StorageUnavailable({ status: 503, attempts: 5 })

describe("Outcomes", () => {
  it("the first outcome counts, and what has none was not tried", () => {
    const outcomes = Outcomes.make(["a", "b", "c"], (path) => ({ path }))
    outcomes.settle({ _tag: "Failed", input: "b", error: busy })
    outcomes.settle({ _tag: "Skipped", input: "b", path: "b", reason: "uploaded", fileId: Option.none() })
    outcomes.settle({ _tag: "Skipped", input: undefined, path: "d", reason: "link", fileId: Option.none() })
    outcomes.settle({ _tag: "NotTried", input: "b" })
    assert.deepStrictEqual(outcomes.counts(), { done: 0, there: 0, failed: 1, notTried: 2 })
    assert.deepStrictEqual(Outcomes.those(outcomes, "NotTried").map(({ input }) => input), ["a", "c"])
    assert.deepStrictEqual(Outcomes.skippedBy(Outcomes.those(outcomes, "Skipped")), [["link", ["d"]]])
  })

  it.each<readonly [ReadonlyArray<KnownError>, number, ErrorKind]>([
    [[rejected, busy], 3, "configuration"],
    [[unknown, missing, busy], 1, "refused"],
    [[missing], 2, "input"],
    [[missing, busy], 1, "input"],
    [[busy, busy], 1, "tryLater"]
  ])("%j: the exit code, and the kind of the gravest", (errors, exitCode, kind) => {
    const failure = Outcomes.failureOf(errors, { files: 3, notTried: 0 })
    assert.deepStrictEqual([failure.exitCode, failure.kind], [exitCode, kind])
    assert.strictEqual(/Fix the errors above/.test(failure.message), kind !== "tryLater")
  })
})
