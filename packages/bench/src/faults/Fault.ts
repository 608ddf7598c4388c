/** What goes wrong in a list, and what a client is expected to make of it. */

export const names = [
  "none",
  "emptyPage",
  "cursorRepeated",
  "moreWithoutCursor",
  "shortPages",
  "walkedTwice",
  "failsOnce",
  "outage",
  "retryAfterSeconds",
  "retryAfterDate",
  "retryAfterLong"
] as const

export type Fault = typeof names[number]

/**
 * How a walk has to end: with every item, once; or with a typed error, since there is no way to every item.
 */
export interface Expectation {
  readonly title: string
  readonly end: "everything" | "error"
}

export const expectations: Readonly<Record<Fault, Expectation>> = {
  none: { title: "no fault", end: "everything" },
  emptyPage: { title: "an empty page in the middle, with a next cursor", end: "everything" },
  cursorRepeated: { title: "the server repeats a cursor", end: "error" },
  moreWithoutCursor: { title: "more items are announced, but there is no cursor", end: "error" },
  shortPages: { title: "the server returns 50 items per page instead of the requested 100", end: "everything" },
  walkedTwice: { title: "the same list walked twice", end: "everything" },
  failsOnce: { title: "a page fails once with 500", end: "everything" },
  outage: { title: "a page fails until the client gives up; then the program continues", end: "everything" },
  retryAfterSeconds: { title: "429, `Retry-After: 2`", end: "everything" },
  retryAfterDate: { title: "429, `Retry-After` as a date in 2 to 3 s", end: "everything" },
  retryAfterLong: { title: "429, `Retry-After: 100000` (27 hours)", end: "error" }
}
