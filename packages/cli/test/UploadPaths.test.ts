import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as UploadPaths from "../src/UploadPaths.js"

describe("UploadPaths", () => {
  it.scoped("a directory stands for the files in it and below, in order, each with its name from there; everything else for itself", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${folder}/b/c`, { recursive: true })
      yield* fs.makeDirectory(`${folder}/empty`)
      yield* Effect.forEach(["z", "b/y", "b/c/x", ".hidden"], (name) => fs.writeFileString(`${folder}/${name}`, name))
      const none = Option.none<string>()
      assert.deepStrictEqual(
        yield* UploadPaths.expand([`${folder}/none`, folder, `${folder}/z`]),
        [
          { path: `${folder}/none`, name: none, size: 0 },
          ...[".hidden", "b/c/x", "b/y", "z"].map((name) => ({
            path: `${folder}/${name}`,
            name: Option.some(name),
            size: name.length
          })),
          { path: `${folder}/z`, name: none, size: 1 }
        ]
      )
      assert.deepStrictEqual(yield* UploadPaths.expand([`${folder}/empty`]), [])
    }).pipe(Effect.provide(NodeContext.layer)))
})
