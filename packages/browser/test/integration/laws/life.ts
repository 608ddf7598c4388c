import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, type Layer } from "effect"
import { appendFile, truncate, utimes, writeFile } from "node:fs/promises"
import type { Engine } from "../support/engine.js"
import type { Outcome } from "../support/page.js"
import * as World from "../support/world.js"

const MiB = 1024 * 1024

const inParts = { options: { strategy: "multipart", parts: 3, concurrency: 1 } } as const

const generated = { ...inParts, generate: { name: "a.bin", size: 18 * MiB } }

const untilFirstPart = (page: World.World["page"]) => World.until(page, () => window.stevedore.confirmed() > 0)

/** What a browser tells a page of a file that was changed after it was chosen. */
export interface Eyes {
  /** Whether it refuses to read a file that has another date. */
  readonly seesDates: boolean
  /** What an upload fails with if the file got another date before it started. */
  readonly saysOfAnotherDate: "SourceChanged" | "SourceUnreadable"
}

// some browsers count in seconds
const anotherDate = new Date(2_000_000_000_000)

const changes = {
  "that grows": (path: string) => appendFile(path, "more"),
  "that is truncated": (path: string) => truncate(path, 18 * MiB - 1),
  "that is emptied": (path: string) => truncate(path),
  "that is overwritten": (path: string) => writeFile(path, Buffer.alloc(18 * MiB, 1), { flag: "r+" })
}

const changesOf = Object.entries(changes).map(([what, change]) =>
  [what, (path: string) => change(path).then(() => utimes(path, anotherDate, anotherDate))] as const
)

/** Every byte of what is stored is this one. */
const isStored = (world: World.World, outcome: Outcome, byte: number) =>
  Effect.map(world.sandbox.stored(World.uploaded(outcome).id), (stored) => {
    assert.isTrue(Buffer.alloc(18 * MiB, byte).equals(stored))
  })

