import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Recorder, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"
import { folder } from "../src/UploadFolder.js"

const files = { "a.txt": "first", "empty.txt": "", "z.txt": "last" }

describe("UploadFolder", () => {
  it.scoped("an empty file is told and counted, and the others go up all the same", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* Effect.forEach(
        Object.entries(files),
        ([name, text]) => fs.writeFileString(path.join(directory, name), text)
      )
      assert.strictEqual(yield* folder(directory), 1)
      const logged = (yield* Recorder.logs).filter(({ level }) => level !== "DEBUG").map(({ message }) => message)
      assert.include(logged, "empty.txt: EmptySource")
      const stored = yield* Effect.forEach(logged.filter((line) => !line.includes(":")), (id) => Sandbox.stored(id))
      assert.deepStrictEqual(stored.map((bytes) => new TextDecoder().decode(bytes)).sort(), ["first", "last"])
    }).pipe(Effect.provide([NodeContext.layer, SandboxLayer.memory(), Recorder.layer])))

  it.scoped("what is no file, or leads nowhere, does not keep the files behind it from going up", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* fs.symlink(path.join(directory, "nowhere"), path.join(directory, "link"))
      yield* fs.makeDirectory(path.join(directory, "minutes"))
      yield* fs.writeFileString(path.join(directory, "z.txt"), "last")
      assert.strictEqual(yield* folder(directory), 1)
      assert.deepStrictEqual((yield* Sandbox.files).map(({ name }) => name), ["z.txt"])
    }).pipe(Effect.provide([NodeContext.layer, SandboxLayer.memory()])))
})
