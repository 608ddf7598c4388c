import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as UploadPaths from "../src/UploadPaths.js"

describe("UploadPaths", () => {
  it.scoped("a directory stands for the files in it and below, in order; everything else for itself", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${folder}/b/c`, { recursive: true })
      yield* fs.makeDirectory(`${folder}/empty`)
      yield* Effect.forEach(["z", "b/y", "b/c/x", ".hidden"], (name) => fs.writeFileString(`${folder}/${name}`, name))
      assert.deepStrictEqual(
        yield* UploadPaths.expand([`${folder}/none`, folder, `${folder}/z`]),
        [`${folder}/none`, ...[".hidden", "b/c/x", "b/y", "z", "z"].map((name) => `${folder}/${name}`)]
      )
      assert.deepStrictEqual(yield* UploadPaths.expand([`${folder}/empty`]), [])
    }).pipe(Effect.provide(NodeContext.layer)))
})
