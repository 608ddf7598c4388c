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
