import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, LogLevel } from "effect"
import * as Shared from "../../src/options/apply.js"
import * as Output from "../../src/print/output.js"

const services = Output.layer({
  out: { write: () => true, on: () => {}, off: () => {} },
  error: { write: () => true, on: () => {}, off: () => {} }
})

describe("Shared", () => {
  it.effect("logs each step with --verbose, and none without it", () =>
    Effect.gen(function*() {
      const stepsOf = (verbose: boolean) =>
        Effect.gen(function*() {
          const told: Array<unknown> = []
          const logger = Logger.make(({ message }) => told.push(message))
          yield* Shared.apply(
            { quiet: false, verbose },
            Effect.withSpan(Effect.void, "ServiceApi.file")
          ).pipe(
            Effect.provide([services, Logger.replace(Logger.defaultLogger, logger)]),
            Logger.withMinimumLogLevel(LogLevel.Warning)
          )
          return told
        })
      assert.deepStrictEqual(yield* stepsOf(true), [["ServiceApi.file"]])
      assert.deepStrictEqual(yield* stepsOf(false), [])
    }))
})
