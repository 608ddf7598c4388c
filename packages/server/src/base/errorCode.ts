import * as Predicate from "effect/Predicate"

/**
 * The first code in a chain of causes, such as `ECONNREFUSED`, or `28P01` of PostgreSQL. Nothing else of the chain is kept:
 * it may hold a password or a signature.
 */
export const errorCode = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && Predicate.isString(error.code)
    ? error.code
    : Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? errorCode(error.cause)
    : "unknown reason"
