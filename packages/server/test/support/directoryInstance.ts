/**
 * A service over the directory `DIRECTORY` as a process of its own, on the port `PORT`, with leases of `LEASE`. At SIGUSR2
 * it says how many bytes of its heap are in use once what nobody holds is gone.
 */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as NodeServe from "../../src/NodeServe.js"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")
process.on("SIGUSR2", () => {
  collect()
  console.log(`heap ${process.memoryUsage().heapUsed}`)
})

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
