import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import * as ObjectStore from "../src/ObjectStore.js"
import * as ObjectStoreDirectory from "../src/ObjectStoreDirectory.js"
import { Life } from "./support/life.js"

const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

const opened = (directory: string, life = new Life()) =>
  Layer.build(ObjectStoreDirectory.layerDurable({ directory, minimumPartSize: 1 })).pipe(
    Effect.provide(Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => life.through(fs))
    )),
    Effect.flatMap((context) => Effect.provide(ObjectStore.ObjectStore, context))
  )

/** What a life was told that it has done, in the order in which it was told. */
interface Told {
  readonly acknowledged: Array<string>
  uploadId: string
}

const script = (directory: string, life: Life, told: Told) =>
  Effect.gen(function*() {
    const store = yield* opened(directory, life)
    const step = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.tap(effect, () => Effect.sync(() => told.acknowledged.push(name)))
    yield* step("small", store.put("files/small", bytes("first"), { contentType: "text/plain" }))
    const uploadId = yield* store.createUpload("files/large")
    told.uploadId = uploadId
    const one = yield* step("one", store.putPart("files/large", uploadId, 1, bytes("abc")))
    const two = yield* step("two", store.putPart("files/large", uploadId, 2, bytes("def")))
    yield* step("large", store.completeUpload("files/large", uploadId, [one, two]))
    yield* step("again", store.put("files/small", bytes("second")))
    yield* step("removed", store.remove("files/small"))
  })

const contentOf = (store: ObjectStore.ObjectStoreService, key: string) =>
  Effect.option(store.get(key).pipe(Stream.decodeText(), Stream.mkString))

const within = (run: (folder: string) => Effect.Effect<void, unknown, FileSystem.FileSystem | Scope.Scope>) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.makeTempDirectoryScoped({ prefix: "stevedore-directory-" })),
    Effect.flatMap(run),
    Effect.scoped,
    Effect.provide(NodeContext.layer)
  )

describe("a store in a directory that stays", () => {
  it.live(
    "has what it acknowledged, whole, wherever its process died",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const whole = new Life()
          yield* Effect.provide(script(`${folder}/whole`, whole, { acknowledged: [], uploadId: "" }), NodeContext.layer)
          assert.isAbove(whole.events, 60)
          for (let until = 1; until <= whole.events; until += 3) {
            const directory = `${folder}/${until}`
            const told: Told = { acknowledged: [], uploadId: "" }
            const life = new Life(until)
            const dying = yield* Effect.forkDaemon(
              Effect.exit(Effect.provide(script(directory, life, told), NodeContext.layer))
            )
            yield* Effect.repeat(Effect.zipRight(Effect.sleep(1), Fiber.poll(dying)), {
              until: (exit) => Option.isSome(exit) || life.events > until
            })
            const when = `died at event ${until}, after ${told.acknowledged.join(", ")}`
            const heir = yield* Effect.provide(opened(directory), NodeContext.layer)
            const has = (step: string) => told.acknowledged.includes(step)
            const small = Option.getOrElse(yield* contentOf(heir, "files/small"), () => "none")
            assert.include(
              has("removed")
                ? ["none"]
                : has("again")
                ? ["second", "none"]
                : has("small")
                ? ["first", "second"]
                : ["first", "none"],
              small,
              when
            )
            const large = Option.getOrElse(yield* contentOf(heir, "files/large"), () => "none")
            assert.include(has("large") ? ["abcdef"] : ["abcdef", "none"], large, when)
            if (large === "none" && has("two")) {
              const parts = yield* heir.parts("files/large", told.uploadId)
              yield* heir.completeUpload("files/large", told.uploadId, parts)
              assert.deepStrictEqual(yield* contentOf(heir, "files/large"), Option.some("abcdef"), when)
            }
            if (large === "abcdef") assert.deepStrictEqual(yield* heir.opened("files/large"), [], when)
            // nothing is kept that nobody can ask for
            for (const uploadId of yield* heir.opened("files/large")) yield* heir.abortUpload("files/large", uploadId)
            yield* heir.remove("files/small")
            yield* heir.remove("files/large")
            assert.deepStrictEqual(yield* fs.readDirectory(`${directory}/blobs`), [], when)
          }
        })
      ),
    120_000
  )

  it.live("says so if it cannot write", () =>
    within((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${folder}/file`, "")
        const exit = yield* Effect.exit(Effect.provide(opened(`${folder}/file`), NodeContext.layer))
        assert.isTrue(Exit.isFailure(exit))
      })
    ))
})
