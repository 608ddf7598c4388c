/** What was measured in one window. */
export interface Sample {
  /** In bytes per millisecond. */
  readonly rate: number
  /** The average duration of a transfer, in milliseconds. */
  readonly duration: number
}

interface Window {
  readonly width: number
  readonly startedAt: number
  /** Transfers with a lower number were in flight when the window started. */
  readonly firstNumber: number
  /** How many of those still are. */
  before: number
  confirmations: number
  bytes: number
  /** The sum over all transfers of the milliseconds that each was in flight. */
  busy: number
}

// Below this, a single round trip would decide the result
const shortest = 500

// With fewer transfers than the width allows, a window says nothing about the width
const fullEnough = 0.8

/**
 * How much storage confirms, measured in comparable windows. A window ends when everything has ended that was in flight
 * when it started, after as many confirmations as transfers fit at once, or a multiple of that. So it contains whole
 * rounds, whether a round takes milliseconds or minutes, and whether parts end one by one or all at once. The first
 * window after {@link restart} is ignored, because it mixes two widths.
 */
export class Throughput {
  #window: Window | undefined
  #isSettling = false
  #begun = 0
  #inFlight = 0
  #touchedAt = 0

  /** A transfer starts. Returns the number that identifies it. */
  began(now: number, width: number): number {
    this.#touch(now)
    if (this.#inFlight === 0 && this.#window === undefined && !this.#isSettling) this.#open(now, width)
    this.#inFlight++
    return this.#begun++
  }

  /** A transfer ended. Returns a sample if it was the last of a window and the network was full throughout. */
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

  /** The width has changed, or something else that invalidates the measurements so far. */
  restart(): void {
    this.#window = undefined
    this.#isSettling = true
  }

  /** The number of the next transfer: all with lower numbers have started. */
  get next(): number {
    return this.#begun
  }

  get inFlight(): number {
    return this.#inFlight
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
