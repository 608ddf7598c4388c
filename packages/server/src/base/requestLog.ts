import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { shownPath } from "./text.js"

/**
 * The one line of the log about an answer of 5xx, or about one that broke off. Its path names the file; its query, which may be
 * a signature, is left out.
 */
export const logged = (
  request: { readonly method: string; readonly url: string; readonly status: number | "broken off" },
  why: string | Cause.Cause<unknown>
): Effect.Effect<void> => {
  const { method, status, url } = request
  const what = `${method} ${shownPath(url)} ${status === "broken off" ? "broke off" : `answered ${status}`}`
  return typeof why !== "string"
    ? Effect.logError(what, why)
    // what is asked again in a moment
    : status === 503
    ? Effect.logWarning(`${what}: ${why}`)
    : Effect.logError(`${what}: ${why}`)
}
