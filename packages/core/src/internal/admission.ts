/** What somebody asks for: a place on the line or none, and so many bytes of memory. */
export interface Claim {
  readonly places: 0 | 1
  readonly bytes: number
  /** Claims of one owner for the same are served in their order; owners are served in turn. */
  readonly owner: unknown
  /** Called once, when the claim is met. */
  readonly admitted: () => void
}

type Queues = Map<unknown, Set<Claim>>

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
  /** The owners in the order in which they are served, each with the claims that wait for a place. */
  private readonly transfers: Queues = new Map()
  /**
   * The same for claims on memory alone. Apart, since whoever waits for memory may wait for a transfer of the same owner
   * to end.
   */
  private readonly holds: Queues = new Map()
  private readonly met = new Set<Claim>()

  constructor(private readonly maxBufferedBytes: number) {}

  enter(claim: Claim): void {
    const queues = this.queuesOf(claim)
    const queue = queues.get(claim.owner)
    if (queue === undefined) queues.set(claim.owner, new Set([claim]))
    else queue.add(claim)
    this.waiting += 1
  }

  /** Gives back what the claim has got, or takes it out of the queue. */
  leave(claim: Claim): void {
    if (this.met.delete(claim)) {
      this.inFlight -= claim.places
      this.bufferedBytes -= claim.bytes
      return
    }
    const queues = this.queuesOf(claim)
    const queue = queues.get(claim.owner)
    if (queue?.delete(claim) !== true) return
    if (queue.size === 0) queues.delete(claim.owner)
    this.waiting -= 1
  }

  /** Meets every claim that can be met with so many places on the line. */
  admit(width: number): void {
    const isMemoryClaimed = this.serve(this.holds, () => true, false)
    this.serve(this.transfers, () => this.inFlight < width, isMemoryClaimed)
  }

  /** Whether somebody waits for memory: then nobody else gets any. */
  private serve(queues: Queues, hasPlace: () => boolean, memoryClaimed: boolean): boolean {
    let isMemoryClaimed = memoryClaimed
    // A map goes on to what is put behind its end meanwhile: one claim of each owner, until nothing fits
    for (const [owner, queue] of queues) {
      if (!hasPlace()) return isMemoryClaimed
      for (const claim of queue) {
        if (this.hasMemory(claim, isMemoryClaimed)) {
          queues.delete(owner)
          queue.delete(claim)
          if (queue.size > 0) queues.set(owner, queue)
          this.meet(claim)
        } else {
          isMemoryClaimed ||= claim.bytes > 0
        }
        break
      }
    }
    return isMemoryClaimed
  }

  private queuesOf(claim: Claim): Queues {
    return claim.places === 0 ? this.holds : this.transfers
  }

  // What is larger than all of the memory has it alone
  private hasMemory({ bytes }: Claim, isMemoryClaimed: boolean): boolean {
    return bytes === 0 || !isMemoryClaimed &&
        (this.bufferedBytes === 0 || this.bufferedBytes + bytes <= this.maxBufferedBytes)
  }

  private meet(claim: Claim): void {
    this.waiting -= 1
    this.met.add(claim)
    this.inFlight += claim.places
    this.bufferedBytes += claim.bytes
    claim.admitted()
  }
}
