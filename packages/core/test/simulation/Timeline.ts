/** Something that happens at a time. */
export interface Timer {
  due: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

const comesFirst = (one: Timer, other: Timer): boolean =>
  one.due < other.due || (one.due === other.due && one.order < other.order)

/** True time, in milliseconds: it stands until the next thing happens. */
export class Timeline {
  private readonly heap: Array<Timer> = []
  private scheduled = 0

  constructor(public now: number) {}

  after(millis: number, run: () => void): Timer {
    const timer = { due: this.now + Math.max(0, millis), order: this.scheduled++, run, cancelled: false }
    this.insert(timer)
    return timer
  }

  /** Lets the next thing happen; false when nothing is left. */
  next(until = Number.POSITIVE_INFINITY): boolean {
    for (let first = this.heap[0]; first !== undefined; first = this.heap[0]) {
      if (!first.cancelled && first.due > until) return false
      this.removeFirst()
      if (first.cancelled) continue
      this.now = Math.max(this.now, first.due)
      first.run()
      return true
    }
    return false
  }

  private insert(timer: Timer): void {
    let index = this.heap.length
    this.heap.push(timer)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = this.heap[parent]
      if (above === undefined || !comesFirst(timer, above)) break
      this.heap[index] = above
      index = parent
    }
    this.heap[index] = timer
  }

  private removeFirst(): void {
    const last = this.heap.pop()
    if (last === undefined || this.heap.length === 0) return
    let index = 0
    for (;;) {
      const left = this.heap[2 * index + 1]
      const right = this.heap[2 * index + 2]
      const isRight = left !== undefined && right !== undefined && comesFirst(right, left)
      const child = isRight ? right : left
      if (child === undefined || !comesFirst(child, last)) break
      this.heap[index] = child
      index = 2 * index + (isRight ? 2 : 1)
    }
    this.heap[index] = last
  }
}
