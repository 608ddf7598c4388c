/** Seeded chance: the same seed gives the same history, on every machine. */
export class Chance {
  private state: number

  constructor(seed: number) {
    this.state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    this.next()
    this.next()
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from)
  }

  pick<A>(values: readonly [A, ...ReadonlyArray<A>]): A {
    return values[Math.floor(this.next() * values.length)] ?? values[0]
  }

  /** One of the values, each as often as its weight says. */
  weighed<A>(values: readonly [readonly [A, number], ...ReadonlyArray<readonly [A, number]>]): A {
    let left = this.next() * values.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of values) {
      left -= weight
      if (left < 0) return value
    }
    return values[0][0]
  }

  /** A chance of its own, so that what draws from it does not move the others. */
  split(): Chance {
    return new Chance(this.whole(0, 0x7fffffff))
  }
}
