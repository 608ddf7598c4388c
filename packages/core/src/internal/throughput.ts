/** What was measured in one window. */
export interface Sample {
  /** In bytes a millisecond. */
  readonly rate: number
  /** How long one transfer took on the average, in milliseconds. */
  readonly duration: number
}

interface Window {
  readonly width: number
  readonly startedAt: number
  /** Transfers with a lower number were on their way when the window began. */
  readonly firstNumber: number
  /** How many of those still are. */
  before: number
  confirmations: number
  bytes: number
  /** Milliseconds, times the transfers that were on their way in each. */
  busy: number
}

// Below this, a round trip more or less decides
const shortest = 500

// A line with fewer transfers on it than it could have says nothing about its width
const fullEnough = 0.8

/**
 * How much storage confirms, measured in windows that are worth comparing: a window ends when everything has ended that
 * was on its way when it began, after as many confirmations as transfers fit on the line, or a multiple of them. So it
 * holds whole rounds, whether a round takes milliseconds or minutes and whether parts end one by one or all at once.
 * The first window after {@link restart} is passed over: it is of two widths.
 *
 * @internal
 */
export class Throughput {
  #window: Window | undefined
  #isSettling = false
  #begun = 0
  #inFlight = 0
  #touchedAt = 0

  /** A transfer begins; it is known by the number that this gives. */
  began(now: number, width: number): number {
    this.#touch(now)
    if (this.#inFlight === 0 && this.#window === undefined && !this.#isSettling) this.#open(now, width)
    this.#inFlight++
    return this.#begun++
  }

  /** A transfer ends. A sample, where it was the last of a window and the line was full all along. */
  ended(number: number, now: number, width: number, confirmed: number | undefined): Sample | undefined {
    this.#touch(now)
    this.#inFlight--
    if (this.#window !== undefined && number < this.#window.firstNumber) this.#window.before--
    if (confirmed === undefined) return undefined
    if (this.#window === undefined) {
      this.#open(now, width)
      return undefined
    }
    this.#window.confirmations++
    this.#window.bytes += confirmed
    if (!this.#isOver(this.#window, now)) return undefined
    const sample = this.#isSettling ? undefined : this.#sampleOf(this.#window, now)
    this.#isSettling = false
    this.#open(now, width)
    return sample
  }

  /** The width has changed, or something else that makes what was measured so far worthless. */
  restart(): void {
    this.#window = undefined
    this.#isSettling = true
  }

  /** The number of the next transfer: all with lower ones have begun. */
  get next(): number {
    return this.#begun
  }

  #open(now: number, width: number): void {
    this.#window = {
      width,
      startedAt: now,
      firstNumber: this.#begun,
      before: this.#inFlight,
      confirmations: 0,
      bytes: 0,
      busy: 0
    }
  }

  #touch(now: number): void {
    if (this.#window !== undefined) this.#window.busy += this.#inFlight * Math.max(0, now - this.#touchedAt)
    this.#touchedAt = now
  }

  #isOver({ before, confirmations, startedAt, width }: Window, now: number): boolean {
    if (before > 0) return false
    return this.#isSettling || (now - startedAt >= shortest && confirmations >= width && confirmations % width === 0)
  }

  #sampleOf({ busy, bytes, confirmations, startedAt, width }: Window, now: number): Sample | undefined {
    const elapsed = now - startedAt
    return busy < fullEnough * width * elapsed
      ? undefined
      : { rate: bytes / elapsed, duration: busy / confirmations }
  }
}
