import * as Predicate from "effect/Predicate"

const unknown = "unknown reason"

/**
 * The first code in a chain of causes, such as `ECONNREFUSED`, or `28P01` of PostgreSQL. Nothing else of the chain is kept:
 * it may hold a password or a signature.
 */
export const errorCode = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && Predicate.isString(error.code) && error.code !== ""
    ? error.code
    : Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? errorCode(error.cause)
    : unknown

/** The same, or the words of a database where it gives no code: they have nothing of its URL. */
export const reasonOf = (error: Error): string => {
  const code = errorCode(error)
  if (code !== unknown) return code
  return error.cause instanceof Error ? error.cause.message : error.message
}
