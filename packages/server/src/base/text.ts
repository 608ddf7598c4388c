/** Text of requests: their paths, prefixes, header values and ids; and of what is counted. */
import * as Effect from "effect/Effect"
import * as Identifiers from "../parts/identifiers.js"

/** Whether a text can stand in a header as it is, wherever it goes: spaces and what is visible of ASCII. @internal */
export const isHeaderValue = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** The path of a request, without its query. @internal */
export const pathOf = (url: string): string => url.split("?")[0] ?? url

/** The same for a log: a client that escapes its `?`, or forgets it, has a signature in its path. */
export const shownPath = (url: string): string => (pathOf(url).split(/%3f|X-Amz-/i)[0] ?? "").slice(0, 200)

/** What stands before every path, with a slash before it and none behind it; empty if nothing does. @internal */
export const prefixOf = (basePath = ""): "" | `/${string}` => {
  const path = basePath.replace(/^\/+|\/+$/g, "")
  return path === "" ? "" : `/${path}`
}

// it is written into logs and headers as it is
const SANE = /^[\w.:-]{1,64}$/

/** The id of a request: what its client or a proxy gave, if that is sane, and a new one otherwise. */
export const requestIdOf = (given: string | undefined): Effect.Effect<string> =>
  given !== undefined && SANE.test(given) ? Effect.succeed(given) : Identifiers.requestId

const TOLD_TENANTS = 20

/** Sums by name, the greatest first: `acme 10, default 2`. Of many names, the first are told. */
export const tally = (counts: ReadonlyArray<readonly [name: string, count: number]>): string => {
  const sums = new Map<string, number>()
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
  const told = [...sums].sort(([, left], [, right]) => right - left).slice(0, TOLD_TENANTS)
  const more = sums.size - told.length
  return `${told.map(([name, count]) => `${name} ${count}`).join(", ")}${more > 0 ? `, and ${more} more` : ""}`
}
