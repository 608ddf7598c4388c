import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { FaultScript } from "@stevedore/testing"
import { Console, Effect } from "effect"
import * as BrowserDemo from "./BrowserDemo.js"

// on a single machine, uploads finish before anyone can watch them
const slow = FaultScript.on("putPart").always().delay("500 millis").and(
  FaultScript.on("put").always().delay("2 seconds")
)

const demo = Effect.gen(function*() {
  const { origin } = yield* BrowserDemo.start({ files: yield* BrowserDemo.built }, {
    faults: process.argv.includes("--slow") ? slow : FaultScript.empty
  })
  yield* Console.log(`Open ${origin}\n\nUploaded files stay on this machine. Ctrl-C stops the demo and discards them.`)
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.provide(Effect.scoped(demo), NodeContext.layer))
