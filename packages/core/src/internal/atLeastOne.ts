/**
 * How many of something, as a caller wishes: a whole number from 1. What is no number, as of a variable that is not set, is
 * no wish; and a Stream with Infinity at once gives nothing and ends, so there is an end to it.
 *
 * @internal
 */
export const atLeastOne = (wished: number | undefined, omitted: number): number =>
  Math.min(
    Number.MAX_SAFE_INTEGER,
    Math.max(1, Math.floor(wished === undefined || Number.isNaN(wished) ? omitted : wished))
  )
