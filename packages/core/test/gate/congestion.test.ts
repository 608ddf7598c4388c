import { assert, describe, it } from "@effect/vitest"
import { Congestion, type Outcome } from "../../src/gate/congestion.js"

const second = 1000

/** Transfers that fill the width and start together. */
const startAll = (congestion: Congestion, now = 0) =>
  Array.from({ length: congestion.width }, () => congestion.began(now))

const endAll = (congestion: Congestion, transfers: ReadonlyArray<number>, outcome: Outcome, now = 0) =>
  transfers.forEach((number) => congestion.ended(number, now, outcome))

/** Rounds of a second, in which `rate` bytes per millisecond are confirmed at the width of each. */
const rounds = (congestion: Congestion, rates: ReadonlyArray<(width: number) => number>) =>
  rates.forEach((rate, round) => {
    const { width } = congestion
    const bytes = rate(width) * second / width
    endAll(congestion, startAll(congestion, round * second), { _tag: "Confirmed", bytes }, (round + 1) * second)
  })

const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

const steadily = (rate: number) => () => rate

const timedOut: Outcome = { _tag: "TimedOut" }

const unconnected: Outcome = { _tag: "Unconnected" }

describe("Congestion", () => {
  it("narrows to half, and no further, if all transfers of a round time out", () => {
    const congestion = new Congestion(6, 32)
    endAll(congestion, startAll(congestion), timedOut)
    assert.strictEqual(congestion.width, 3)
  })

  it("goes back to the width before a trial if a transfer times out during it", () => {
    const congestion = new Congestion(6, 32)
    rounds(congestion, [steadily(600)])
    assert.strictEqual(congestion.width, 12)
    endAll(congestion, startAll(congestion).slice(0, 1), timedOut)
    assert.strictEqual(congestion.width, 6)
  })

  it("tries a wider gate again soon if few of many transfers timed out, and late if a quarter did", () => {
    const widthAfter = (timeOuts: number) => {
      const congestion = new Congestion(32, 64)
      const transfers = startAll(congestion)
      endAll(congestion, transfers.slice(0, timeOuts), timedOut)
      endAll(congestion, transfers.slice(timeOuts), { _tag: "Other" })
      const narrowed = congestion.width
      rounds(congestion, times(12, (width) => 100 * width))
      return { narrowed, tried: congestion.width > narrowed }
    }
    assert.deepStrictEqual(widthAfter(2), { narrowed: 30, tried: true })
    assert.deepStrictEqual(widthAfter(8), { narrowed: 24, tried: false })
  })

  it("doubles again once it is wider than where too many transfers timed out", () => {
    const congestion = new Congestion(6, 32)
    const transfers = startAll(congestion)
    endAll(congestion, transfers.slice(0, 2), timedOut)
    endAll(congestion, transfers.slice(2), { _tag: "Other" })
    const widths: Array<number> = []
    rounds(
      congestion,
      times(150, (width) => {
        widths.push(width)
        return 100 * width
      })
    )
    assert.deepStrictEqual(Array.from(new Set(widths)).slice(0, 7), [4, 5, 6, 7, 14, 28, 32])
  })

  it("stays narrow if storage has refused a transfer for its rate before the last one got no connection", () => {
    const narrowed = (second: Outcome) => {
      const congestion = new Congestion(3, 32)
      const [a = 0, b = 0, c = 0] = startAll(congestion)
      congestion.ended(a, 0, unconnected)
      congestion.ended(b, 0, second)
      congestion.ended(c, 0, unconnected)
      return congestion.width
    }
    assert.strictEqual(narrowed({ _tag: "SlowDown" }), 1)
    assert.strictEqual(narrowed({ _tag: "Other" }), 3)
  })

  it("starts afresh when it rests, five minutes after it narrowed to the transfers that got a connection", () => {
    const congestion = new Congestion(6, 32)
    const transfers = startAll(congestion)
    endAll(congestion, transfers.slice(0, 4), unconnected, second)
    endAll(congestion, transfers.slice(4), { _tag: "Other" }, second)
    assert.strictEqual(congestion.width, 2)
    assert.strictEqual(congestion.rested(300 * second).width, 2)
    assert.strictEqual(congestion.rested(302 * second).width, 6)
  })

  it("counts a single bad window as bad luck, and a second as a change of the network", () => {
    const rateAfter = (rates: ReadonlyArray<number>) => {
      const congestion = new Congestion(4, 4)
      rounds(congestion, rates.map(steadily))
      return congestion.rate
    }
    assert.strictEqual(rateAfter([100, 50]), 100)
    assert.strictEqual(rateAfter([100, 50, 50]), 50)
  })

  it("compares with the best rate so far when it gets narrower, so that small losses do not add up", () => {
    const congestion = new Congestion(4, 4)
    rounds(congestion, [...times(9, steadily(120)), ...times(2, steadily(117))])
    assert.deepStrictEqual([congestion.width, congestion.rate], [3, 120])
  })
})
