import { Throughput } from "./throughput.js"

/** How a transfer ended, as far as it says something about the network. */
export type Outcome =
  | { readonly _tag: "Confirmed"; readonly bytes: number }
  | { readonly _tag: "TimedOut" }
  /** It got no connection. */
  | { readonly _tag: "Unconnected" }
  | { readonly _tag: "SlowDown" }
  | { readonly _tag: "Other" }

interface Reference {
  readonly width: number
  readonly rate: number
}

interface Trial {
  readonly direction: "up" | "down"
  /** The width to go back to, and the throughput measured there. */
  readonly from: Reference
  misses: number
  /** Whether no other width is known yet, so that a wider one is tried if this fails. */
  readonly isFirst: boolean
}

interface Narrowing {
  readonly from: number
  /** Transfers with a lower number had started before: they fail because of the old width, not the new one. */
  readonly firstNumber: number
  timeOuts: number
  /** Whether it was a reaction to the width and not bad luck. */
  isDeserved: boolean
}

/** A gain in throughput above this is worth a wider gate's connections; a smaller one is noise. */
const worthwhile = 0.05

/** A loss below this is a fair price for fewer connections. */
const harmless = 0.03

/** A loss above this is not noise. */
const clear = 0.15

/** A change of more than this, up or down, means that the network itself has changed. */
const changed = 0.3

/** Windows between two trials: at first, and after all of them have failed for long. */
const patience = { shortest: 8, longest: 64 }

/** From this duration on, a round takes minutes, so caution is due with what cannot be undone soon. */
const slowTransfer = 10_000

/** What one transfer sends per millisecond, in bytes, if it hardly waits for round trips: few such fill a network. */
const quickTransfer = 100_000

const gently = 1.25

/** How long a narrowing lasts at least, in milliseconds: longer than the retries of what caused it. */
const memory = 300_000

const wider = (width: number, factor: number): number => Math.max(width + 1, Math.floor(factor * width))

/**
 * Finds by trial how many transfers the network can carry. While throughput grows with the width, the width doubles;
 * when it does not, it goes back. If transfers are quick, fewer are tried first. From then on, a slightly larger or
 * smaller width is tried now and then: less and less often while that brings nothing, and at once when the network has
 * changed. Each transfer that times out narrows it by one, down to half; a SlowDown halves it. Transfers that started
 * before a narrowing do not narrow it again. If the network connects only some of them, it narrows to those that go on.
 * If none of them does, it was an interruption, and the width is restored.
 */
export class Congestion {
  width: number
  readonly #throughput = new Throughput()
  #reference: Reference | undefined
  #trial: Trial | undefined
  #direction: Trial["direction"] = "up"
  #narrowing: Narrowing = { from: 1, firstNumber: 0, timeOuts: 0, isDeserved: false }
  #narrowedAt = Infinity
  /** The width before transfers got no connection, until storage answers one. */
  #connected: number | undefined
  /** Narrowed for good reason: from here on, it widens in small steps only. */
  #isCautious = false
  /** Windows until the next trial, and how many there are between two trials. */
  #rest = 0
  #patience = patience.shortest
  #falls = 0
  readonly #initial: number
  readonly #limit: number

  constructor(initial: number, limit: number) {
    this.#initial = initial
    this.#limit = limit
    this.width = initial
  }

  /** What was confirmed per millisecond at a width that lasted; none before the network was measured. */
  get rate(): number | undefined {
    return this.#reference?.rate
  }

