import type { PlatformError } from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import type * as ParseResult from "effect/ParseResult"

/** How a key-value store fails. */
export type StoreError = PlatformError

/** How what is written to a store or read from it fails, with what is no record of ours. */
export type RecordFailure = StoreError | ParseResult.ParseError

/** How a read or a write of the ledger's store can fail. */
export type StoreFailure = RecordFailure | Thrown

interface Thrown {
  readonly _tag: "Thrown"
}

/**
 * A store may be anybody's code, with promises that reject or calls that throw: an upload must not die of its ledger.
 */
export const orThrown = <A, E>(use: LazyArg<Effect.Effect<A, E>>): Effect.Effect<A, E | Thrown> =>
  Effect.catchAllDefect(Effect.suspend(use), () => Effect.fail<Thrown>({ _tag: "Thrown" }))

// What could not be decoded, or was thrown, is not shown: it may be a URL.
const describe = (failure: StoreFailure): string => {
  if (failure._tag === "ParseError") return "it contains an invalid record"
  return failure._tag === "Thrown" ? "its store threw instead of failing" : failure.message
}

/** Warns once per kind of failure: a full store fails ten thousand times for an upload of as many parts. */
export const makeTell = () => {
  const told = new Set<string>()
  return (what: "read" | "written") => (failure: StoreFailure): Effect.Effect<void> =>
    Effect.suspend(() => {
      const message = `The upload ledger could not be ${what}: ${describe(failure)}. The upload continues without it`
      if (told.has(what)) return Effect.logDebug(message)
      told.add(what)
      return Effect.logWarning(message)
    })
}
