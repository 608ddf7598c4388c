/** Bytes at a pace: a bucket of them, and a body or a download that takes its turns. */
import * as Effect from "effect/Effect"
import type { Pull } from "./effect.js"

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

/** What passes at once after a pause, in seconds of the rate. */
const burst = 0.1

/**
 * A token bucket that hands out positions in one sequence of bytes: a position is reached when all bytes before it had
 * the time that they take. What waits keeps its place when the rate changes.
 */
export class ByteBucket {
  #rate: number
  /** When `#passed` was last counted, in milliseconds. */
  #at: number
  /** How far the sequence has come, in bytes; ahead of what is reserved by at most the burst. */
  #passed = 0
  /** Up to where positions were handed out. */
  #reserved = 0

  constructor(rate: number, at: number) {
    this.#rate = rate
    this.#at = at
  }

  /** Reserves bytes. Returns their position. */
  reserve(bytes: number, at: number): number {
    this.#advance(at)
    const position = this.#reserved
    this.#reserved += bytes
    return position
  }

  /** The milliseconds until this position is reached; 0 or less if it is. */
  wait(position: number, at: number): number {
    this.#advance(at)
    return this.#rate === Number.POSITIVE_INFINITY ? 0 : (position - this.#passed) / this.#rate * 1000
  }

  /** Bytes that were reserved are not transferred: those that wait need not wait for them. */
  giveBack(bytes: number): void {
    this.#passed += bytes
  }

  /** From now on, this many bytes per second. */
  change(rate: number, at: number): void {
    this.#advance(at)
    this.#rate = rate
  }

  #advance(at: number): void {
    const passed = this.#passed + Math.max(0, at - this.#at) / 1000 * this.#rate
    this.#at = at
    this.#passed = this.#rate === Number.POSITIVE_INFINITY
      ? this.#reserved
      : Math.min(passed, this.#reserved + this.#rate * burst)
  }
}
