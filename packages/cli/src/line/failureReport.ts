import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Endings from "../print/endings.js"
import { OutputFailed } from "../print/output.js"
import * as Reports from "../print/reports.js"
import type { CommandFailed } from "../print/schemas.js"

const isKind = Schema.is(ErrorKind.ErrorKind)

const isError = (error: unknown): error is Reports.KnownError =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) &&
  Predicate.hasProperty(error, "kind") && isKind(error.kind)

/**
 * The line of `--json` for the end of a run, of which `said` is what would be said in words; none if the reader of the
 * output closed it, or a service was asked to end, which is no failure.
 */
export const reportOf = (
  cause: Cause.Cause<unknown>,
  said: Option.Option<string>
): Option.Option<typeof CommandFailed.Type> => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  if (Endings.isWell(cause) || (error instanceof OutputFailed && error.closed)) return Option.none()
  if (isError(error)) return Option.some({ type: "failed", error: Reports.failure(error) })
  const rest = Cause.isInterruptedOnly(cause)
    ? { _tag: "Interrupted", kind: "tryLater" as const, message: Option.getOrElse(said, () => "") }
    // of the five kinds, the one that only somebody else can help with
    : { _tag: "Defect", kind: "refused" as const, message: Option.getOrElse(said, () => "") }
  return Option.some({ type: "failed", error: rest })
}
