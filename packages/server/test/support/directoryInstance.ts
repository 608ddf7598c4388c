/** A service over the directory `DIRECTORY` as a process of its own, on the port `PORT`, with leases of `LEASE`. */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect } from "effect"
import * as NodeServe from "../../src/NodeServe.js"

Effect.gen(function*() {
  const { baseUrl } = yield* NodeServe.serve({
    directory: yield* Config.string("DIRECTORY"),
    port: yield* Config.withDefault(Config.integer("PORT"), 0),
    minimumPartSize: 1,
    lease: yield* Config.withDefault(Config.duration("LEASE"), "1 second")
  })
  yield* Console.log(baseUrl)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
