import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { demo } from "../../bulk/Demo.js"

// it fails where a file is missing, is there twice or has other bytes
it.live(
  "a job whose runners are killed and frozen ends with every file at the service once",
  () =>
    Effect.map(
      Effect.exit(Effect.provide(demo(150), NodeContext.layer)),
      (exit) => assert.isTrue(Exit.isSuccess(exit), String(exit))
    ),
  180_000
)
