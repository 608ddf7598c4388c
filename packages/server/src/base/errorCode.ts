import * as Predicate from "effect/Predicate"

/**
 * The first code in a chain of causes, such as `ECONNREFUSED`, or `28P01` of PostgreSQL. Nothing else of the chain is kept:
 * it may hold a password or a signature.
 */
export const errorCode = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && Predicate.isString(error.code) && error.code !== ""
    ? error.code
    : Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? errorCode(error.cause)
    : "unknown reason"

/** The same, and the last words of the chain where it has no code: for what is said of a database, whose URL they may not have. */
export const reasonOf = (error: unknown): string => {
  const code = errorCode(error)
  if (code !== "unknown reason" || !Predicate.hasProperty(error, "message")) return code
  if (Predicate.hasProperty(error, "cause") && error.cause instanceof Error) return reasonOf(error.cause)
  return /:\/\//.test(`${error.message}`) ? code : `${error.message}`
}
