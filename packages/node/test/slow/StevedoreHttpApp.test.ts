import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"
import { listening } from "../support/listening.js"
import { app, initiate, small, withLog } from "../support/stevedoreHttpApp.js"

describe("StevedoreHttpApp", () => {
  it.live("responds 500 if the body was already read, and logs a hint about body parsers", () =>
    Effect.gen(function*() {
      const handler = yield* NodeHttpServer.makeHandler(app)
      const origin = yield* listening((request, response) =>
        void request.resume().once("end", () => handler(request, response))
      )
      const { status } = yield* Effect.promise((signal) =>
        fetch(`${origin}${initiate}`, {
          method: "POST",
          headers: { cookie: "session=1", "content-type": "application/json" },
          body: JSON.stringify(small),
          signal
        })
      ).pipe(Effect.timeout("5 seconds"))
      assert.strictEqual(status, 500)
    }).pipe(
      Effect.scoped,
      withLog,
      Effect.tap(({ log }) => assert.match(log.join("\n"), /^ERROR: A request body was read before.* express\.json/)),
      Effect.provide(SandboxLayer.memory())
    ))
})
