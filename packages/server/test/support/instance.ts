/** An instance of the service as a process of its own: `HOST`, `PORT`, `LEASE` and `ORPHANS` besides the variables of the service. */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect } from "effect"
import * as NodeProduction from "../../src/NodeProduction.js"
import * as ServeSettings from "../../src/ServeSettings.js"

Effect.gen(function*() {
  const settings = yield* Effect.flatten(ServeSettings.settings)
  const { baseUrl } = yield* NodeProduction.serve({
    settings,
    host: yield* Config.withDefault(Config.string("HOST"), "127.0.0.1"),
    port: yield* Config.withDefault(Config.integer("PORT"), 0),
    lease: yield* Config.withDefault(Config.duration("LEASE"), "15 seconds"),
    orphanLifetime: yield* Config.withDefault(Config.duration("ORPHANS"), "24 hours")
  })
  yield* Console.log(baseUrl)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
