import { assert, layer } from "@effect/vitest"
import * as BlobStore from "@stevedore/server/parts/blobStore"
import { ObjectStore } from "@stevedore/testing"
import { Effect, Layer, Stream } from "effect"
import type { Engine } from "../support/engine.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

// Bytes that are counted and thrown away.
const nowhere = Layer.sync(ObjectStore.ObjectStore, () =>
  ObjectStore.make({
    write: (body) =>
      Effect.map(Stream.runFold(BlobStore.streamOf(body), 0, (size, chunk) => size + chunk.byteLength), (size) => ({
        size,
        read: () => Stream.empty,
        remove: Effect.void
      }))
  }))

/** What a page needs of the computer's memory, in any browser. All sizes are in MiB. */
export const memory = (
  engine: Layer.Layer<Engine>,
  browser: string,
  { file, growth }: { readonly file: number; readonly growth: number }
) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`the memory of a page in ${browser}`, (it) => {
    it.scoped(`grows by less than ${growth} MiB while a file of ${file} MiB is sent`, () =>
      Effect.gen(function*() {
        const world = yield* World.make({ store: nowhere })
        const memory = Effect.promise(() => world.session.memory())
        yield* World.choose(world.page, yield* World.sparseFile(world, "large.bin", file * MiB))
        const before = yield* memory
        assert.isAbove(before, 0)
        const parts = file / 32
        yield* World.start(world.page, { options: { parts } })
        let most = 0
        yield* Effect.gen(function*() {
          most = Math.max(most, yield* memory)
          yield* Effect.sleep("200 millis")
        }).pipe(Effect.forever, Effect.forkScoped)
        const { sent } = World.uploaded(yield* World.outcome(world.page))
        assert.deepInclude(sent, { bytes: file * MiB, parts })
        assert.isAbove(most, 0)
        assert.isBelow((most - before) / MiB, growth)
      }), 4 * 60_000)
  })
