import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Runtime } from "effect"
import type { Instance } from "../support/cluster.js"
import * as Cluster from "../support/cluster.js"
import * as Hosts from "../support/hosts.js"
import { initiateLarge, isComplete, prepared, sent, sessionOf, until } from "../support/prepared.js"

// Hosts in network namespaces: a line that is cut loses what is sent, and neither side is told, unlike a closed port

const status = ({ baseUrl }: Instance, path: string) =>
  Effect.tryPromise((signal) => fetch(`${baseUrl}${path}`, { signal }).then(({ status }) => status))

/** Two instances on hosts of their own, and an upload whose parts are sent. */
const divided = Effect.gen(function*() {
  const service = yield* prepared
  const through = yield* Cluster.gate
  const [left, right] = [yield* Hosts.host(0), yield* Hosts.host(1)]
  const [first, second] = [yield* service.startAt(left, through), yield* service.startAt(right, through)]
  const session = sessionOf(yield* initiateLarge(service, first))
  const listed = yield* sent(session)
  const complete = (at: Instance) => service.call(at, "POST", `/v2/files/${session.id}/large-upload/complete`, listed)
  return { service, through, left, first, second, complete }
})

describe("instances on hosts of their own", () => {
  it.scopedLive(
    "complete a file once, if the line of one breaks while the store completes it",
    () =>
      Effect.gen(function*() {
        const { complete, first, left, second, service, through } = yield* divided
        const here = yield* Effect.runtime()
        through.after = (method, target) => {
          if (isComplete(method, target)) {
            through.after = () => false
            Runtime.runSync(here)(left.cut)
          }
          return false
        }
        const asked = yield* Effect.fork(Effect.option(complete(first)))
        yield* until("it completes", service.states, ([one]) => one?.state === "completing")
        const answer = yield* until("the other has it", complete(second), ({ status }) => status === 200)
        yield* left.heal
        const again = yield* until("it has it too", complete(first), ({ status }) => status === 200)
        assert.deepStrictEqual(again.body, answer.body)
        const late = yield* Effect.timeoutOption(Fiber.join(asked), "60 seconds")
        // whatever it answered to the first, that was no other file
        Option.map(Option.flatten(late), ({ body, status }) => {
          if (status === 200) assert.deepStrictEqual(body, answer.body)
          else assert.strictEqual(status, 503)
        })
        assert.deepStrictEqual((yield* service.states).map(({ state }) => state), ["finalized"])
      }),
    240_000
  )

  it.scopedLive(
    "say that they cannot answer as long as they reach nobody, and go on when they do",
    () =>
      Effect.gen(function*() {
        const { complete, first, left, second, service } = yield* divided
        assert.strictEqual(yield* status(first, "/readyz"), 200)
        yield* left.cut
        // a client waits a minute for an answer
        const [refused, info] = yield* Effect.all([
          complete(first),
          service.call(first, "GET", "/v1/token/info")
        ], { concurrency: 2 }).pipe(Effect.timeout("55 seconds"))
        assert.deepStrictEqual([refused.status, info.status], [503, 503])
        assert.deepStrictEqual([yield* status(first, "/livez"), yield* status(first, "/readyz")], [200, 503])
        assert.strictEqual((yield* complete(second)).status, 200)
        yield* left.heal
        yield* until("it is ready again", status(first, "/readyz"), (status) => status === 200)
        assert.strictEqual((yield* complete(first)).status, 200)
      }),
    240_000
  )
})
