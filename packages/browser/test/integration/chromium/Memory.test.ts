import { assert, layer } from "@effect/vitest"
import { ObjectStore } from "@stevedore/testing"
import { Effect, Layer, Stream } from "effect"
import { readFile } from "node:fs/promises"
import { Chromium, ChromiumLive } from "../support/chromium.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

// Bytes that are counted and thrown away.
const nowhere = Layer.sync(ObjectStore.ObjectStore, () =>
  ObjectStore.make({
    write: (body) =>
      Effect.map(Stream.runFold(body, 0, (size, chunk) => size + chunk.byteLength), (size) => ({
        size,
        read: () => Stream.empty,
        remove: Effect.void
      }))
  }))

/** What the page's own process has in memory beside mapped files, in bytes. */
const rendererMemory = Effect.flatMap(Chromium, (browser) =>
  Effect.promise(async () => {
    const session = await browser.newBrowserCDPSession()
    const { processInfo } = await session.send("SystemInfo.getProcessInfo")
    const sizes = await Promise.all(
      processInfo.filter(({ type }) => type === "renderer").map(async ({ id }) =>
        Number(/^RssAnon:\s+(\d+) kB/m.exec(await readFile(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) * 1024
      )
    )
    return Math.max(...sizes)
  }))

layer(ChromiumLive, { excludeTestServices: true })("the memory of a page in Chromium", (it) => {
  it.scoped("completes even if the browser collects garbage every 10 ms while the file is read", () =>
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

  it.scoped("sends 2 GiB while the page's memory grows by less than 64 MiB", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ store: nowhere })
      yield* World.choose(world.page, yield* World.sparseFile(world, "large.bin", 2048 * MiB))
      const before = yield* rendererMemory
      yield* World.start(world.page, { options: { parts: 64 } })
      let most = 0
      yield* Effect.gen(function*() {
        most = Math.max(most, yield* rendererMemory)
        yield* Effect.sleep("200 millis")
      }).pipe(Effect.forever, Effect.forkScoped)
      const { sent } = World.uploaded(yield* World.outcome(world.page))
      assert.deepInclude(sent, { bytes: 2048 * MiB, parts: 64 })
      assert.isAbove(most, 0)
      assert.isBelow((most - before) / MiB, 64)
    }), 4 * 60_000)
})
