import * as Effect from "effect/Effect"
import type { Pull } from "./pull.js"

/** What is asked before each write. Bytes are not changed by it: whoever writes them asks, waits, and writes. */
export interface Turns {
  /** How many bytes to write at once at most, so that transfers take turns: `Infinity` while there is no limit. */
  readonly piece: () => number
  /** What to wait for before this many bytes are written; `undefined` if they may go at once. */
  readonly before: (bytes: number) => Effect.Effect<void> | undefined
}

/** The same bytes in pieces that ask. While there is no limit, chunks pass as they are. */
export const pacedPull = <E>(pull: Pull<Uint8Array, E>, { before, piece }: Turns): Pull<Uint8Array, E> => {
  let left: Uint8Array = new Uint8Array()
  const next: Pull<Uint8Array, E> = Effect.suspend(() => {
    if (left.byteLength === 0) {
      return piece() === Number.POSITIVE_INFINITY ? pull : Effect.flatMap(pull, (chunk) => {
        left = chunk
        return next
      })
    }
    const bytes = left.subarray(0, piece())
    left = left.subarray(bytes.byteLength)
    return Effect.as(before(bytes.byteLength) ?? Effect.void, bytes)
  })
  return next
}
