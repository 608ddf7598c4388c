import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { FileState } from "../../src/FileTable.js"
import { SECOND_LOOK_MILLIS } from "../../src/FileTable.js"
import type { Event, Life } from "../../src/life/lifecycle.js"
import * as Lifecycle from "../../src/life/lifecycle.js"

const states = Object.keys(Lifecycle.transitions) as ReadonlyArray<FileState>
const events = Object.keys(Lifecycle.events) as ReadonlyArray<Event>

/** A moment at which all has ended that ends by itself. */
const late = 10 * SECOND_LOOK_MILLIS

const lifeIn = (state: FileState, changes: Partial<Life> = {}): Life => ({
  state,
  expiresAt: 1000,
  settledAt: state === "finalized" || state === "failed" || state === "removed" || state === "inspecting"
    ? 10
    : undefined,
  leaseOwner: "ann",
  leaseUntil: 500,
  ...changes
})

const asked = { leaseMillis: 100, isTold: true }

/** Where a file can be after any number of events, whoever asks and whenever. */
const reachable = (from: FileState): ReadonlySet<FileState | "forgotten"> => {
  const seen = new Set<FileState | "forgotten">([from])
  for (const state of seen) {
    if (state === "forgotten") continue
    for (const transition of Object.values(Lifecycle.transitions[state])) seen.add(transition[0])
  }
  return seen
}

describe("the life of a file", () => {
  it("reaches every state, and from each an end", () => {
    assert.sameMembers([...new Set([...reachable("opening"), ...reachable("waiting")])], [...states, "forgotten"])
    for (const state of states) {
      const ends = [...reachable(state)].filter((end) => end === "failed" || end === "forgotten")
      assert.isNotEmpty(ends, state)
    }
  })

  it("is taken back by nothing: a file or what it failed of stays, and what goes is gone", () => {
    assert.deepStrictEqual([...reachable("failed")], ["failed"])
    assert.sameMembers([...reachable("finalized")], ["finalized", "removing", "removed", "forgotten"])
    assert.sameMembers([...reachable("removing")], ["removing", "removed", "forgotten"])
  })

  it("waits for nobody for ever: what has no end yet is swept by anybody, later", () => {
    for (const state of states) {
      const swept = Lifecycle.next(lifeIn(state), "sweep", { ...asked, now: late, owner: "sweeper" })
      if (state === "finalized" || state === "failed") assert.isUndefined(swept, state)
      else {
        assert.deepInclude(swept, { leaseOwner: "sweeper", leaseUntil: late + 100 }, state)
        // and there is something to do then
        assert.notStrictEqual(Lifecycle.meanings[swept === "forgotten" ? state : swept?.state ?? state].care, "nothing")
      }
    }
  })

  it("is changed by nobody but who has its lease, while that lasts", () => {
    const leased: ReadonlyArray<FileState> = ["completing", "inspecting", "removing", "removed"]
    for (const state of leased) {
      for (const event of events) {
        const by = (owner: string | undefined) => Lifecycle.next(lifeIn(state), event, { ...asked, now: 100, owner })
        assert.isUndefined(by("eve"), `${state} ${event}`)
        assert.isUndefined(by(undefined), `${state} ${event}`)
      }
      assert.isDefined(Lifecycle.next(lifeIn(state), "renew", { ...asked, now: 100, owner: "ann" }))
      // one that has ended is still that of its owner, until somebody takes it
      assert.isDefined(Lifecycle.next(lifeIn(state), "renew", { ...asked, now: 700, owner: "ann" }))
    }
  })

  it("says of each state what its transitions say", () => {
    for (const state of states) {
      const { care, complete, isShown, status, takesBytes } = Lifecycle.meanings[state]
      const ways = Lifecycle.transitions[state]
      assert.strictEqual(complete === "claim", ways.claim !== undefined, state)
      assert.strictEqual(care !== "nothing", ways.sweep?.[0] === state, state)
      assert.strictEqual(takesBytes, ways.claim?.[1] === "alive", state)
      assert.strictEqual(complete === "answer" || complete === "conflict", isShown, state)
      assert.strictEqual(status === "completed", ways.discard !== undefined, state)
    }
  })

  it("is told of once each, and stops to count once, in any history", () => {
    const step = fc.record({
      event: fc.constantFrom(...events),
      owner: fc.constantFrom("ann", "eve"),
      after: fc.constantFrom(0, 50, 200, 2000, 2 * SECOND_LOOK_MILLIS),
      isTold: fc.boolean()
    })
    const begins = fc.constantFrom<FileState>("opening", "waiting")
    fc.assert(
      fc.property(begins, fc.array(step, { maxLength: 60 }), (begin, steps) => {
        let life: Life | "forgotten" = lifeIn(begin, { leaseOwner: undefined, leaseUntil: 0 })
        let now = 0
        const told: Array<string> = []
        for (const { after, event, isTold, owner } of steps) {
          now += after
          if (life === "forgotten") break
          const next: Life | "forgotten" | undefined = Lifecycle.next(life, event, {
            now,
            owner,
            isTold,
            leaseMillis: 100
          })
          if (next === undefined) continue
          if (next !== "forgotten") {
            const kind = Lifecycle.fileEventOf(life.state, next.state)
            if (kind !== undefined) told.push(kind)
            assert.isFalse(!Lifecycle.isCounted(life) && Lifecycle.isCounted(next), `${life.state} ${event}`)
            assert.strictEqual(next.leaseOwner === undefined, Lifecycle.events[event].takesLease !== true)
          } else assert.isFalse(Lifecycle.isCounted(life))
          life = next
        }
        assert.isTrue(["", "completed", "failed", "removed", "completed,removed"].includes(told.join()), told.join())
      }),
      { numRuns: 2000 }
    )
  })
})
