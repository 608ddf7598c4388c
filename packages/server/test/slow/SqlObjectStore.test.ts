import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { laws, MINIMUM } from "../../../testing/test/support/objectStoreLaws.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import { Life } from "../support/life.js"
import { database } from "../support/sqlite.js"
import { bytes, contentOf, opened, within } from "../support/sqlObjectStore.js"

/** What a life was told that it has done, in the order in which it was told. */
interface Told {
  readonly acknowledged: Array<string>
  uploadId: string
}

const script = (directory: string, life: Life, told: Told) =>
  Effect.gen(function*() {
    const { store } = yield* opened(directory, life)
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

laws(
  "a directory, with its index in SQLite",
  Layer.unwrapScoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-object-store-" })
    return SqlObjectStore.layer({ directory: `${folder}/store`, minimumPartSize: MINIMUM })
  })).pipe(Layer.provide([NodeContext.layer, database]), Layer.orDie)
)

describe("a store with its index in SQLite", () => {
  it.live(
    "has what it acknowledged, whole, wherever its process died",
    () =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const whole = new Life()
          yield* fs.makeDirectory(`${folder}/whole`)
          yield* script(`${folder}/whole`, whole, { acknowledged: [], uploadId: "" })
          assert.isAtLeast(whole.events, 20)
          for (let until = 6; until <= whole.events; until += 2) {
            const directory = `${folder}/${until}`
            yield* fs.makeDirectory(directory)
            const told: Told = { acknowledged: [], uploadId: "" }
            const life = new Life(until)
            // the tables are there: a transaction in this process would outlive the life
            yield* Effect.scoped(opened(directory))
            const dying = yield* Effect.forkDaemon(Effect.exit(script(directory, life, told)))
            yield* Effect.repeat(Effect.zipRight(Effect.sleep(1), Fiber.poll(dying)), {
              until: (exit) => Option.isSome(exit) || life.events > until
            })
            const when = `died at event ${until}, after ${told.acknowledged.join(", ")}`
            const { store: heir } = yield* opened(directory)
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
            for (const uploadId of yield* heir.opened("files/large")) yield* heir.abortUpload("files/large", uploadId)
            yield* heir.remove("files/small")
            yield* heir.remove("files/large")
            // what was being written, or freed, is all that may be left
            assert.isAtMost((yield* fs.readDirectory(`${directory}/store/bytes`)).length, 1, when)
          }
        })
      ),
    20_000
  )
})
