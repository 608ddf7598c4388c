import { assert, describe, it } from "@effect/vitest"
import { ServiceError } from "@stevedore/core"
import { Effect } from "effect"
import * as FailedFiles from "../../src/internal/failedFiles.js"
import { Output, OutputFailed, type Service } from "../../src/Output.js"

const rejected = () => new ServiceError.RequestRejected({ operation: "initiateUpload", status: 422, issues: [] })

const recording = (json: Service["json"] = () => Effect.void) => {
  const warned: Array<string> = []
  const output: Service = {
    lines: () => Effect.void,
    json,
    note: () => Effect.void,
    warn: (line) => Effect.sync(() => void warned.push(line)),
    unsafeNote: () => {},
    status: () => Effect.void,
    terminal: Effect.succeedNone
  }
  return { warned, within: Effect.provideService(Output, output) }
}

describe("FailedFiles", () => {
  it.effect("reports an error of several files once, counts the other files, and writes JSON for each file", () =>
    Effect.gen(function*() {
      let lines = 0
      const { warned, within } = recording(({ length }) => Effect.sync(() => void (lines += length)))
      const files = FailedFiles.make(true)
      const [one, other] = [rejected(), rejected()]
      yield* within(Effect.gen(function*() {
        for (const path of ["a", "b", "c"]) yield* files.add(path, one)
        yield* files.add("d", other)
        yield* files.tellRest
      }))
      assert.deepStrictEqual(warned, [
        `a: ${one.message}`,
        `d: ${other.message}`,
        "2 more files failed for the same reason as a"
      ])
      assert.strictEqual(lines, 4)
      assert.strictEqual(yield* files.count, 4)
    }))

  it.effect("warns of a failed file even if its result cannot be written", () =>
    Effect.gen(function*() {
      const { warned, within } = recording(() => Effect.fail(new OutputFailed({ code: "EPIPE" })))
      const error = rejected()
      yield* Effect.exit(within(FailedFiles.make(true).add("a", error)))
      assert.deepStrictEqual(warned, [`a: ${error.message}`])
    }))

  it.effect("keeps each warning on one line, whatever the name of the file", () =>
    Effect.gen(function*() {
      const { warned, within } = recording()
      const files = FailedFiles.make(false)
      const error = rejected()
      yield* within(Effect.forEach(["a\nb", "c"], (path) => files.add(path, error)))
      yield* within(files.tellRest)
      assert.deepStrictEqual(warned, [
        `a\ufffdb: ${error.message}`,
        "1 more file failed for the same reason as a\ufffdb"
      ])
    }))
})
