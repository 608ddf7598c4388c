import { NodeContext } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { demo } from "../../bulk/Demo.js"

// it fails where a file is missing, is there twice or has other bytes
it.live(
  "a job whose runners are killed and frozen ends with every file at the service once",
  () => Effect.provide(demo(150), NodeContext.layer),
  180_000
)
