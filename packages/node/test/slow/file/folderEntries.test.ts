import { assert, describe, it } from "@effect/vitest"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import { FileSource } from "@stevedore/node"
import { Chunk, Effect, Stream } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as OtherDisk from "../../support/otherDisk.js"
import * as Temporary from "../../support/temporary.js"

const secret = "secret"

/** A folder, and a link to another folder with a file of the same name, to be put in the place of its subfolder. */
const inbox = Effect.gen(function*() {
  const base = yield* Effect.flatMap(Temporary.directory, (path) => Effect.promise(() => Fs.realpath(path)))
  const root = join(base, "inbox")
  yield* Effect.promise(async () => {
    for (const folder of [join(root, "sub"), join(base, "elsewhere")]) await Fs.mkdir(folder, { recursive: true })
    await Fs.writeFile(join(root, "sub", "key"), "mine")
    await Fs.writeFile(join(base, "elsewhere", "key"), secret)
    await Fs.writeFile(join(base, "elsewhere", "other"), secret)
    await Fs.symlink(join(base, "elsewhere"), join(root, "link"))
    await Fs.symlink(join(base, "elsewhere", "key"), join(root, "filelink"))
  })
  const { rename } = Fs
  const exchange = (one: string, other: string) => async () => {
    await rename(one, `${one}.aside`)
    await rename(other, one)
    await rename(`${one}.aside`, other)
  }
  return {
    base,
    root,
    folders: exchange(join(root, "sub"), join(root, "link")),
    files: exchange(join(root, "sub", "key"), join(root, "filelink"))
  }
})

/** Exchanges something while a path is opened, and back right after it. */
const exchangingWhile = (isMeant: (path: string) => boolean, exchange: () => Promise<void>) =>
  Effect.suspend(() => {
    const { open } = Fs
    let count = 0
    return Effect.as(
      OtherDisk.answering({
        open: async (...args: Parameters<typeof open>) => {
          if (!isMeant(String(args[0]))) return open(...args)
          count += 1
          await exchange()
          return open(...args).finally(exchange)
        }
      }),
      () => count
    )
  })

const withoutKernelNames = Effect.suspend(() => {
  const { readlink } = Fs
  return OtherDisk.answering({
    readlink: (path: string) => path.startsWith("/proc/") ? Promise.reject(OtherDisk.refusal("ENOENT")) : readlink(path)
  })
})

const contentOf = (source: RepeatableSource) =>
  Effect.scoped(Effect.gen(function*() {
    const chunks: Array<Uint8Array> = []
    const open = yield* source.open
    yield* open.readThrough({ offset: 0, length: source.size }, (chunk) => chunks.push(Uint8Array.from(chunk)))
    return Buffer.concat(chunks).toString()
  })).pipe(Effect.catchAll((error) => Effect.succeed(error._tag === "SourceUnreadable" ? error.reason : error._tag)))

const sources = (root: string) =>
  Effect.map(
    Stream.runCollect(FileSource.fromDirectory(root, { recursive: true })),
    (all) => Chunk.toReadonlyArray(all).filter(({ name }) => name.startsWith("sub"))
  )

const contents = (root: string) =>
  Effect.flatMap(
    sources(root),
    Effect.forEach((source) => Effect.map(contentOf(source), (content) => [source.name, content]))
  )

const posix = describe.skipIf(process.platform === "win32")

for (const knows of [true, false]) {
  posix(`a link that appears in an upload folder ${knows ? "" : "of a system that does not name open files"}`, () => {
    const system = knows ? Effect.void : withoutKernelNames

    it.scopedLive("leads nowhere if it is there only while a file is opened, in place of its folder or of itself", () =>
      Effect.gen(function*() {
        const { files, folders, root } = yield* inbox
        yield* system
        for (const exchange of [folders, files]) {
          const found = yield* Effect.scoped(Effect.gen(function*() {
            const count = yield* exchangingWhile((path) => path.endsWith("/key"), exchange)
            const found = yield* contents(root)
            assert.isAbove(count(), 0)
            return found
          }))
          assert.deepStrictEqual(found, [["sub/key", "NotAFile"]])
        }
        assert.deepStrictEqual(yield* contents(root), [["sub/key", "mine"]])
      }))

    it.scopedLive("leads nowhere if it is there only while a folder is opened to be listed", () =>
      Effect.gen(function*() {
        const { folders, root } = yield* inbox
        yield* system
        yield* exchangingWhile((path) => path.endsWith("/sub"), folders)
        const found = yield* contents(root)
        assert.notInclude(JSON.stringify(found), "other")
        assert.notInclude(JSON.stringify(found), secret)
      }))

    it.scopedLive("leads nowhere if it appears before the source is opened again, for a resume or a second session", () =>
      Effect.gen(function*() {
        const { files, folders, root } = yield* inbox
        yield* system
        for (const exchange of [folders, files]) {
          const [source] = yield* sources(root)
          assert(source !== undefined)
          assert.strictEqual(yield* contentOf(source), "mine")
          yield* Effect.promise(exchange)
          assert.strictEqual(yield* contentOf(source), "NotAFile")
          yield* Effect.promise(exchange)
          assert.strictEqual(yield* contentOf(source), "mine")
        }
      }))
  })
}

posix("an upload folder", () => {
  it.scopedLive("may be a link itself, even one that leads elsewhere meanwhile: its files stay those that were found", () =>
    Effect.gen(function*() {
      const { base, root } = yield* inbox
      const current = join(base, "current")
      yield* Effect.promise(() => Fs.symlink(root, current))
      const [source] = yield* sources(current)
      assert(source !== undefined)
      yield* Effect.promise(async () => {
        await Fs.rm(current)
        await Fs.symlink(join(base, "elsewhere"), current)
      })
      assert.strictEqual(yield* contentOf(source), "mine")
    }))

  it.scopedLive("takes a file that replaced another one, as programs do that save by renaming", () =>
    Effect.gen(function*() {
      const { root } = yield* inbox
      const entries = Chunk.toReadonlyArray(
        yield* Stream.runCollect(FileSource.entriesOf(root, { recursive: true }))
      )
      yield* Effect.promise(async () => {
        await Fs.writeFile(join(root, "sub", "key.new"), "saved")
        await Fs.rename(join(root, "sub", "key.new"), join(root, "sub", "key"))
      })
      const entry = entries.find(({ name }) => name === "sub/key")
      assert(entry?._tag === "File")
      assert.strictEqual(yield* contentOf(yield* FileSource.fromEntry(entry)), "saved")
    }))
})

const exchanger = `
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
one, other = (os.fsencode(path) for path in sys.argv[1:3])
end = time.time() + 20
while time.time() < end:
    for _ in range(1000):
        if libc.renameat2(-100, one, -100, other, 2) != 0: sys.exit(1)
`

const hasPython = process.platform === "linux" && spawnSync("python3", ["--version"]).status === 0

describe.runIf(hasPython)("a folder in which another process exchanges", () => {
  it.scopedLive("a subfolder and a link in a loop gives nothing from outside", () =>
    Effect.gen(function*() {
      const { root } = yield* inbox
      yield* Effect.acquireRelease(
        Effect.sync(() => spawn("python3", ["-c", exchanger, join(root, "sub"), join(root, "link")])),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      let mine = 0
      for (let pass = 0; pass < 300; pass++) {
        const found = yield* contents(root)
        assert.notInclude(JSON.stringify(found), secret)
        assert.notInclude(JSON.stringify(found), "other")
        if (JSON.stringify(found).includes("mine")) mine += 1
      }
      assert.isAbove(mine, 0)
    }))
})