/** What happens to an upload while it lives, in any browser. */
export const life = (engine: Layer.Layer<Engine>, browser: string, eyes: Eyes) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(`the life of an upload in ${browser}`, (it) => {
    it.scoped("starts no part while it is paused, and resumes in the same session", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        yield* World.start(world.page, generated)
        yield* untilFirstPart(world.page)
        yield* World.untilStuck(world)
        yield* World.pause(world.page)
        yield* World.until(world.page, () => window.stevedore.points().at(-1)?.phase === "paused")
        const puts = yield* World.counted(world, "putPart")
        yield* Effect.sleep("500 millis")
        assert.strictEqual(yield* World.counted(world, "putPart"), puts)
        yield* World.resume(world.page)
        const { id, sent } = World.uploaded(yield* World.outcome(world.page))
        assert.strictEqual(sent.sessions, 1)
        assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 18 * MiB)
      }))

    it.scoped("sends no further request after it is cancelled", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        yield* World.start(world.page, generated)
        yield* untilFirstPart(world.page)
        yield* World.untilStuck(world)
        yield* World.cancel(world.page)
        assert.strictEqual((yield* World.outcome(world.page))._tag, "Interrupted")
        const { requests } = yield* world.sandbox.report
        yield* Effect.sleep("500 millis")
        const later = yield* world.sandbox.report
        assert.strictEqual(later.requests.length, requests.length)
        assert.strictEqual(yield* World.counted(world, "completeLarge"), 0)
      }))

    it.scoped("resumes after a reload if the same file is chosen again, and rejects another file", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB, [[17 * MiB, "the end"]])
        yield* World.choose(world.page, path)
        yield* World.start(world.page, inParts)
        yield* untilFirstPart(world.page)
        yield* World.untilStuck(world)
        yield* World.reload(world.page)
        const [left] = yield* World.unfinished(world.page)
        assert.deepInclude(left, { name: "a.bin", size: 18 * MiB, phase: "uploading", confirmed: 6 * MiB })

        const other = yield* World.sparseFile(world, "b.bin", 18 * MiB)
        yield* Effect.promise(() => utimes(other, anotherDate, anotherDate))
        yield* World.choose(world.page, other)
        const refused = World.failed(yield* World.resumeChosen(world.page, left?.id ?? ""))
        assert.strictEqual(refused.error, "SourceChanged")

        yield* World.choose(world.page, path)
        const { id, sent } = World.uploaded(yield* World.resumeChosen(world.page, left?.id ?? ""))
        assert.strictEqual(sent.sessions, 1)
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
        const stored = yield* world.sandbox.stored(id)
        assert.strictEqual(Buffer.from(stored).indexOf("the end"), 17 * MiB)
        assert.lengthOf(yield* World.unfinished(world.page), 0)
      }))

    // A browser sees neither: of the same size and the same date, a file is the same to it.
    const hidden = [
      { where: "where the file is sampled", offset: 9 * MiB, what: "identity" },
      { where: "in a part that storage has", offset: 3 * MiB, what: "content" }
    ]

    for (const { offset, what, where } of hidden) {
      it.scoped(`fails with SourceChanged if a file of equal size and date has other bytes ${where} after a reload`, () =>
        Effect.gen(function*() {
          const world = yield* World.make({ faults: World.stuck })
          const date = new Date(1_700_000_000_000)
          const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
          yield* Effect.promise(() => utimes(path, date, date))
          yield* World.choose(world.page, path)
          yield* World.start(world.page, inParts)
          yield* untilFirstPart(world.page)
          yield* World.untilStuck(world)
          yield* World.reload(world.page)
          const [left] = yield* World.unfinished(world.page)
          yield* World.sparseFile(world, "a.bin", 18 * MiB, [[offset, "other"]])
          yield* Effect.promise(() => utimes(path, date, date))
          yield* World.choose(world.page, path)
          const refused = World.failed(yield* World.resumeChosen(world.page, left?.id ?? ""))
          assert.strictEqual(refused.error, "SourceChanged")
          assert.deepInclude(refused.fields, { what })
          assert.strictEqual(yield* World.counted(world, "completeLarge"), 0)
        }))
    }

    it.scoped("fails with `UploadLocked` in a second tab until the first tab is closed", () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: World.stuck })
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
        const other = yield* world.anotherTab
        yield* World.choose(world.page, path)
        yield* World.choose(other, path)
        yield* World.start(world.page, inParts)
        yield* untilFirstPart(world.page)
        yield* World.untilStuck(world)
        assert.strictEqual(World.failed(yield* World.upload(other, inParts)).error, "UploadLocked")
        // the tab that drives it goes, and the other one may as soon as the browser has noticed
        yield* World.close(world.page)
        const outcome = yield* Effect.repeat(Effect.delay(World.upload(other, inParts), "100 millis"), {
          while: (outcome) => outcome._tag === "Failed" && outcome.error === "UploadLocked",
          times: 100
        })
        const { sent } = World.uploaded(outcome)
        assert.strictEqual(sent.sessions, 1)
        assert.strictEqual(yield* World.counted(world, "initiateLarge"), 1)
      }))

    for (const [what, change] of changesOf) {
      it.scoped(`of a file ${what} during the upload fails and is not completed, or stores what was chosen`, () =>
        Effect.gen(function*() {
          const world = yield* World.make({ faults: FaultScript.on("putPart").part(2).delay("1 second") })
          const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
          yield* World.choose(world.page, path)
          yield* World.start(world.page, inParts)
          yield* untilFirstPart(world.page)
          yield* Effect.promise(() => change(path))
          const outcome = yield* World.outcome(world.page)
          if (what === "that grows" && !eyes.seesDates) return yield* isStored(world, outcome, 0)
          assert.strictEqual(World.failed(outcome).error, "SourceChanged")
          assert.strictEqual(yield* World.counted(world, "completeLarge"), 0)
        }))

      it.scoped(`of a file ${what} before the upload starts fails and is not initiated, or stores what it is now`, () =>
        Effect.gen(function*() {
          const world = yield* World.make({})
          const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
          yield* World.choose(world.page, path)
          yield* Effect.promise(() => change(path))
          const outcome = yield* World.upload(world.page, inParts)
          if (what === "that grows" && !eyes.seesDates) return yield* isStored(world, outcome, 0)
          if (what === "that is overwritten" && !eyes.seesDates) return yield* isStored(world, outcome, 1)
          assert.strictEqual(World.failed(outcome).error, eyes.saysOfAnotherDate)
          assert.strictEqual(yield* World.counted(world, "initiateLarge"), 0)
        }))
    }
  })
