import * as Predicate from "effect/Predicate"

/** A text that what was thrown has under this name: browsers throw whatever they like. */
export const textOf = (thrown: unknown, field: string): string | undefined =>
  Predicate.hasProperty(thrown, field) && Predicate.isString(thrown[field]) ? thrown[field] : undefined

/** The browser's name for what went wrong. */
export const nameOf = (thrown: unknown): string => textOf(thrown, "name") ?? "UnknownError"
