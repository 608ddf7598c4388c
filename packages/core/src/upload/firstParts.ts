/** Which parts may begin before storage has confirmed any: something is confirmed within half a minute, on a slow line too. */
import * as Effect from "effect/Effect"
import type { UploadState } from "./control.js"

/** How soon what has begun is to arrive, in milliseconds. */
const soon = 28_000

/** The slowest line for which that is so, in bytes per millisecond. */
const slowest = 1000

/** What a connection may have taken without having sent it. */
const buffered = 4_194_304

const look = 250

/**
 * Waits until a part may begin: until storage has confirmed something, no more begins than arrives soon, at the speed so
 * far. A fast line is known by then.
 */
export const make = (
  { monitor, serverClock: { monotonic } }: UploadState
): (part: { readonly length: number }) => Effect.Effect<void> => {
  const beganAt = monotonic()
  let begun = 0
  const turn = (part: { readonly length: number }): Effect.Effect<void> =>
    Effect.flatMap(monitor.progress.get, ({ confirmed, sent }) => {
      const speed = Math.max(slowest, (sent - buffered) / (monotonic() - beganAt))
      if (confirmed === 0 && begun > 0 && begun + part.length > soon * speed) return Effect.delay(turn(part), look)
      begun += part.length
      return Effect.void
    })
  return turn
}
