import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceChanged, SourceUnreadable, withCause } from "@stevedore/core/SourceError"
import * as Predicate from "effect/Predicate"

/** A string property of a thrown value: browsers throw all kinds of values. */
export const textOf = (thrown: unknown, field: string): string | undefined =>
  Predicate.hasProperty(thrown, field) && Predicate.isString(thrown[field]) ? thrown[field] : undefined

/** The browser's name for what went wrong. */
export const nameOf = (thrown: unknown): string => textOf(thrown, "name") ?? "UnknownError"

const reasons: Readonly<Record<string, SourceUnreadable["reason"]>> = {
  NotFoundError: "NotFound",
  NotAllowedError: "PermissionDenied",
  SecurityError: "PermissionDenied",
  TypeMismatchError: "NotAFile"
}

/** The error for a file that has another size than it had. */
export const resized = (fileName: string, expected: number, actual: number): SourceChanged =>
  new SourceChanged({ fileName, what: "size", expected: `${expected} bytes`, actual: `${actual} bytes` })

/**
 * The error for a failed read. A browser remembers a file's size and date from when it was chosen, and refuses to read
 * it once they differ: `NotReadableError`.
 */
export const readFailure = (name: string, cause: unknown): SourceError => {
  if (isSourceError(cause)) return cause
  const code = textOf(cause, "name")
  return code === "NotReadableError"
    ? new SourceChanged({ fileName: name, what: "modified" })
    : withCause(
      new SourceUnreadable({
        fileName: name,
        reason: (code === undefined ? undefined : reasons[code]) ?? "Failed",
        ...(code === undefined ? {} : { code })
      }),
      cause
    )
}
