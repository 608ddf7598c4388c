import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { ClientName } from "../../src/faults/clients/index.js"
import { clientNames, clients } from "../../src/faults/clients/index.js"
import * as Comparison from "../../src/faults/Comparison.js"
import { names } from "../../src/faults/Fault.js"
import { faultyCursor, itemCount } from "../../src/faults/FaultyList.js"
import * as FaultyServer from "../../src/faults/FaultyServer.js"
import { verdict } from "../../src/faults/Verdict.js"

class Program extends Context.Tag("Program")<Program, string>() {}

const program = Layer.scoped(Program, Comparison.program)

const parameters: Readonly<Record<ClientName, string>> = {
  stevedore: "page[start_cursor]",
  stripe: "starting_after",
  openai: "after",
  octokit: "after",
  aws: "continuation-token",
  notion: "start_cursor",
  effectAws: "continuation-token"
}

layer(program, { excludeTestServices: true, timeout: "60 seconds" })("the comparison of paginators", (it) => {
  it.scoped.each(names)("our walk is right under the fault %s", (fault) =>
    Effect.gen(function*() {
      const seen = yield* Comparison.observe(yield* Program, "stevedore", fault)
      assert.isTrue(verdict(seen).isRight, JSON.stringify(seen))
    }))

  it.scoped("a peer gets a list without fault whole, and is stopped when it walks for ever", () =>
    Effect.gen(function*() {
      const whole = yield* Comparison.observe(yield* Program, "octokit", "none")
      assert.deepStrictEqual([whole.end._tag, whole.items, whole.requests], ["Done", itemCount, 5])
      const endless = yield* Comparison.observe(yield* Program, "octokit", "cursorRepeated")
      assert.strictEqual(endless.end._tag, "TooManyRequests")
    }))
})

describe("the faulty server", () => {
  it.scopedLive.each(clientNames)(
    "tells a wait, and counts who asks before it is over: %s",
    (name) =>
      Effect.gen(function*() {
        const server = yield* FaultyServer.listen(clients[name].dialect, "retryAfterSeconds")
        const ask = Effect.promise(() =>
          fetch(`${server.origin}/?${parameters[name]}=${faultyCursor}`).then(({ headers, status }) => ({
            status,
            retryAfter: headers.get("retry-after")
          }))
        )
        assert.deepStrictEqual(yield* ask, { status: 429, retryAfter: "2" })
        assert.deepStrictEqual([server.requests(), server.early()], [1, 0])
        assert.deepStrictEqual(yield* ask, { status: 429, retryAfter: "2" })
        assert.deepStrictEqual([server.requests(), server.early()], [2, 1])
      })
  )
})
