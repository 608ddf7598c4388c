import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Fiber } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { runs } from "../../../testing/test/support/runs.js"
import * as Target from "../../src/parts/downloadTarget.js"
import * as PartFile from "../../src/parts/partFile.js"
import * as PartJournal from "../../src/parts/partJournal.js"
import * as OtherDisk from "../support/otherDisk.js"
import * as Temporary from "../support/temporary.js"

interface Counted extends PartFile.PartFile {
  readonly most: () => number
}

type Write = (bytes: Uint8Array, offset: number, length: number, position: number) => Promise<unknown>

const withWrite = (file: PartFile.PartFile, write: (own: Write) => Write): PartFile.PartFile => ({
  ...file,
  handle: new Proxy(file.handle, {
    get: (own, name) =>
      name === "write"
        ? write((bytes, offset, length, position) => own.write(bytes, offset, length, position))
        : Reflect.get(own, name, own)
  })
})

/** A part file that counts how many writes are under way at once, and takes so many bytes of each at most. */
const counting = (file: PartFile.PartFile, mostBytes: number): Counted => {
  let underWay = 0
  let most = 0
  const counted = withWrite(file, (own) => (bytes, offset, length, position) => {
    most = Math.max(most, ++underWay)
    return own(bytes, offset, Math.min(length, mostBytes), position).finally(() => underWay--)
  })
  return { ...counted, most: () => most }
}

const open = Effect.gen(function*() {
  const directory = yield* Temporary.directory
  const target = join(directory, "interview.mp4")
  return yield* PartFile.open(`${target}.part`, target, { keep: true, overwrite: false, worth: Effect.succeed(true) })
})

