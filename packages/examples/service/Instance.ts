/** An instance of the service, as each machine has one: what it needs to know is in its environment. */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import * as NodeProduction from "@stevedore/server/NodeProduction"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import { Config, Console, Effect } from "effect"

Effect.gen(function*() {
  const settings = yield* Effect.flatten(ServeSettings.settings)
  const { baseUrl } = yield* NodeProduction.serve({ settings, port: yield* Config.integer("PORT") })
  yield* Console.log(`listening ${baseUrl}`)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
