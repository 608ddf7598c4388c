/** Which parts may begin before storage has confirmed any: something is confirmed within half a minute, on a slow line too. */
import * as Effect from "effect/Effect"
import { monotonicMillis } from "../base/clock.js"

/** How soon what has begun is to arrive, in milliseconds. */
const soon = 28_000

/** The slowest line for which that is so, in bytes per millisecond. */
const slowest = 1000

/** What a connection may have taken without having sent it. */
const buffered = 4_194_304

const look = 250

/** What storage has of an upload, and what was sent of it, in bytes. */
export type Progress = Effect.Effect<{ readonly confirmed: number; readonly sent: number }>

/**
 * Waits until a part of so many bytes may begin: until storage has confirmed something, no more begins than arrives soon,
 * at the speed so far. A fast line is known by then, and nothing waits once the network was measured.
 */
export const make = (
  progress: Progress,
  isMeasured: Effect.Effect<boolean>
): (bytes: number) => Effect.Effect<void> => {
  let beganAt: number | undefined
  let begun = 0
  const turn = (bytes: number): Effect.Effect<void> =>
    Effect.gen(function*() {
      const now = monotonicMillis(yield* Effect.clock)
      const { confirmed, sent } = yield* progress
      beganAt ??= now
      const speed = Math.max(slowest, (sent - buffered) / (now - beganAt))
      const isLate = confirmed === 0 && begun > 0 && begun + bytes > soon * speed
      if (isLate && !(yield* isMeasured)) return yield* Effect.delay(turn(bytes), look)
      begun += bytes
    })
  return turn
}
