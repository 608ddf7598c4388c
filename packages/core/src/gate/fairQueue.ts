/** A request for an amount of a resource. */
export interface Claim {
  /** Whole and finite: of anything else, `used` would not return to 0, and nothing would fit again. */
  readonly amount: number
  /** Claims of one owner are met in order; owners are served in turn. */
  readonly owner: unknown
  /** Called once, when the claim is met. */
  readonly met: () => void
}

/**
 * Shares a scarce resource, such as transfer slots or memory. Nobody is overtaken within a turn: a large claim whose
 * turn has come holds up smaller ones, because it might otherwise wait forever. A claim larger than everything there is
 * gets it alone.
 *
 * @internal
 */
export class FairQueue {
  /** The amount that is handed out. */
  used = 0
  waiting = 0
  /** The owners in the order in which they are served, each with its waiting claims. */
  readonly #queues = new Map<unknown, Set<Claim>>()
  readonly #holders = new Set<Claim>()

  enter(claim: Claim): void {
    const queue = this.#queues.get(claim.owner)
    if (queue === undefined) this.#queues.set(claim.owner, new Set([claim]))
    else queue.add(claim)
    this.waiting += 1
  }

  /** Returns what the claim holds, or removes it from the queue. */
  leave(claim: Claim): void {
    if (this.#holders.delete(claim)) {
      this.used -= claim.amount
      return
    }
    const queue = this.#queues.get(claim.owner)
    if (queue?.delete(claim) !== true) return
    if (queue.size === 0) this.#queues.delete(claim.owner)
    this.waiting -= 1
  }

  /** Meets every claim that can be met with this total capacity. */
  serve(capacity: number): void {
    // Iterating a map continues with entries that are appended meanwhile: one claim of each owner per turn, until
    // nothing fits
    for (const [owner, queue] of this.#queues) {
      for (const claim of queue) {
        if (!this.#fits(claim, capacity)) return
        this.#queues.delete(owner)
        queue.delete(claim)
        if (queue.size > 0) this.#queues.set(owner, queue)
        this.#meet(claim)
        break
      }
    }
  }

  #fits({ amount }: Claim, capacity: number): boolean {
    return capacity > 0 && (this.used === 0 || this.used + amount <= capacity)
  }

  #meet(claim: Claim): void {
    this.waiting -= 1
    this.#holders.add(claim)
    this.used += claim.amount
    claim.met()
  }
}
