import { assert, describe, it } from "@effect/vitest"
import { type Clock, Effect, FastCheck } from "effect"
import * as ServerClock from "../../src/base/clock.js"
import { clockOf } from "../fixtures/wallClock.js"

const start = Date.UTC(2030, 0, 1)

/** A wall clock and a monotonic one, each moved by hand. */
const twoClocks = () => {
  let wall = start
  let monotonic = 0
  const clock = clockOf({
    millis: () => wall,
    nanos: () => BigInt(Math.round(monotonic * 1e6)),
    sleep: () => Effect.never
  })
  return {
    clock,
    pass: (millis: number) => {
      wall += millis
      monotonic += millis
    },
    setWall: (millis: number) => {
      wall += millis
    }
  }
}

const make = (clock: Clock.Clock) => Effect.runSync(Effect.withClock(ServerClock.make, clock))

describe("ServerClock", () => {
  it.prop("the server's time advances with our monotonic clock, however wrong the wall clock is", {
    offset: FastCheck.integer({ min: -1e9, max: 1e9 }),
    passes: FastCheck.array(FastCheck.integer({ min: 0, max: 100_000 }), { maxLength: 10 })
  }, ({ offset, passes }) => {
    const { clock, pass } = twoClocks()
    const serverClock = make(clock)
    serverClock.opened(offset)
    for (const millis of passes) pass(millis)
    assert.closeTo(serverClock.now(), start + offset + passes.reduce((sum, millis) => sum + millis, 0), 0.01)
    assert.strictEqual(serverClock.sleeps(), 0)
  })

  it.prop("a wall clock that is set back changes nothing", {
    back: FastCheck.integer({ min: 1, max: 1e9 })
  }, ({ back }) => {
    const { clock, pass, setWall } = twoClocks()
    const serverClock = make(clock)
    serverClock.opened(0)
    setWall(-back)
    pass(1000)
    assert.closeTo(serverClock.now(), start + 1000, 0.01)
    assert.closeTo(serverClock.offset(), back, 0.01)
    assert.strictEqual(serverClock.sleeps(), 0)
  })

  it("a wall clock that jumps ahead means that the computer slept: the server's time advanced meanwhile", () => {
    const { clock, pass, setWall } = twoClocks()
    const serverClock = make(clock)
    serverClock.opened(500)
    pass(1000)
    setWall(3_600_000)
    assert.strictEqual(serverClock.sleeps(), 1)
    assert.closeTo(serverClock.now(), start + 500 + 3_601_000, 0.01)
    pass(1000)
    assert.strictEqual(serverClock.sleeps(), 1)
  })

  it("a small clock adjustment does not count as sleep", () => {
    const { clock, pass, setWall } = twoClocks()
    const serverClock = make(clock)
    for (let step = 0; step < 100; step++) {
      pass(1000)
      setWall(step % 2 === 0 ? 900 : -900)
      serverClock.now()
    }
    assert.strictEqual(serverClock.sleeps(), 0)
  })

  it("counts for each session from the moment it was opened, whatever our clock was set to before", () => {
    const { clock, pass, setWall } = twoClocks()
    const serverClock = make(clock)
    setWall(86_400_000)
    pass(1000)
    serverClock.opened(-86_400_000)
    assert.closeTo(serverClock.now(), start + 1000, 0.01)
  })

  it("a timer that fires minutes late means that the computer slept, however many were late", () => {
    const { clock, pass } = twoClocks()
    const serverClock = make(clock)
    const dueAt = [5000, 6000].map((millis) => serverClock.monotonic() + millis)
    pass(3_600_000)
    dueAt.forEach(serverClock.fired)
    assert.strictEqual(serverClock.sleeps(), 1)
    assert.closeTo(serverClock.now(), start + 3_600_000, 0.01)
  })

  it("a timer of a page in the background, which fires up to a minute late, means nothing", () => {
    const { clock, pass } = twoClocks()
    const serverClock = make(clock)
    const dueAt = serverClock.monotonic() + 5000
    pass(65_000)
    serverClock.fired(dueAt)
    assert.strictEqual(serverClock.sleeps(), 0)
  })
})
