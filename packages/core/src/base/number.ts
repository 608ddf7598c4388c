/** Whole numbers. */
import * as Option from "effect/Option"

/** A whole number from its digits, of which every one counts: 15 fit into a number. */
export const wholeNumber = (text = ""): Option.Option<number> =>
  /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()

/**
 * A count that a caller asks for, as a whole number from 1. What is not a number, as from an unset variable, counts as
 * omitted. The count is finite, because a Stream with a concurrency of Infinity emits nothing and ends.
 */
export const atLeastOne = (wished: number | undefined, omitted: number): number =>
  Math.min(
    Number.MAX_SAFE_INTEGER,
    Math.max(1, Math.floor(wished === undefined || Number.isNaN(wished) ? omitted : wished))
  )
