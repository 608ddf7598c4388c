import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { Engine } from "../support/engine.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

/** An upload of one file, in any browser. */
export const uploads = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`an upload in ${browser}`, (it) => {
    it.scoped("is stored completely at another origin, without a breach of the contract", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        const outcome = World.uploaded(yield* World.upload(world.page, { generate: { name: "a.txt", size: 100_000 } }))
        const stored = yield* world.sandbox.stored(outcome.id)
        assert.strictEqual(stored.byteLength, 100_000)
        const report = yield* world.sandbox.report
        assert.deepStrictEqual(report.breaches, [])
      }))

    it.scoped("is uploaded in parts, and its progress never decreases", () =>
      Effect.gen(function*() {
        const world = yield* World.make()
        const size = 40 * MiB
        const outcome = World.uploaded(
          yield* World.upload(world.page, {
            generate: { name: "a.bin", size },
            options: { strategy: "multipart", parts: 5 }
          })
        )
        assert.strictEqual(outcome.sent.parts, 5)
        const points = yield* World.points(world.page)
        points.forEach((point, index) => {
          assert.isAtLeast(point.sent, points[index - 1]?.sent ?? 0)
          assert.isAtLeast(point.confirmed, points[index - 1]?.confirmed ?? 0)
        })
        assert.strictEqual(points.at(-1)?.confirmed, size)
        assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
      }))
  })
