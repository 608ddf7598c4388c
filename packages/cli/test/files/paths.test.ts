import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { execFileSync } from "node:child_process"
import * as UploadPaths from "../../src/files/paths.js"

const none = Option.none<never>()

// One whose path is too long: what has no permission root reads all the same.
const nobodyReads = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const name = "d".repeat(200)
      const script = `for one in $(seq 30); do mkdir ${name}; cd ${name} 2>/dev/null || exit 0; done`
      execFileSync("sh", ["-c", script], { cwd: folder })
    }),
    () => Effect.sync(() => execFileSync("rm", ["-rf", folder]))
  )

const filesOf = (...paths: ReadonlyArray<string>) => Effect.map(UploadPaths.expand(paths), ({ files }) => files)

describe("UploadPaths", () => {
  it.scoped("expands a directory recursively and in order, with relative names, and keeps every other path", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${folder}/b/c`, { recursive: true })
      yield* fs.makeDirectory(`${folder}/empty`)
      yield* Effect.forEach(["z", "b/y", "b/c/x", ".hidden"], (name) => fs.writeFileString(`${folder}/${name}`, name))
      assert.deepStrictEqual(
        (yield* filesOf(`${folder}/none`, folder, `${folder}/empty`)).map(({ name, path, refused, size }) => ({
          path,
          name,
          size,
          refused
        })),
        [
          { path: `${folder}/none`, name: none, size: 0, refused: none },
          ...[".hidden", "b/c/x", "b/y", "z"].map((name) => ({
            path: `${folder}/${name}`,
            name: Option.some(name),
            size: name.length,
            refused: none
          }))
        ]
      )
      assert.deepStrictEqual((yield* filesOf(`${folder}/z`, `${folder}/b/c`)).map(({ name }) => name), [
        none,
        Option.some("x")
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("rejects a relative path with a message if the working directory no longer exists", () =>
    Effect.gen(function*() {
      const path = yield* Path.Path
      const removed = {
        ...path,
        resolve: () => {
          throw new Error("ENOENT: no such file or directory, uv_cwd")
        }
      }
      const expanded = (...paths: ReadonlyArray<string>) =>
        Effect.either(Effect.provideService(UploadPaths.expand(paths), Path.Path, removed))
      const refused = yield* Effect.flatMap(expanded("/dev/null", "a.mp4"), Effect.flip)
      assert.strictEqual(refused.message, "a.mp4: the current directory no longer exists: change to another")
      assert.isTrue(Either.isRight(yield* expanded("/dev/null")))
    }).pipe(Effect.provide(NodeContext.layer)))

  const linked = Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${folder}/all/below`, { recursive: true })
    yield* fs.makeDirectory(`${folder}/other`)
    yield* Effect.forEach(
      ["all/z", "other/y", "other/.gitkeep"],
      (name) => fs.writeFileString(`${folder}/${name}`, name.endsWith("keep") ? "" : name)
    )
    yield* fs.symlink("..", `${folder}/all/below/loop`)
    yield* fs.symlink("z", `${folder}/all/link`)
    yield* fs.symlink("../other", `${folder}/all/more`)
    yield* fs.symlink("nowhere", `${folder}/all/dangling`)
    yield* fs.symlink("all", `${folder}/named`)
    if (process.platform !== "win32") execFileSync("mkfifo", [`${folder}/all/pipe`])
    return folder
  })

  it.scoped.skipIf(process.platform === "win32")(
    "skips a link and a pipe inside a directory, but follows a link that is passed as a path",
    () =>
      Effect.gen(function*() {
        const folder = yield* linked
        const { files, skipped } = yield* UploadPaths.expand([`${folder}/named`])
        assert.deepStrictEqual(files.map(({ name }) => Option.getOrNull(name)), ["z"])
        assert.deepStrictEqual(
          skipped.map(({ name, reason }) => [Option.getOrNull(name), reason]),
          [["below/loop", "link"], ["dangling", "link"], ["link", "link"], ["more", "link"], ["pipe", "special"]]
        )
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped.skipIf(process.platform === "win32")(
    "follows links on request, each file once, and none that leads back to where it is",
    () =>
      Effect.gen(function*() {
        const folder = yield* linked
        const { files, repeated, skipped } = yield* UploadPaths.expand([`${folder}/all`], { followLinks: true })
        assert.deepStrictEqual(files.map(({ name }) => Option.getOrNull(name)), ["link", "more/y"])
        assert.deepStrictEqual(repeated.map(({ name }) => Option.getOrNull(name)), ["z"])
        assert.deepStrictEqual(
          skipped.map(({ name, reason }) => [Option.getOrNull(name), reason]),
          [["below/loop", "link"], ["dangling", "link"], ["more/.gitkeep", "empty"], ["pipe", "special"]]
        )
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped.skipIf(process.platform === "win32")(
    "reports an unreadable subdirectory and still lists the other files",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectory()
        yield* nobodyReads(folder)
        yield* fs.writeFileString(`${folder}/z`, "z")
        const [below, file, ...more] = yield* filesOf(folder)
        assert.deepStrictEqual(
          Option.map(below?.refused ?? none, (error) => error._tag === "SourceUnreadable" ? error.code : error._tag),
          Option.some("ENAMETOOLONG")
        )
        assert.deepStrictEqual([file?.path, file?.refused, more], [`${folder}/z`, none, []])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("reports a directory that cannot be read itself, and not as an empty one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const directory = yield* fs.stat(folder)
      const gone = `${folder}/gone`
      const found = yield* filesOf(gone).pipe(
        Effect.provideService(FileSystem.FileSystem, { ...fs, stat: () => Effect.succeed(directory) })
      )
      assert.deepStrictEqual(found.map(({ path, refused }) => [path, Option.map(refused, ({ _tag }) => _tag)]), [
        [gone, Option.some("SourceUnreadable")]
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("lists a file once, under its first path, and reports its other paths as repeated", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${folder}/all/below`, { recursive: true })
      yield* fs.writeFileString(`${folder}/all/below/a`, "a")
      yield* fs.writeFileString(`${folder}/all/z`, "z")
      yield* fs.symlink("all", `${folder}/link`)
      const { files, repeated } = yield* UploadPaths.expand([
        `${folder}/link/z`,
        `${folder}/all/below`,
        `${folder}/link`,
        `${folder}/none`,
        `${folder}/all/../none`
      ])
      const shown = (all: ReadonlyArray<UploadPaths.FileToUpload>) => all.map(({ path }) => path.slice(folder.length))
      assert.deepStrictEqual(shown(files), ["/link/z", "/all/below/a", "/none"])
      assert.deepStrictEqual(shown(repeated), ["/link/below/a", "/link/z", "/all/../none"])
    }).pipe(Effect.provide(NodeContext.layer)))
})
