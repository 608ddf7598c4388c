/** What the command reports to its caller through its exit code. */
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Endings from "./endings.js"

/** Everything was done. */
export const ok = 0

/** An upload, a check or the command itself failed. */
export const failed = 1

/** Wrong usage or bad input. The service was not called, or not for any of the files that failed. */
export const usage = 2

/** The service rejects the token. */
export const unauthorized = 3

/** Stopped by a signal, such as Ctrl-C. */
export const interrupted = 130

/** Stopped because its terminal went away, or by Ctrl-Break on Windows. */
export const hungUp = 129

// what core and node refuse before any request
const refusedInput: ReadonlySet<string> = new Set([
  "CheckpointMismatch",
  "InvalidConfiguration",
  "InvalidListOption",
  "InvalidPageSize",
  "TargetExists"
])

const tagOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) ? error._tag : ""

/** The exit code for a failure. A failure can override it with a field `exitCode`. */
export const ofError = (error: unknown): number => {
  if (ConfigError.isConfigError(error)) return usage
  if (Predicate.hasProperty(error, "exitCode") && Predicate.isNumber(error.exitCode)) return error.exitCode
  const tag = tagOf(error)
  return tag === "Unauthorized" ? unauthorized : refusedInput.has(tag) ? usage : failed
}

/** The exit code for a whole run. A run that was interrupted after a failure has failed. */
export const ofExit = <A, E>(exit: Exit.Exit<A, E>): number =>
  Exit.match(exit, {
    onSuccess: () => ok,
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onSome: ofError,
        onNone: () =>
          !Cause.isInterruptedOnly(cause)
            ? failed
            : Endings.isWell(cause)
            ? ok
            : Endings.isHangUp(cause)
            ? hungUp
            : interrupted
      })
  })