  /**
   * To be called when nothing is in flight and nothing waits. Returns itself, or a fresh start if the last narrowing was long
   * ago: if there is never enough to fill the network, nothing is measured, and the width would stay narrow forever. While
   * something waits the network is full, also between two transfers that it takes one at a time.
   */
  rested(now: number): Congestion {
    const isStale = this.width < this.#initial && now - this.#narrowedAt > memory
    return isStale ? new Congestion(this.#initial, this.#limit) : this
  }

  began(now: number): number {
    return this.#throughput.began(now, this.width)
  }

  ended(number: number, now: number, outcome: Outcome): void {
    const confirmed = outcome._tag === "Confirmed" ? outcome.bytes : undefined
    const sample = this.#throughput.ended(number, now, this.width, confirmed)
    if (confirmed !== undefined || outcome._tag === "SlowDown") this.#connected = undefined
    if (outcome._tag === "TimedOut") this.#timedOut(number, now)
    else if (outcome._tag === "Unconnected") this.#unconnected(now)
    else if (outcome._tag === "SlowDown") this.#slowedDown(number, now)
    else if (sample !== undefined && sample.rate > 0) this.#measured(sample.rate, sample.duration >= slowTransfer)
  }

  #measured(rate: number, isSlow: boolean): void {
    if (this.#trial === undefined) this.#held(rate, isSlow)
    else if (this.#trial.direction === "up") this.#wider(this.#trial, rate, isSlow)
    else this.#narrower(this.#trial, rate)
  }

  #held(rate: number, isSlow: boolean): void {
    const before = this.#reference
    this.#rest--
    if (before === undefined) {
      this.#reference = { width: this.width, rate }
      if (this.#rest > 0) return
      if (rate / this.width < quickTransfer) this.#tryWider(isSlow ? 1.5 : 2)
      // Each transfer costs memory and CPU, which is what limits the quick ones
      else this.#attempt("down", Math.ceil(this.width / 2), true)
      return
    }
    const change = rate / before.rate - 1
    if (change > changed) return this.#lineChanged(rate, "up")
    this.#falls = change < -changed ? this.#falls + 1 : 0
    // A single bad window is bad luck
    if (this.#falls === 1) return
    if (this.#falls === 2) return this.#lineChanged(rate, "down")
    this.#reference = { width: this.width, rate: 0.7 * before.rate + 0.3 * rate }
    if (this.#rest <= 0) this.#tryOther()
  }

  #lineChanged(rate: number, direction: Trial["direction"]): void {
    this.#reference = { width: this.width, rate }
    this.#falls = 0
    this.#patience = patience.shortest
    this.#direction = direction
    this.#tryOther()
  }

  #wider(trial: Trial, rate: number, isSlow: boolean): void {
    const growth = rate / trial.from.rate - 1
    if (growth < worthwhile) return this.#missed(trial, false)
    const expected = this.width / trial.from.width - 1
    this.#accept(rate)
    if (growth < expected / 2) return
    if (!this.#isCautious) this.#tryWider(isSlow ? 1.5 : 2)
    else if (wider(this.width, gently) < this.#narrowing.from) this.#tryWider(gently)
  }

  #narrower(trial: Trial, rate: number): void {
    const loss = 1 - rate / trial.from.rate
    if (loss > harmless) return this.#missed(trial, loss > clear)
    // The reference keeps the higher rate, so that many small losses do not add up to a large one
    this.#accept(Math.max(rate, trial.from.rate))
  }

  #accept(rate: number): void {
    this.#trial = undefined
    this.#reference = { width: this.width, rate }
    if (this.width > this.#narrowing.from) this.#isCautious = false
    if (!this.#isCautious) this.#patience = patience.shortest
    this.#rest = this.#patience
  }

  // A single bad window is bad luck, but each further one costs throughput that the narrower gate would have had
  #missed(trial: Trial, isClear: boolean): void {
    if (isClear || trial.misses++ > 0) return this.#giveUp(trial)
  }

  #giveUp(trial: Trial): void {
    this.#trial = undefined
    this.#reference = trial.from
    this.#resize(trial.from.width)
    if (trial.isFirst) return this.#tryWider(2)
    this.#direction = trial.direction === "up" ? "down" : "up"
    this.#patience = Math.min(patience.longest, 2 * this.#patience)
    this.#rest = this.#patience
  }

  #tryOther(): void {
    const isAtEnd = this.width === (this.#direction === "up" ? this.#limit : 1)
    if (isAtEnd) this.#direction = this.#direction === "up" ? "down" : "up"
    if (this.#direction === "up") this.#tryWider(gently)
    else this.#attempt("down", Math.max(1, Math.min(this.width - 1, Math.ceil(0.75 * this.width))))
  }

  #tryWider(factor: number): void {
    this.#attempt("up", Math.min(this.#limit, wider(this.width, factor)))
  }

  #attempt(direction: Trial["direction"], width: number, isFirst = false): void {
    this.#rest = this.#patience
    if (this.#reference === undefined || width === this.width) return
    this.#trial = { direction, from: this.#reference, misses: 0, isFirst }
    this.#resize(width)
  }

  #timedOut(number: number, now: number): void {
    if (number >= this.#narrowing.firstNumber) this.#beginNarrowing(now)
    const timeOuts = ++this.#narrowing.timeOuts
    const { from } = this.#narrowing
    // One timeout of many may be a dead connection; several are a reaction to the width
    const isTooMuch = timeOuts > 1 && timeOuts >= from / 4
    this.#narrow(Math.max(Math.ceil(from / 2), from - timeOuts), isTooMuch)
  }

  #unconnected(now: number): void {
    const { inFlight } = this.#throughput
    if (inFlight === 0) return this.#resize(this.#connected ?? this.width)
    this.#connected ??= this.width
    this.#narrowedAt = now
    this.#narrow(inFlight, false)
  }

  #slowedDown(number: number, now: number): void {
    if (number < this.#narrowing.firstNumber) return
    this.#beginNarrowing(now)
    this.#narrow(Math.max(1, Math.floor(this.#narrowing.from / 2)), true)
  }

  #beginNarrowing(now: number): void {
    this.#narrowedAt = now
    this.#narrowing = { from: this.width, firstNumber: this.#throughput.next, timeOuts: 0, isDeserved: false }
  }

  #narrow(width: number, isTooMuch: boolean): void {
    const back = this.#trial?.direction === "up" ? this.#trial.from.width : this.width
    this.#trial = undefined
    this.#reference = undefined
    this.#direction = "up"
    this.#falls = 0
    if (isTooMuch && !this.#narrowing.isDeserved) {
      this.#narrowing.isDeserved = true
      this.#isCautious = true
      this.#patience = Math.min(patience.longest, 4 * this.#patience)
    }
    this.#rest = this.#patience
    this.#resize(Math.min(width, back))
  }

  #resize(width: number): void {
    this.width = width
    this.#throughput.restart()
  }
}
