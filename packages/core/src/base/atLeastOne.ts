/**
 * A count that a caller asks for, as a whole number from 1. What is not a number, as from an unset variable, counts as
 * omitted. The count is finite, because a Stream with a concurrency of Infinity emits nothing and ends.
 */
export const atLeastOne = (wished: number | undefined, omitted: number): number =>
  Math.min(
    Number.MAX_SAFE_INTEGER,
    Math.max(1, Math.floor(wished === undefined || Number.isNaN(wished) ? omitted : wished))
  )
