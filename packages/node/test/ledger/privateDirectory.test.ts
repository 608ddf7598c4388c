import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { isReason } from "../../src/file/platformError.js"
import * as PrivateDirectory from "../../src/ledger/privateDirectory.js"
import * as Temporary from "../support/temporary.js"

const withFile = (mode: number, format = "1") =>
  Effect.gen(function*() {
    const path = yield* Temporary.directory
    yield* Effect.promise(() => Fs.writeFile(join(path, "file"), "x"))
    yield* Effect.promise(() => Fs.writeFile(join(path, ".format"), format))
    yield* Effect.promise(() => Fs.chmod(path, mode))
    return { path, directory: yield* PrivateDirectory.make(yield* FileSystem.FileSystem, path) }
  })

const names = (path: string) => Effect.promise(() => Fs.readdir(path))

describe.skipIf(process.platform === "win32")("privateDirectory", () => {
  const refused = [["others can enter", 0o755, "1"], ["a newer version has written", 0o700, "2\n"]] as const
  it.scopedLive.each(refused)("that %s is neither written to nor read", ([_, mode, format]) =>
    Effect.gen(function*() {
      const { directory, path } = yield* withFile(mode, format)
      const uses = [
        directory.checked,
        directory.writeAside("y"),
        directory.append("file", "y"),
        directory.moveAside("file")
      ]
      for (const use of uses) {
        assert.isTrue(isReason("PermissionDenied")(yield* Effect.flip(use)))
      }
      assert.deepStrictEqual(yield* directory.untouchedSince(".", Infinity, () => true), [])
      assert.deepStrictEqual(yield* names(path), [".format", "file"])
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(join(path, "file"), "utf8")), "x")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("has what was moved aside at its new path, even if nothing was aside before", () =>
    Effect.gen(function*() {
      const { directory, path } = yield* withFile(0o700)
      const moved = yield* directory.moveAside("file")
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(moved, "utf8")), "x")
      assert.notInclude(yield* names(path), "file")
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
