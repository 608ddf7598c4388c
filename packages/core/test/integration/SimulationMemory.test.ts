import { assert, describe, it } from "@effect/vitest"
import { Fiber } from "effect"
import { run } from "../simulation/Simulation.js"

describe("the memory of the simulation", () => {
  it("keeps no fiber of a process that was killed", () => {
    const before = Fiber.unsafeRoots().length
    let killed = 0
    for (let seed = 1; seed <= 60; seed++) {
      if (run(seed).history.lives.some(({ ended }) => ended?.by === "kill")) killed++
    }
    assert.isAbove(killed, 3)
    assert.lengthOf(Fiber.unsafeRoots(), before)
  })
})
