/** What is printed when a command does not succeed. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Endings from "../print/endings.js"
import { messageOf } from "../print/message.js"
import { Output, OutputFailed } from "../print/output.js"
import * as Printable from "../print/printable.js"

/**
 * The message for an error; none if it was already printed, or if there is nothing to say because the reader of the
 * output closed it.
 */
export const ofError = (error: unknown): Option.Option<string> => {
  if (error instanceof OutputFailed && error.closed) return Option.none()
  if (Predicate.isTagged(error, "FilesFailed") && Predicate.hasProperty(error, "files") && error.files === 1) {
    return Option.none()
  }
  return Option.some(messageOf(error))
}

/** The message for the end of a run. */
export const ofCause = (cause: Cause.Cause<unknown>): Option.Option<string> =>
  Option.match(Cause.failureOption(cause), {
    onSome: ofError,
    onNone: () =>
      Endings.isWell(cause) ? Option.none() : Option.some(
        Cause.isInterruptedOnly(cause) ? "Interrupted." : `This is a bug in stevedore.\n${Cause.pretty(cause)}`
      )
  })

/** Prints to standard error why a command did not succeed. */
export const tell = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
  Effect.onError(
    command,
    (cause) =>
      Effect.transposeMapOption(ofCause(cause), (words) => Effect.flatMap(Output, (output) => output.warn(words)))
  )

/** The same with `--json`: prints one line, `CommandFailed` of the reports. */
export const report = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
  Effect.onError(command, (cause) =>
    // most runs need none of it
    Effect.promise(() => import("./failureReport.js")).pipe(
      Effect.flatMap(({ reportOf }) =>
        Effect.transposeMapOption(
          reportOf(cause, ofCause(cause)),
          (line) => Effect.flatMap(Output, (output) => output.warn(Printable.json(line)))
        )
      )
    ))