describe("partFile", () => {
  it.scoped.prop(
    "writes concurrent pieces one at a time, each at its position, even if the disk takes only a few bytes per write",
    {
      pieces: FastCheck.array(FastCheck.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 2, maxLength: 12 }),
      mostBytes: FastCheck.integer({ min: 1, max: 50 })
    },
    ({ mostBytes, pieces }) =>
      Effect.gen(function*() {
        const file = counting(yield* open, mostBytes)
        const places = pieces.map((_, index) =>
          pieces.slice(0, index).reduce((sum, { byteLength }) => sum + byteLength, 0)
        )
        yield* Effect.forEach(pieces, (bytes, index) => PartFile.write(file, bytes, places[index] ?? 0), {
          concurrency: "unbounded",
          discard: true
        })
        assert.strictEqual(file.most(), 1)
        assert.deepStrictEqual(yield* Effect.promise(() => Fs.readFile(file.path)), Buffer.concat(pieces))
      }),
    { fastCheck: { numRuns: runs(30) } }
  )

  it.scoped("reads exactly the bytes of a range, however long, and fails if the file ends before it", () =>
    Effect.gen(function*() {
      const file = yield* open
      const bytes = Temporary.distinct(2_500_000)
      yield* PartFile.write(file, bytes, 0)
      for (const [offset, length] of [[0, 0], [3, 10], [7, 1_500_000], [400_000, 2_100_000]] as const) {
        const chunks: Array<Uint8Array> = []
        yield* PartFile.read(file, { offset, length }, (chunk) => chunks.push(new Uint8Array(chunk)))
        assert.isTrue(Buffer.concat(chunks).equals(bytes.subarray(offset, offset + length)))
      }
      const failed = yield* Effect.flip(PartFile.read(file, { offset: 400_000, length: 2_100_001 }, () => undefined))
      assert.strictEqual(failed._tag, "TargetUnwritable")
    }))

  it.scoped("does not give the target's name to a file that is no longer the opened one", () =>
    Effect.gen(function*() {
      const file = yield* open
      yield* Effect.promise(async () => {
        await Fs.rm(file.path)
        await Fs.writeFile(file.path, "of another download")
      })
      for (const overwrite of [true, false]) {
        assert.strictEqual((yield* Effect.flip(PartFile.commit(file, { overwrite })))._tag, "TargetUnwritable")
      }
      assert.isFalse(yield* Target.exists(file.target))
    }))

  it.scoped.skipIf(process.platform === "win32")(
    "gives the part the mode of the file that it replaces, but always lets its owner open it again",
    () =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "interview.mp4")
        yield* Effect.promise(() => Fs.writeFile(target, "before"))
        for (const [mode, expected] of [[0o444, 0o644], [0o600, 0o600], [0o640, 0o640]] as const) {
          yield* Effect.promise(() => Fs.chmod(target, mode))
          const options = { keep: true, overwrite: true, worth: Effect.succeed(true) }
          const { handle } = yield* PartFile.open(`${target}.part`, target, options)
          assert.strictEqual((yield* Effect.promise(() => handle.stat())).mode & 0o777, expected)
        }
      })
  )

  it.scoped.skipIf(process.platform === "win32")(
    "is nobody else's from its first byte if it will replace a file, whatever that file's mode and whether it is kept",
    () =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "key.pem")
        yield* Effect.promise(() => Fs.writeFile(target, "before"))
        const { open } = Fs
        const created: Array<number> = []
        yield* OtherDisk.answering({
          open: async (...args: Parameters<typeof open>) => {
            const [path] = args
            const isNew = await Fs.lstat(path).then(() => false, () => true)
            const handle = await open(...args)
            if (isNew) created.push((await handle.stat()).mode & 0o777)
            return handle
          }
        })
        for (const mode of [0o600, 0o640, 0o644, 0o400]) {
          for (const keep of [false, true]) {
            yield* Effect.promise(() => Fs.chmod(target, mode))
            const options = { keep, overwrite: true, worth: Effect.succeed(false) }
            yield* Effect.scoped(Effect.gen(function*() {
              const file = yield* PartFile.open(`${target}.part`, target, options)
              assert.strictEqual((yield* Effect.promise(() => file.handle.stat())).mode & 0o777, mode | 0o600)
              yield* PartJournal.write(file, {
                version: 1,
                fileId: "f1",
                etag: "\"a\"",
                size: 1,
                partSize: 1,
                parts: []
              })
            }))
            const journal = yield* Effect.promise(() => Fs.stat(`${target}.part.json`))
            assert.strictEqual(journal.mode & 0o777, 0o600)
          }
        }
        assert.lengthOf(created, 8)
        assert.deepStrictEqual([...new Set(created)], [0o600])
      })
  )

  it.scoped.skipIf(process.platform === "win32")(
    "starts over in a new file if others may have opened the kept part, who may not read the file that it replaces",
    () =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "key.pem")
        yield* Effect.promise(async () => {
          await Fs.writeFile(target, "before")
          await Fs.chmod(target, 0o600)
        })
        for (const [mode, size] of [[0o644, 0], [0o640, 0], [0o600, 4]] as const) {
          const part = `${target}.${mode}.part`
          yield* Effect.promise(async () => {
            await Fs.writeFile(part, "kept")
            await Fs.chmod(part, mode)
          })
          const reader = yield* Effect.promise(() => Fs.open(part, "r"))
          const file = yield* PartFile.open(part, target, { keep: true, overwrite: true, worth: Effect.succeed(true) })
          const stats = yield* Effect.promise(() => file.handle.stat())
          assert.deepStrictEqual([stats.size, stats.mode & 0o777], [size, 0o600])
          yield* PartFile.write(file, Buffer.from("secret"), 0)
          const seen = yield* Effect.promise(() => reader.readFile("utf8"))
          yield* Effect.promise(() => reader.close())
          if (mode !== 0o600) assert.strictEqual(seen, "kept")
        }
      })
  )

  it.scoped.skipIf(process.geteuid?.() !== 0)(
    "gives another group than that of the file that it replaces no more than everybody has",
    () =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "key.pem")
        const { open } = Fs
        yield* Effect.promise(async () => {
          await Fs.writeFile(target, "before")
          await Fs.chown(target, 0, 4242)
        })
        const opened = (mode: number) =>
          Effect.gen(function*() {
            yield* Effect.promise(() => Fs.chmod(target, mode))
            const options = { keep: false, overwrite: true, worth: Effect.succeed(false) }
            const { handle } = yield* PartFile.open(`${target}.${mode}.part`, target, options)
            const stats = yield* Effect.promise(() => handle.stat())
            return [stats.gid, stats.mode & 0o777]
          })
        assert.deepStrictEqual(yield* opened(0o640), [4242, 0o640])
        yield* OtherDisk.answering({
          open: async (...args: Parameters<typeof open>) =>
            Object.assign(await open(...args), { chown: () => Promise.reject(OtherDisk.refusal("EPERM")) })
        })
        const own = process.getegid?.()
        assert.deepStrictEqual(yield* opened(0o660), [own, 0o600])
        assert.deepStrictEqual(yield* opened(0o664), [own, 0o644])
      })
  )

  it.scopedLive("flushes beside the writes, and does not give the name once that failed, though a later flush succeeds", () =>
    Effect.gen(function*() {
      for (const failing of [1, 2]) {
        const directory = yield* Temporary.directory
        const target = join(directory, "interview.mp4")
        const { open } = Fs
        let flushes = 0
        yield* OtherDisk.answering({
          open: async (...args: Parameters<typeof open>) =>
            Object.assign(await open(...args), {
              // a kernel tells that bytes are lost to the first that asks
              sync: () => ++flushes === failing ? Promise.reject(OtherDisk.refusal("EIO")) : Promise.resolve()
            })
        })
        const options = { keep: true, overwrite: true, worth: Effect.succeed(false) }
        const file = yield* PartFile.open(`${target}.part`, target, options)
        const piece = new Uint8Array(24 * 1_048_576)
        for (const index of [0, 1, 2]) {
          yield* PartFile.write(file, piece, index * piece.byteLength)
          yield* Effect.sleep("1 millis")
        }
        assert.strictEqual(flushes, 1)
        const journal = { version: 1, fileId: "f1", etag: "\"a\"", size: 72, partSize: 24, parts: [0] } as const
        for (const ending of [PartJournal.write(file, journal), PartFile.commit(file, options)]) {
          assert.strictEqual((yield* Effect.flip(ending))._tag, "TargetUnwritable")
        }
        assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(directory)), ["interview.mp4.part"])
      }
    }).pipe(Effect.scoped))

  it.scoped("does not block the next write when a write fails", () =>
    Effect.gen(function*() {
      const file = yield* open
      yield* Effect.promise(() => file.handle.close())
      const failures = yield* Effect.all(
        [1, 2].map((byte) => Effect.flip(PartFile.write(file, Uint8Array.of(byte), 0)))
      )
      assert.deepStrictEqual(failures.map(({ _tag }) => _tag), ["TargetUnwritable", "TargetUnwritable"])
    }))

  it.scopedLive("writes nothing more once the interruption of a write has completed", () =>
    Effect.gen(function*() {
      const opened = yield* open
      const slow = withWrite(opened, (own) => async (bytes, offset, _, position) => {
        await sleep(5)
        return own(bytes, offset, 1, position)
      })
      const writing = yield* Effect.fork(PartFile.write(slow, Uint8Array.of(1, 2, 3), 100))
      yield* Effect.sleep("2 millis")
      yield* Fiber.interrupt(writing)
      yield* Effect.promise(() => opened.handle.truncate(0))
      yield* Effect.sleep("50 millis")
      assert.strictEqual((yield* Effect.promise(() => opened.handle.stat())).size, 0)
    }))

  it.scoped("starts over in a new file when a killed process left the part file linked to its target", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const target = join(directory, "interview.mp4")
      yield* Effect.promise(async () => {
        await Fs.writeFile(target, "whole")
        await Fs.link(target, `${target}.part`)
      })
      const file = yield* PartFile.open(`${target}.part`, target, {
        keep: true,
        overwrite: false,
        worth: Effect.succeed(true)
      })
      assert.strictEqual((yield* Effect.promise(() => file.handle.stat())).size, 0)
      yield* PartFile.write(file, Uint8Array.of(1), 0)
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(target, "utf8")), "whole")
      yield* PartFile.commit(file, { overwrite: true })
      assert.strictEqual((yield* Effect.promise(() => Fs.readFile(target))).byteLength, 1)
    }))

  it.scoped.skipIf(process.platform === "win32")(
    "starts over in a new file when another user left the part file, and this one may not open it",
    () =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "interview.mp4")
        yield* Effect.promise(() => Fs.writeFile(`${target}.part`, "of root"))
        const { lstat, open } = Fs
        const { ino } = yield* Effect.promise(() => lstat(`${target}.part`))
        let user = process.geteuid?.() ?? 0
        yield* OtherDisk.answering({
          open: async (path: string, flags: number, mode: number) => {
            const there = await lstat(path).catch(() => undefined)
            if (there?.ino === ino) throw OtherDisk.refusal("EACCES")
            return open(path, flags, mode)
          },
          lstat: async (path: string) => Object.assign(await lstat(path), { uid: user })
        })
        const options = { keep: true, overwrite: false, worth: Effect.succeed(true) }
        const refused = yield* Effect.flip(PartFile.open(`${target}.part`, target, options))
        assert.strictEqual(refused.code, "EACCES")
        assert.strictEqual(yield* Effect.promise(() => Fs.readFile(`${target}.part`, "utf8")), "of root")
        user += 1
        const file = yield* PartFile.open(`${target}.part`, target, options)
        assert.strictEqual((yield* Effect.promise(() => file.handle.stat())).size, 0)
      })
  )

  it.scoped("closes a kept part file that it cannot inspect", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const target = join(directory, "interview.mp4")
      const { open } = Fs
      let isClosed = false
      yield* OtherDisk.answering({
        open: async (path: string, flags: number, mode: number) => {
          const handle = await open(path, flags, mode)
          const close = handle.close.bind(handle)
          return Object.assign(handle, {
            stat: () => Promise.reject(OtherDisk.refusal("ESTALE")),
            close: () => close().then(() => void (isClosed = true))
          })
        }
      })
      const options = { keep: true, overwrite: false, worth: Effect.succeed(true) }
      const refused = yield* Effect.flip(PartFile.open(`${target}.part`, target, options))
      assert.strictEqual(refused.code, "ESTALE")
      assert.isTrue(isClosed)
    }))

  it.scoped("does not write through a symbolic link in place of a kept part file", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const target = join(directory, "interview.mp4")
      yield* Effect.promise(async () => {
        await Fs.writeFile(join(directory, "precious"), "precious")
        await Fs.symlink(join(directory, "precious"), `${target}.part`)
      })
      const file = yield* PartFile.open(`${target}.part`, target, {
        keep: true,
        overwrite: false,
        worth: Effect.succeed(true)
      })
      yield* PartFile.write(file, Uint8Array.of(1), 0)
      yield* PartFile.commit(file, { overwrite: false })
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(join(directory, "precious"), "utf8")), "precious")
      assert.isTrue((yield* Effect.promise(() => Fs.lstat(target))).isFile())
    }))

  it.scoped("recognizes the opened part file even if its device number is longer by path, as on Windows", () =>
    Effect.gen(function*() {
      const file = yield* open
      const lstat = Fs.lstat
      yield* OtherDisk.answering({
        lstat: async (path: string) => {
          const stats = await lstat(path, { bigint: true })
          return Object.assign(stats, { dev: (1n << 40n) | stats.dev })
        }
      })
      yield* PartFile.commit(file, { overwrite: true })
      assert.isTrue(yield* Target.exists(file.target))
    }))

  it.scoped.each(["EISDIR", "EPERM", "ENOTSUP", "EINVAL"])(
    "commits on a disk that rejects hard links with %s, and does not overwrite an existing target",
    (code) =>
      Effect.gen(function*() {
        const file = yield* open
        yield* PartFile.write(file, Uint8Array.of(1), 0)
        yield* OtherDisk.answering({ link: () => Promise.reject(OtherDisk.refusal(code)) })
        yield* Effect.promise(() => Fs.writeFile(file.target, "there before"))
        const refused = yield* Effect.flip(PartFile.commit(file, { overwrite: false }))
        assert.strictEqual(refused._tag, "TargetExists")
        assert.strictEqual(yield* Effect.promise(() => Fs.readFile(file.target, "utf8")), "there before")
        yield* Effect.promise(() => Fs.rm(file.target))
        yield* PartFile.commit(file, { overwrite: false })
        assert.strictEqual((yield* Effect.promise(() => Fs.readFile(file.target))).byteLength, 1)
      })
  )

  it.scoped.each([{ overwrite: false, code: "EEXIST" }, { overwrite: false, code: "EIO" }, {
    overwrite: true,
    code: "ENOENT"
  }])(
    "commits on a network drive that carries a request out but reports %o, as when its response is lost",
    ({ code, overwrite }) =>
      Effect.gen(function*() {
        const file = yield* open
        yield* PartFile.write(file, Uint8Array.of(1), 0)
        const { link, rename } = Fs
        const losing = (own: typeof rename) => async (from: string, to: string) => {
          await own(from, to)
          throw OtherDisk.refusal(code)
        }
        yield* OtherDisk.answering({ link: losing(link), rename: losing(rename) })
        yield* PartFile.commit(file, { overwrite })
        assert.strictEqual((yield* Effect.promise(() => Fs.readFile(file.target))).byteLength, 1)
      })
  )

  it.scopedLive("retries to commit and to remove a file that another program briefly holds open", () =>
    Effect.gen(function*() {
      const file = yield* open
      const { link, rename, rm } = Fs
      const heldOnce = <A extends ReadonlyArray<string>>(own: (...args: A) => Promise<void>) => {
        const held = new Set<string>()
        return (...args: A) =>
          held.size === held.add(args.join()).size ? own(...args) : Promise.reject(OtherDisk.refusal("EBUSY"))
      }
      yield* OtherDisk.answering({
        link: heldOnce(link),
        rename: heldOnce(rename),
        rm: heldOnce((path: string) => rm(path, { force: true }))
      })
      yield* PartFile.commit(file, { overwrite: true })
      assert.isTrue(yield* Target.exists(file.target))
      yield* PartFile.remove(file.target)
      assert.isFalse(yield* Target.exists(file.target))
    }))

  it.scopedLive("does not overwrite a target that appears between retries on a disk without hard links", () =>
    Effect.gen(function*() {
      const file = yield* open
      const rename = Fs.rename
      let tries = 0
      yield* OtherDisk.answering({
        link: () => Promise.reject(OtherDisk.refusal("EISDIR")),
        rename: async (from: string, to: string) => {
          if (tries++ > 0) return rename(from, to)
          await Fs.writeFile(to, "precious")
          throw OtherDisk.refusal("EBUSY")
        }
      })
      const refused = yield* Effect.flip(PartFile.commit(file, { overwrite: false }))
      assert.strictEqual(refused._tag, "TargetExists")
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(file.target, "utf8")), "precious")
    }))

  it.scopedLive("commits a download even if the part file cannot be removed", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const target = join(directory, "interview.mp4")
      yield* OtherDisk.answering({ rm: () => Promise.reject(OtherDisk.refusal("EIO")) })
      const options = { keep: false, overwrite: false, worth: Effect.succeed(false) }
      yield* Effect.scoped(
        Effect.flatMap(PartFile.open(`${target}.part`, target, options), (file) => PartFile.commit(file, options))
      )
      assert.isTrue(yield* Target.exists(target))
    }))

  it("continues a kept part file only if it is a regular file of this user with a single link", () => {
    const stats = { isFile: () => true, nlink: 1, uid: 1000 }
    assert.deepStrictEqual(
      [
        PartFile.isOwn(stats, 1000),
        // where there are no users by number
        PartFile.isOwn({ ...stats, uid: 0 }, undefined),
        PartFile.isOwn({ ...stats, uid: 1001 }, 1000),
        PartFile.isOwn({ ...stats, nlink: 2 }, 1000),
        PartFile.isOwn({ ...stats, isFile: () => false }, 1000)
      ],
      [true, true, false, false, false]
    )
  })
})
