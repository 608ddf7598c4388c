import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as Target from "../../src/parts/downloadTarget.js"
import * as PartFile from "../../src/parts/partFile.js"
import * as PartJournal from "../../src/parts/partJournal.js"
import * as OtherDisk from "../support/otherDisk.js"
import * as Temporary from "../support/temporary.js"

const journal: PartJournal.PartJournal = {
  version: 1,
  fileId: "1kf00nQk9yfWKfsTDni8aO",
  etag: "\"one\"",
  size: 4,
  partSize: 2,
  parts: [0]
}

const opened = Effect.gen(function*() {
  const directory = yield* Temporary.directory
  const target = join(directory, "interview.mp4")
  const file = yield* PartFile.open(`${target}.part`, target, {
    keep: true,
    overwrite: false,
    worth: Effect.succeed(true)
  })
  yield* PartFile.write(file, Uint8Array.of(1, 2), 0)
  return { directory, file, precious: join(directory, "precious"), path: PartJournal.pathOf(file.path) }
})

describe("partJournal", () => {
  it.scoped("reads back a written journal, but only for the same file", () =>
    Effect.gen(function*() {
      const { file } = yield* opened
      yield* PartJournal.write(file, journal)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
      assert.deepStrictEqual(yield* PartJournal.read(file, "another"), Option.none())
    }))

  it.scoped("trusts a journal with the last part, which is shorter, but only if the part holds all of it, and no more", () =>
    Effect.gen(function*() {
      const { file } = yield* opened
      const complete = { ...journal, size: 3, parts: [0, 1] }
      yield* PartJournal.write(file, complete)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.none())
      yield* PartFile.write(file, Uint8Array.of(3), 2)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(complete))
      yield* PartFile.write(file, Uint8Array.of(4), 3)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.none())
    }))

  it.scopedLive.each(["open", "stat"])(
    "reads a journal that cannot be read just now a moment later (%s)",
    (operation) =>
      Effect.gen(function*() {
        const { file } = yield* opened
        yield* PartJournal.write(file, journal)
        let refusals = 2
        const once = <A>(run: () => Promise<A>) => refusals-- > 0 ? Promise.reject(OtherDisk.refusal("EMFILE")) : run()
        const { open } = Fs
        yield* OtherDisk.answering(
          operation === "open" ? { open: (path: string, flags: number) => once(() => open(path, flags)) } : {}
        )
        const { stat } = file.handle
        if (operation === "stat") Object.assign(file.handle, { stat: () => once(() => stat.call(file.handle)) })
        assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
      })
  )

  it.scoped("completes a write that is interrupted, and leaves no temporary file", () =>
    Effect.gen(function*() {
      const { directory, file } = yield* opened
      const writing = yield* Effect.fork(PartJournal.write(file, journal))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(writing)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
      assert.sameMembers(yield* Effect.promise(() => Fs.readdir(directory)), [
        "interview.mp4.part",
        "interview.mp4.part.json"
      ])
    }))

  it.scoped("forgets the journal and what the part holds, even if interrupted", () =>
    Effect.gen(function*() {
      const { directory, file } = yield* opened
      yield* PartJournal.write(file, journal)
      const forgetting = yield* Effect.fork(PartJournal.forget(file))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(forgetting)
      assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(directory)), ["interview.mp4.part"])
      assert.strictEqual((yield* Effect.promise(() => Fs.stat(file.path))).size, 0)
    }))

  it.scoped("trusts a forgotten journal no longer, even if it cannot be removed", () =>
    Effect.gen(function*() {
      const { file, path } = yield* opened
      yield* PartJournal.write(file, journal)
      yield* OtherDisk.answering({ rm: () => Promise.reject(OtherDisk.refusal("EIO")) })
      const error = yield* Effect.flip(PartJournal.forget(file))
      assert.strictEqual(error.code, "EIO")
      assert.isTrue(yield* Target.exists(path))
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.none())
    }))

  it.scopedLive("writes the journal even if another program briefly blocks the rename", () =>
    Effect.gen(function*() {
      const { file } = yield* opened
      const rename = Fs.rename
      let tries = 0
      yield* OtherDisk.answering({
        rename: (from: string, to: string) =>
          tries++ === 0 ? Promise.reject(OtherDisk.refusal("EBUSY")) : rename(from, to)
      })
      yield* PartJournal.write(file, journal)
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
    }))

  it.scopedLive("leaves the earlier journal and no temporary file if the disk is full", () =>
    Effect.gen(function*() {
      const { directory, file } = yield* opened
      yield* PartJournal.write(file, journal)
      const writeFile = Fs.writeFile
      yield* OtherDisk.answering({
        writeFile: async (path: string) => {
          await writeFile(path, "{")
          throw OtherDisk.refusal("ENOSPC")
        }
      })
      const error = yield* Effect.flip(PartJournal.write(file, { ...journal, parts: [0, 1] }))
      assert.strictEqual(error.code, "ENOSPC")
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
      assert.sameMembers(yield* Effect.promise(() => Fs.readdir(directory)), [
        "interview.mp4.part",
        "interview.mp4.part.json"
      ])
    }))

  it.scoped("does not write through a symbolic link in place of its temporary file", () =>
    Effect.gen(function*() {
      const { file, path, precious } = yield* opened
      yield* Effect.promise(async () => {
        await Fs.writeFile(precious, "precious")
        await Fs.symlink(precious, `${path}.new`)
      })
      yield* PartJournal.write(file, journal)
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(precious, "utf8")), "precious")
      assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.some(journal))
    }))

  it.scoped("ignores a journal that is a symbolic link or has a second hard link", () =>
    Effect.gen(function*() {
      const { file, path, precious } = yield* opened
      const planted = [Fs.symlink, Fs.link]
      yield* Effect.promise(() => Fs.writeFile(precious, JSON.stringify(journal)))
      for (const plant of planted) {
        yield* Effect.promise(() => plant(precious, path))
        assert.deepStrictEqual(yield* PartJournal.read(file, journal.fileId), Option.none())
        yield* Effect.promise(() => Fs.rm(path))
      }
    }))
})
