import { assert, layer } from "@effect/vitest"
import { FaultScript, ObjectStore } from "@stevedore/testing"
import { Effect, Layer, Schedule, Stream } from "effect"
import { appendFile, readFile, truncate, utimes, writeFile } from "node:fs/promises"
import type { Outcome } from "./support/page.js"
import * as World from "./support/world.js"

const MiB = 1024 * 1024

const inParts = { options: { strategy: "multipart", parts: 3, concurrency: 1 } } as const

const generated = { ...inParts, generate: { name: "a.bin", size: 18 * MiB } }

// storage has the first part, and the second does not move
const stuck = FaultScript.on("putPart").part(2).stall("connect")

const uploaded = (outcome: Outcome) => {
  assert(outcome._tag === "Uploaded", JSON.stringify(outcome))
  return outcome
}

const failed = (outcome: Outcome) => {
  assert(outcome._tag === "Failed", JSON.stringify(outcome))
  return outcome
}

const untilFirstPart = (page: World.World["page"]) => World.until(page, () => window.stevedore.confirmed() > 0)

const counted = (world: World.World, operation: string) =>
  Effect.map(
    world.sandbox.report,
    ({ requests }) => requests.filter((request) => request.operation === operation).length
  )

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
const rendererMemory = (world: World.World) =>
  Effect.promise(async () => {
    const session = await world.page.context().browser()?.newBrowserCDPSession()
    const { processInfo } = await session?.send("SystemInfo.getProcessInfo") ?? { processInfo: [] }
    const sizes = await Promise.all(
      processInfo.filter(({ type }) => type === "renderer").map(async ({ id }) =>
        Number(/^RssAnon:\s+(\d+) kB/m.exec(await readFile(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) * 1024
      )
    )
    return Math.max(...sizes)
  })

layer(World.ChromiumLive, { excludeTestServices: true })("an upload in Chromium", (it) => {
  it.scoped("completes even if the browser collects garbage every 10 ms while the file is read", () =>
    Effect.gen(function*() {
      const world = yield* World.make()
      const path = yield* World.sparseFile(world, "a.bin", 96 * MiB)
      yield* World.choose(world.page, path)
      yield* Effect.promise(() => world.page.evaluate(() => void setInterval(() => window.gc?.(), 10)))
      const outcome = yield* Effect.timeout(
        World.upload(world.page, { options: { strategy: "multipart", parts: 12 } }),
        "45 seconds"
      )
      assert.strictEqual(uploaded(outcome).sent.parts, 12)
      assert.strictEqual(yield* counted(world, "putPart"), 12)
    }))

  it.scoped("sends 2 GiB while the page's memory grows by less than 64 MiB", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ store: nowhere })
      yield* World.choose(world.page, yield* World.sparseFile(world, "large.bin", 2048 * MiB))
      const before = yield* rendererMemory(world)
      yield* World.start(world.page, { options: { parts: 64 } })
      let most = 0
      yield* Effect.gen(function*() {
        most = Math.max(most, yield* rendererMemory(world))
        yield* Effect.sleep("200 millis")
      }).pipe(Effect.forever, Effect.forkScoped)
      const { sent } = uploaded(yield* World.outcome(world.page))
      assert.deepInclude(sent, { bytes: 2048 * MiB, parts: 64 })
      assert.isAbove(most, 0)
      assert.isBelow((most - before) / MiB, 64)
    }), 4 * 60_000)

  it.scoped("starts no part while it is paused, and resumes in the same session", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: stuck })
      yield* World.start(world.page, generated)
      yield* untilFirstPart(world.page)
      // what is paused is the request that does not move: one that begins later would wait for its timeout
      yield* Effect.repeat(counted(world, "putPart"), {
        schedule: Schedule.spaced("20 millis"),
        until: (puts) => puts === 2
      })
      yield* World.pause(world.page)
      yield* World.until(world.page, () => window.stevedore.points().at(-1)?.phase === "paused")
      const puts = yield* counted(world, "putPart")
      yield* Effect.sleep("500 millis")
      assert.strictEqual(yield* counted(world, "putPart"), puts)
      yield* World.resume(world.page)
      const { id, sent } = uploaded(yield* World.outcome(world.page))
      assert.strictEqual(sent.sessions, 1)
      assert.strictEqual((yield* world.sandbox.stored(id)).byteLength, 18 * MiB)
    }))

  it.scoped("sends no further request after it is cancelled", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: stuck })
      yield* World.start(world.page, generated)
      yield* untilFirstPart(world.page)
      yield* World.cancel(world.page)
      assert.strictEqual((yield* World.outcome(world.page))._tag, "Interrupted")
      const { requests } = yield* world.sandbox.report
      yield* Effect.sleep("500 millis")
      const later = yield* world.sandbox.report
      assert.strictEqual(later.requests.length, requests.length)
      assert.strictEqual(yield* counted(world, "completeLarge"), 0)
    }))

  it.scoped("resumes after a reload if the same file is chosen again, and rejects another file", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: stuck })
      const path = yield* World.sparseFile(world, "a.bin", 18 * MiB, [[17 * MiB, "the end"]])
      yield* World.choose(world.page, path)
      yield* World.start(world.page, inParts)
      yield* untilFirstPart(world.page)
      yield* Effect.promise(() => world.page.reload())
      const [left] = yield* World.unfinished(world.page)
      assert.deepInclude(left, { name: "a.bin", size: 18 * MiB, phase: "uploading", confirmed: 6 * MiB })

      yield* World.choose(world.page, yield* World.sparseFile(world, "b.bin", 18 * MiB))
      const refused = failed(yield* World.resumeChosen(world.page, left?.id ?? ""))
      assert.strictEqual(refused.error, "SourceChanged")

      yield* World.choose(world.page, path)
      const { id, sent } = uploaded(yield* World.resumeChosen(world.page, left?.id ?? ""))
      assert.strictEqual(sent.sessions, 1)
      assert.strictEqual(yield* counted(world, "initiateLarge"), 1)
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
        const world = yield* World.make({ faults: stuck })
        const date = new Date(1_700_000_000_000)
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
        yield* Effect.promise(() => utimes(path, date, date))
        yield* World.choose(world.page, path)
        yield* World.start(world.page, inParts)
        yield* untilFirstPart(world.page)
        yield* Effect.promise(() => world.page.reload())
        const [left] = yield* World.unfinished(world.page)
        yield* World.sparseFile(world, "a.bin", 18 * MiB, [[offset, "other"]])
        yield* Effect.promise(() => utimes(path, date, date))
        yield* World.choose(world.page, path)
        const refused = failed(yield* World.resumeChosen(world.page, left?.id ?? ""))
        assert.strictEqual(refused.error, "SourceChanged")
        assert.deepInclude(refused.fields, { what })
        assert.strictEqual(yield* counted(world, "completeLarge"), 0)
      }))
  }

  it.scoped("fails with `UploadLocked` in a second tab until the first tab is closed", () =>
    Effect.gen(function*() {
      const world = yield* World.make({ faults: stuck })
      const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
      const other = yield* world.anotherTab
      yield* World.choose(world.page, path)
      yield* World.choose(other, path)
      yield* World.start(world.page, inParts)
      yield* untilFirstPart(world.page)
      assert.strictEqual(failed(yield* World.upload(other, inParts)).error, "UploadLocked")
      // the tab that drives it goes, and the other one may as soon as the browser has noticed
      yield* Effect.promise(() => world.page.close())
      const outcome = yield* Effect.repeat(Effect.delay(World.upload(other, inParts), "100 millis"), {
        while: (outcome) => outcome._tag === "Failed" && outcome.error === "UploadLocked",
        times: 100
      })
      const { sent } = uploaded(outcome)
      assert.strictEqual(sent.sessions, 1)
      assert.strictEqual(yield* counted(world, "initiateLarge"), 1)
    }))

  const changes = {
    "that grows": (path: string) => appendFile(path, "more"),
    "that is truncated": (path: string) => truncate(path, 18 * MiB - 1),
    "that is overwritten": async (path: string) => {
      await writeFile(path, Buffer.alloc(18 * MiB, 1))
      await utimes(path, new Date(1), new Date(2_000_000_000_000))
    }
  }

  for (const [what, change] of Object.entries(changes)) {
    it.scoped(`of a file ${what} during the upload fails with SourceChanged and is not completed`, () =>
      Effect.gen(function*() {
        const world = yield* World.make({ faults: FaultScript.on("putPart").part(2).delay("1 second") })
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
        yield* World.choose(world.page, path)
        yield* World.start(world.page, inParts)
        yield* untilFirstPart(world.page)
        yield* Effect.promise(() => change(path))
        assert.strictEqual(failed(yield* World.outcome(world.page)).error, "SourceChanged")
        assert.strictEqual(yield* counted(world, "completeLarge"), 0)
      }))

    it.scoped(`of a file ${what} before the upload starts fails with SourceChanged and is not initiated`, () =>
      Effect.gen(function*() {
        const world = yield* World.make({})
        const path = yield* World.sparseFile(world, "a.bin", 18 * MiB)
        yield* World.choose(world.page, path)
        yield* Effect.promise(() => change(path))
        assert.strictEqual(failed(yield* World.upload(world.page, inParts)).error, "SourceChanged")
        assert.strictEqual(yield* counted(world, "initiateLarge"), 0)
      }))
  }
})
