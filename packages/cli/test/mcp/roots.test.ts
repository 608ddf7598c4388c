import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Roots from "../../src/mcp/roots.js"

const given = (allowed: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const home = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-roots-" }))
    const [root, downloads, outside] = [join(home, "root"), join(home, "downloads"), join(home, "outside")]
    for (const directory of [root, downloads, outside]) yield* fs.makeDirectory(directory)
    yield* fs.writeFileString(join(outside, "private.txt"), "private")
    const roots = yield* Roots.make({ roots: [root], downloads: Option.some(downloads), allowed })
    const write = (name: string) =>
      Effect.zipRight(
        fs.makeDirectory(join(root, name, ".."), { recursive: true }),
        fs.writeFileString(join(root, name), "x")
      )
    const reasonOf = (name: string) =>
      Effect.map(Effect.flip(roots.find(name)), ({ refusal: { next, reason } }) => {
        assert.isNotEmpty(next)
        return reason
      })
    return { fs, join, root, downloads, outside, roots, write, reasonOf }
  })

describe("roots", () => {
  it.scoped("have no file whose other name is elsewhere, unless it is allowed", () =>
    Effect.gen(function*() {
      for (const allowed of [[], ["hard.txt"]]) {
        const { fs, join, outside, reasonOf, root, roots } = yield* given(allowed)
        yield* fs.link(join(outside, "private.txt"), join(root, "hard.txt"))
        if (allowed.length === 0) assert.match(yield* reasonOf("hard.txt"), /hard link/)
        else assert.strictEqual((yield* roots.find("hard.txt")).size, 7)
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("have nothing of a directory that stevedore serve keeps its files in", () =>
    Effect.gen(function*() {
      const { fs, join, reasonOf, root, roots, write } = yield* given()
      for (const name of ["data/stevedore.db", "data/store/blob", "keys/signing-key", "keys/other", "near/notes.txt"]) {
        yield* write(name)
      }
      for (const name of ["data/stevedore.db", "data/store/blob", "keys/signing-key", "keys/other"]) {
        assert.match(yield* reasonOf(name), /stevedore serve|secrets/, name)
      }
      assert.strictEqual((yield* roots.find("near/notes.txt")).shown, "near/notes.txt")
      yield* fs.copyFile(join(root, "keys/signing-key"), join(root, "data/signing-key"))
      const none = Option.none<string>()
      const refused = yield* Effect.flip(Roots.make({ roots: [join(root, "data")], downloads: none, allowed: [] }))
      assert.match(refused.problem, /stevedore serve/)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("tell a file that has changed from the one that it was", () =>
    Effect.gen(function*() {
      const { fs, join, root, roots, write } = yield* given()
      yield* write("notes.txt")
      const first = yield* roots.find("notes.txt")
      assert.deepStrictEqual(yield* roots.find("notes.txt"), first)
      const { mtime } = yield* fs.stat(join(root, "notes.txt"))
      yield* fs.writeFileString(join(root, "notes.txt"), "y")
      const date = Option.getOrElse(mtime, () => new Date())
      yield* fs.utimes(join(root, "notes.txt"), date, date)
      assert.notStrictEqual((yield* roots.find("notes.txt")).dates, first.dates)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("write where the directory was when it was looked at, and not where a link has taken its place", () =>
    Effect.gen(function*() {
      const { downloads, fs, join, outside, roots } = yield* given()
      yield* fs.makeDirectory(join(downloads, "race"))
      const { path } = yield* roots.target("race/new.txt", "any")
      const open = yield* roots.opened(path)
      yield* fs.rename(join(downloads, "race"), join(downloads, "moved"))
      yield* fs.symlink(outside, join(downloads, "race"))
      if (process.platform === "linux") {
        yield* fs.writeFileString(open, "new")
        assert.deepStrictEqual(yield* fs.readDirectory(join(downloads, "moved")), ["new.txt"])
      }
      const { message } = yield* Effect.flip(roots.opened(path))
      assert.include(message, "race is a link that leads out of the directory of downloads")
      assert.include((yield* Effect.flip(roots.target("race/new.txt", "any"))).message, "directory of downloads")
      assert.deepStrictEqual(yield* fs.readDirectory(outside), ["private.txt"])
    }).pipe(Effect.provide(NodeContext.layer)))
})
