import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memory } from "../laws/memory.js"
import { ChromiumLive } from "../support/chromium.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

memory(ChromiumLive, "Chromium", { file: 2048, growth: 64 })

layer(ChromiumLive, { excludeTestServices: true })("a page in Chromium", (it) => {
  it.scoped("completes an upload even if the browser collects garbage every 10 ms while the file is read", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      const path = yield* World.sparseFile(world, "a.bin", 96 * MiB)
      yield* World.choose(world.page, path)
      yield* Effect.promise(() => world.page.evaluate(() => void setInterval(() => window.gc?.(), 10), null))
      const outcome = yield* Effect.timeout(
        World.upload(world.page, { options: { strategy: "multipart", parts: 12 } }),
        "45 seconds"
      )
      assert.strictEqual(World.uploaded(outcome).sent.parts, 12)
      assert.strictEqual(yield* World.counted(world, "putPart"), 12)
    }))
})
