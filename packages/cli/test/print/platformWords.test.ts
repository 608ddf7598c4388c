import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PlatformWords from "../../src/print/platformWords.js"

describe("a path that the system refuses is told", () => {
  it.scoped.each<readonly [what: string, path: (folder: string) => string, reason: string]>([
    ["that is not there", (folder) => `${folder}/none`, "it does not exist"],
    ["that is a directory", (folder) => folder, "it is a directory"],
    ["below a file", (folder) => `${folder}/a/b`, "something on the way there is no directory"],
    ["that is too long", (folder) => `${folder}/${"a".repeat(300)}`, "its name is too long"]
  ])("in words of the command: one %s", ([, path, reason]) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/a`, "a")
      const error = yield* Effect.flip(fs.readFile(path(folder)))
      assert.strictEqual(PlatformWords.reasonOf(error), reason)
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
