import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as SampleFiles from "../src/SampleFiles.js"

const size = 2_500_000

const inDirectory = <A, E>(
  use: (path: (name: string) => string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, FileSystem.FileSystem>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    return yield* use((name) => `${directory}/${name}`, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

describe("SampleFiles", () => {
  it.effect("one seed gives the same bytes, another seed gives others", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        yield* SampleFiles.write(path("a"), { seed: "one", size })
        yield* SampleFiles.write(path("b"), { seed: "one", size })
        yield* SampleFiles.write(path("c"), { seed: "two", size })
        assert.deepStrictEqual(yield* SampleFiles.firstDifference(path("a"), path("b")), Option.none())
        assert.isTrue(Option.isSome(yield* SampleFiles.firstDifference(path("a"), path("c"))))
      })
    ))

  it.effect("the first byte that differs is found, in any piece", () =>
    inDirectory((path, fs) =>
      Effect.forEach([0, 999_999, 1_000_000, size - 1], (at) =>
        Effect.gen(function*() {
          yield* SampleFiles.write(path("a"), { seed: "one", size })
          const bytes = (yield* fs.readFile(path("a"))).slice()
          bytes[at] = (bytes[at] ?? 0) ^ 1
          yield* fs.writeFile(path("b"), bytes)
          assert.deepStrictEqual(yield* SampleFiles.firstDifference(path("a"), path("b")), Option.some(at))
        }))
    ))

  it.effect("a file that ends early differs where it ends, on the edge of a piece too", () =>
    inDirectory((path, fs) =>
      Effect.forEach([0, 1_000_000, size - 1], (length) =>
        Effect.gen(function*() {
          yield* SampleFiles.write(path("a"), { seed: "one", size })
          yield* fs.writeFile(path("b"), (yield* fs.readFile(path("a"))).slice(0, length))
          assert.deepStrictEqual(yield* SampleFiles.firstDifference(path("a"), path("b")), Option.some(length))
          assert.deepStrictEqual(yield* SampleFiles.firstDifference(path("b"), path("a")), Option.some(length))
        }))
    ))
})
