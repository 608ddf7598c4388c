import { FileSystem, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy } from "@stevedore/core"
import { FaultScript, Recorder, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Stream } from "effect"
import { everyProject, firstTen, nightly, pageByPage, templates } from "../src/WalkLists.js"

const project = (number: number, title: string) => ({
  id: `Project${String(number).padStart(15, "0")}`,
  title,
  type: "project",
  author: null,
  created_at: `2030-01-01T00:00:${String(number % 60).padStart(2, "0")}.000Z`,
  deleted: false,
  folder: null
})

const interviews = Array.from(
  { length: 30 },
  (_, number) => project(number, number % 2 === 0 ? `An interview, number ${number}` : `Notes ${number}`)
)

const titles = Effect.map(
  Recorder.logs,
  (logs) => logs.filter(({ level }) => level === "INFO").map(({ message }) => message)
)

const breakingOff = (projects: number, faults: FaultScript.FaultScript, options?: SandboxLayer.Options) =>
  Layer.mergeAll(
    KeyValueStore.layerMemory,
    Layer.provide(SandboxLayer.memory({ projects, faults, ...options }), RetryPolicy.none),
    Recorder.layer
  )

describe("WalkLists", () => {
  it.effect("every project comes once, in the order of the titles", () =>
    Effect.gen(function*() {
      const titles = Array.from(yield* Stream.runCollect(everyProject), ({ title }) => title)
      assert.lengthOf(new Set(titles), 30)
      assert.deepStrictEqual(titles, [...titles].sort())
    }).pipe(Effect.provide(SandboxLayer.memory({ projects: interviews }))))

  it.effect("the first ten of those that a filter finds", () =>
    Effect.gen(function*() {
      const titles = Array.from(yield* firstTen, ({ title }) => title)
      assert.lengthOf(titles, 10)
      assert.isTrue(titles.every((title) => title?.includes("interview")))
    }).pipe(Effect.provide(SandboxLayer.memory({ projects: interviews }))))

  it.effect("pages of fifty", () =>
    Effect.gen(function*() {
      const pages = yield* Stream.runCollect(pageByPage)
      assert.deepStrictEqual(Array.from(pages, ({ items }) => items.length), [50, 50, 20])
    }).pipe(Effect.provide(SandboxLayer.memory({ projects: 120 }))))

  it.effect("a walk that broke off goes on where it stood: no project is lost, and none comes twice", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(nightly)
      assert.strictEqual(error._tag, "ServiceUnavailable")
      assert.lengthOf(yield* titles, 100)
      yield* nightly
      assert.lengthOf(yield* titles, 250)
      assert.lengthOf(new Set(yield* titles), 250)
    }).pipe(Effect.provide(breakingOff(250, FaultScript.on("list").after(1).answer(500)))))

  it.effect("every night walks all projects, and so does the one after a walk that was taken up", () =>
    Effect.gen(function*() {
      const seenTo = Effect.gen(function*() {
        const before = (yield* titles).length
        const outcome = yield* Effect.either(nightly)
        return `${outcome._tag} ${(yield* titles).length - before}`
      })
      const nights = yield* Effect.replicateEffect(seenTo, 5)
      assert.deepStrictEqual(nights, ["Right 25", "Right 25", "Left 20", "Right 5", "Right 25"])
      assert.lengthOf(new Set(yield* titles), 25)
    }).pipe(Effect.provide(breakingOff(25, FaultScript.on("list").after(8).answer(500), { largestPage: 10 }))))

  it.scoped("a night without any project leaves nothing to go on from, on a disk neither", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const store = KeyValueStore.layerFileSystem(directory)
      yield* Effect.replicateEffect(nightly, 2).pipe(Effect.provide(store))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    }).pipe(Effect.provide([SandboxLayer.memory({ projects: [] }), NodeContext.layer])))

  it.effect("a list of your own gives what your Schema says", () =>
    Effect.gen(function*() {
      const found = yield* Stream.runCollect(templates())
      assert.deepStrictEqual(Array.from(found, ({ title }) => title), ["Interview", "Survey"])
    }).pipe(Effect.provide(SandboxLayer.memory({
      lists: {
        "projects/templates": [
          { id: "1", title: "Interview", created_at: "2030-01-02T00:00:00.000Z" },
          { id: "2", title: "Survey", created_at: "2030-01-01T00:00:00.000Z" }
        ]
      }
    }))))
})
