/** A request for an amount of a resource. */
export interface Claim {
  /** Whole and finite: of anything else, `used` would not return to 0, and nothing would fit again. */
  readonly amount: number
  /** Claims of one owner are met in order. */
  readonly owner: unknown
  /** What the owner has left to do, in any unit. */
  readonly left: number
  /** Called once, when the claim is met. */
  readonly met: () => void
}

interface Owner {
  /** Its waiting claims, each with its rank among those of other owners. */
  readonly waiting: Map<Claim, number>
  /** How many of its claims are met and not yet left. */
  held: number
}

interface Turn {
  readonly claim: Claim
  readonly owner: Owner
  readonly rank: number
}

/**
 * Shares a scarce resource, such as transfer slots or memory. An owner that holds less goes before one that holds more,
 * then one with less left before one with more, then whoever was served longest ago. What has less left overtakes only
 * until as much was served as the other one has left. The claim whose turn it is holds up smaller ones, because it might
 * otherwise wait forever. A claim larger than everything there is gets it alone.
 */
export class FairQueue {
  /** The amount that is handed out. */
  used = 0
  waiting = 0
  /** In the order in which they were served. */
  readonly #owners = new Map<unknown, Owner>()
  readonly #holders = new Set<Claim>()
  /** The highest rank that was served. */
  #served = 0

  enter(claim: Claim): void {
    const owner = this.#owners.get(claim.owner) ?? { waiting: new Map<Claim, number>(), held: 0 }
    owner.waiting.set(claim, this.#served + claim.left)
    this.#owners.set(claim.owner, owner)
    this.waiting += 1
  }

  /** Returns what the claim holds, or removes it from the queue. */
  leave(claim: Claim): void {
    const owner = this.#owners.get(claim.owner)
    if (owner === undefined) return
    if (this.#holders.delete(claim)) {
      this.used -= claim.amount
      owner.held -= 1
    } else if (owner.waiting.delete(claim)) this.waiting -= 1
    if (owner.held + owner.waiting.size === 0) this.#owners.delete(claim.owner)
  }

  /**
   * Meets every claim that can be met with this total capacity. That of an owner that holds nothing has a capacity of its
   * own: `forNewOwner` of the most that any owner holds.
   */
  serve(capacity: number, forNewOwner = (_most: number): number => capacity): void {
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) {
      const { claim, owner, rank } = turn
      if (!this.#fits(claim, owner.held === 0 ? forNewOwner(this.#most()) : capacity)) return
      owner.waiting.delete(claim)
      owner.held += 1
      this.#owners.delete(claim.owner)
      this.#owners.set(claim.owner, owner)
      this.#served = Math.max(this.#served, rank)
      this.waiting -= 1
      this.#holders.add(claim)
      this.used += claim.amount
      claim.met()
    }
  }

  #next(): Turn | undefined {
    let next: Turn | undefined
    if (this.waiting === 0) return next
    for (const owner of this.#owners.values()) {
      for (const [claim, rank] of owner.waiting) {
        const isBefore = next === undefined || owner.held < next.owner.held ||
          (owner.held === next.owner.held && rank < next.rank)
        if (isBefore) next = { claim, owner, rank }
        break
      }
    }
    return next
  }

  #most(): number {
    let most = 0
    for (const { held } of this.#owners.values()) most = Math.max(most, held)
    return most
  }

  #fits({ amount }: Claim, capacity: number): boolean {
    return capacity > 0 && (this.used === 0 || this.used + amount <= capacity)
  }
}
