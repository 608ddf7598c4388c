/** Shorter transfers say little about the network, in bytes. */
const shortest = 1_048_576

/** Below this, in milliseconds, transfers are quick: no more is lost with one than is sent again soon. */
const quick = 5000

/** Above this, transfers are slow, and fewer at once are confirmed earlier. */
const slow = 10_000

/** A wider gate is worth its width only if storage confirms this much more. */
const worthwhile = 1.1

/**
 * The width for a few connections, as a page has. It starts with one transfer, so that something is confirmed early, and
 * grows while transfers are quick or storage confirms more because of it. It narrows where they are slow and it does
 * not.
 */
export class Gradual {
  width = 1
  readonly #limit: number
  /** What storage confirmed at each width, in bytes per millisecond. */
  readonly #rates: Array<number> = []
  #inFlight = 0
  #confirmed = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** A transfer starts. What is returned is to be called with its end: how many bytes storage has confirmed. */
  began(startedAt: number): (confirmed: number, now: number) => void {
    this.#inFlight++
    return (confirmed, now) => {
      if (confirmed >= shortest && this.#inFlight >= this.width) {
        this.#measured(now - startedAt, confirmed * this.#inFlight)
      }
      this.#inFlight--
    }
  }

  #measured(millis: number, bytes: number): void {
    const { width } = this
    const rate = bytes / Math.max(1, millis)
    this.#rates[width] = rate
    if (++this.#confirmed < width) return
    const isWider = rate > worthwhile * (this.#rates[width - 1] ?? 0)
    const wider = this.#rates[width + 1] ?? Infinity
    if (millis < quick) this.#resize(millis < quick / 2 ? 2 * width : width + 1)
    else if (!isWider) this.#resize(millis > slow ? width - 1 : width)
    else if (wider > worthwhile * rate) this.#resize(width + 1)
  }

  #resize(width: number): void {
    this.#confirmed = 0
    this.width = Math.max(1, Math.min(this.#limit, width))
  }
}
