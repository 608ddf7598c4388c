/** What somebody waits for: so much of what there is. */
export interface Claim {
  readonly amount: number
  /** Claims of one owner are met in their order; owners are served in turn. */
  readonly owner: unknown
  /** Called once, when the claim is met. */
  readonly met: () => void
}

/**
 * Who gets what there is too little of, such as places on the line or memory. Nobody is overtaken within a turn: a large
 * claim whose turn has come holds up the small ones, or it might wait for ever. One that is larger than all there is
 * has it alone.
 *
 * @internal
 */
export class FairQueue {
  /** What was given and has not come back. */
  used = 0
  waiting = 0
  /** The owners in the order in which they are served, each with its claims that wait. */
  readonly #queues = new Map<unknown, Set<Claim>>()
  readonly #holders = new Set<Claim>()

  enter(claim: Claim): void {
    const queue = this.#queues.get(claim.owner)
    if (queue === undefined) this.#queues.set(claim.owner, new Set([claim]))
    else queue.add(claim)
    this.waiting += 1
  }

  /** Gives back what the claim has got, or takes it out of the queue. */
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

  /** Meets every claim that can be met where there is so much in all. */
  serve(capacity: number): void {
    // A map goes on to what is put behind its end meanwhile: one claim of each owner, until nothing fits
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
