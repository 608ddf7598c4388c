import * as Predicate from "effect/Predicate"

/** A string property of a thrown value: browsers throw all kinds of values. */
export const textOf = (thrown: unknown, field: string): string | undefined =>
  Predicate.hasProperty(thrown, field) && Predicate.isString(thrown[field]) ? thrown[field] : undefined

/** The browser's name for what went wrong. */
export const nameOf = (thrown: unknown): string => textOf(thrown, "name") ?? "UnknownError"
