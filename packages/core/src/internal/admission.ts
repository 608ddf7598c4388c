/** What somebody asks for: a place on the line or none, and so many bytes of memory. */
export interface Claim {
  readonly places: 0 | 1
  readonly bytes: number
  /** Claims of one owner are served in their order; owners are served in turn. */
  readonly owner: unknown
  /** Called once, when the claim is met. */
  readonly admitted: () => void
}

/**
 * Who may begin, of those that wait for a place on the line, for memory, or for both. Nobody is overtaken by somebody
 * who wants the same, but a claim too large for the memory that is left does not keep a place empty that others could
 * use without memory.
 *
 * @internal
 */
export class Admission {
  inFlight = 0
  bufferedBytes = 0
  waiting = 0
  private waitingForMemoryOnly = 0
  /** The owners in the order in which they are served, each with the claims that wait. */
  private readonly queues = new Map<unknown, Set<Claim>>()
  private readonly met = new Set<Claim>()

  constructor(private readonly maxBufferedBytes: number) {}

  enter(claim: Claim): void {
    const queue = this.queues.get(claim.owner)
    if (queue === undefined) this.queues.set(claim.owner, new Set([claim]))
    else queue.add(claim)
    this.count(claim, 1)
  }

  /** Gives back what the claim has got, or takes it out of the queue. */
  leave(claim: Claim): void {
    if (this.met.delete(claim)) {
      this.inFlight -= claim.places
      this.bufferedBytes -= claim.bytes
      return
    }
    const queue = this.queues.get(claim.owner)
    if (queue?.delete(claim) !== true) return
    if (queue.size === 0) this.queues.delete(claim.owner)
    this.count(claim, -1)
  }

  /** Meets every claim that can be met with so many places on the line. */
  admit(width: number): void {
    let isMemoryClaimed = false
    // A map goes on to what is put behind its end meanwhile: one claim of each owner, until nothing fits
    for (const [owner, queue] of this.queues) {
      const hasPlace = this.inFlight < width
      if (!hasPlace && this.waitingForMemoryOnly === 0) return
      for (const claim of queue) {
        if ((claim.places === 0 || hasPlace) && this.hasMemory(claim, isMemoryClaimed)) {
          this.queues.delete(owner)
          queue.delete(claim)
          if (queue.size > 0) this.queues.set(owner, queue)
          this.meet(claim)
        } else {
          isMemoryClaimed ||= claim.bytes > 0
        }
        break
      }
    }
  }

  // What is larger than all of the memory has it alone
  private hasMemory({ bytes }: Claim, isMemoryClaimed: boolean): boolean {
    return bytes === 0 || !isMemoryClaimed &&
        (this.bufferedBytes === 0 || this.bufferedBytes + bytes <= this.maxBufferedBytes)
  }

  private meet(claim: Claim): void {
    this.count(claim, -1)
    this.met.add(claim)
    this.inFlight += claim.places
    this.bufferedBytes += claim.bytes
    claim.admitted()
  }

  private count(claim: Claim, change: 1 | -1): void {
    this.waiting += change
    if (claim.places === 0) this.waitingForMemoryOnly += change
  }
}
