import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, type Layer, Schedule } from "effect"
import { utimes } from "node:fs/promises"
import type { Engine } from "../support/engine.js"
import * as Queue from "../support/queue.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

const inParts = { upload: { strategy: "multipart", parts: 3, concurrency: 1 } } as const

/** Until the part that does not move is on its way. */
const untilStuck = (world: World.World) =>
  Effect.zipRight(World.untilStuck(world), Queue.until(world.page, ({ totals }) => totals.confirmed > 0))

const completed = (world: World.World) =>
  Effect.map(
    world.sandbox.files,
    (files) => files.filter(({ status }) => status === "completed").map(({ name }) => name).sort()
  )

/** What a browser lacks. */
export interface Lacks {
  readonly ownFiles?: boolean
}

/** A queue of many files, in any browser. */
export const queue = (engine: Layer.Layer<Engine>, browser: string, lacks: Lacks = {}) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`a queue in ${browser}`, (it) => {
    it.scoped("uploads each file that is added, asks before the page is left meanwhile, and reports no error", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("put").delay("1 second") })
        const names = ["a.txt", "b.txt", "c.txt"]
        yield* Queue.start(world.page, { files: 2 })
        assert.isFalse(yield* Queue.asks(world.page))
        for (const name of names) yield* Queue.add(world.page, yield* World.sparseFile(world, name, 1000))
        yield* Effect.repeat(Queue.asks(world.page), { schedule: Schedule.spaced("20 millis"), until: (asks) => asks })
        const { totals } = yield* Queue.untilAll(world.page, "completed", 3)
        assert.deepInclude(totals, { state: "completed", files: 3, completed: 3, failed: 0, confirmed: 3000 })
        assert.deepStrictEqual(yield* completed(world), names)
        assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
        yield* Effect.repeat(Queue.asks(world.page), { schedule: Schedule.spaced("20 millis"), until: (asks) => !asks })
        assert.deepStrictEqual(world.page.errors?.() ?? [], [])
      }))

    it.scoped("pauses all files and resumes them in their sessions", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        yield* Queue.start(world.page, { ...inParts, files: 1 })
        yield* Queue.add(world.page, yield* World.sparseFile(world, "a.bin", 18 * MiB, [[17 * MiB, "the end"]]))
        yield* Queue.add(world.page, yield* World.sparseFile(world, "b.bin", 18 * MiB))
        yield* untilStuck(world)
        yield* Queue.act(world.page, "pause")
        const { totals } = yield* Queue.untilAll(world.page, "paused", 2)
        assert.strictEqual(totals.state, "paused")
        yield* Queue.act(world.page, "resume")
        const { items: [first] } = yield* Queue.untilAll(world.page, "completed", 2)
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 2)
        const stored = yield* world.sandbox.stored(first?.result?.id ?? "")
        assert.strictEqual(Buffer.from(stored).indexOf("the end"), 17 * MiB)
      }))

    it.scoped("discards what it cancels, also for the next page, and uploads it after all", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        yield* Queue.start(world.page, inParts)
        yield* Queue.add(world.page, yield* World.sparseFile(world, "a.bin", 18 * MiB))
        yield* untilStuck(world)
        yield* Queue.act(world.page, "cancel")
        const { items } = yield* Queue.untilAll(world.page, "cancelled")
        assert.deepInclude(items[0], { sent: 0, confirmed: 0 })
        yield* Queue.act(world.page, "retry")
        yield* Queue.untilAll(world.page, "completed")
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 2)
        assert.lengthOf(yield* World.unfinished(world.page), 0)
      }))

    it.scoped("sends only what storage lacks when it retries a failed file", () =>
      Effect.gen(function*() {
        const world = yield* World.make({
          faults: FaultScript.on("putPart").part(2).times(2).answer(500, "InternalError")
        })
        yield* Queue.start(world.page, { ...inParts, attempts: 2 })
        yield* Queue.add(world.page, yield* World.sparseFile(world, "a.bin", 18 * MiB))
        const { items: [failed], totals } = yield* Queue.untilAll(world.page, "failed")
        assert.strictEqual(failed?.error?.tag, "StorageUnavailable")
        assert.deepInclude(totals, { state: "failed", failed: 1 })
        yield* Queue.act(world.page, "retry")
        yield* Queue.untilAll(world.page, "completed")
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
        assert.strictEqual(yield* World.counted(world, "putPart"), 5)
      }))

    it.scoped("offers an unfinished upload after a reload, rejects another file, and resumes with the same one", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB, [[17 * MiB, "the end"]])
        const other = yield* World.sparseFile(world, "b.bin", 18 * MiB)
        yield* Effect.promise(() => utimes(other, 1_000_000_000, 1_000_000_000))
        yield* Queue.start(world.page, inParts)
        yield* Queue.add(world.page, path)
        yield* untilStuck(world)
        yield* World.reload(world.page)
        yield* Queue.start(world.page, inParts)
        const left = yield* Queue.left(world.page)
        assert.deepInclude(left, {
          name: "a.bin",
          size: 18 * MiB,
          state: "needs-file",
          confirmed: 6 * MiB,
          kept: false
        })
        yield* Queue.give(world.page, left, other)
        const { unfinished } = yield* Queue.until(
          world.page,
          ({ unfinished }) => unfinished.some(({ error }) => error !== undefined)
        )
        assert.strictEqual(unfinished[0]?.error?.tag, "SourceChanged")
        yield* Queue.give(world.page, left, path)
        const { items: [done] } = yield* Queue.untilAll(world.page, "completed")
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
        const stored = yield* world.sandbox.stored(done?.result?.id ?? "")
        assert.strictEqual(Buffer.from(stored).indexOf("the end"), 17 * MiB)
      }))

    if (lacks.ownFiles !== true) {
      it.scoped(
        "resumes a file of the page's own after a reload by its handle",
        () =>
          Effect.gen(function*() {
            const world = yield* World.make({ faults: World.stuck })
            yield* Queue.start(world.page, inParts)
            yield* Queue.addOwn(world.page, "own.bin")
            yield* untilStuck(world)
            yield* World.reload(world.page)
            yield* Queue.start(world.page, inParts)
            const left = yield* Queue.left(world.page)
            assert.isTrue(left.kept)
            yield* Queue.allow(world.page, left)
            yield* Queue.untilAll(world.page, "completed")
            assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
          })
      )
    }

    it.scoped("leaves an upload to the tab that sends it, and takes it over once that tab is closed", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
        yield* Queue.start(world.page, inParts)
        yield* Queue.add(world.page, path)
        yield* untilStuck(world)
        const other = yield* world.anotherTab
        yield* Queue.start(other, inParts)
        yield* Queue.add(other, path)
        const { items: [locked], unfinished } = yield* Queue.untilAll(other, "failed")
        assert.strictEqual(locked?.error?.tag, "UploadLocked")
        assert.deepStrictEqual(unfinished, [])
        yield* World.close(world.page)
        // as soon as the browser has noticed that the tab is gone
        yield* Queue.act(other, "retry").pipe(
          Effect.zipRight(Queue.until(other, ({ totals: { completed, failed } }) => completed + failed === 1)),
          Effect.repeat({ until: ({ totals }) => totals.completed === 1 })
        )
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
      }))
  })
