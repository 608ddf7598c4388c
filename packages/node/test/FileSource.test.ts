import { assert, describe, it } from "@effect/vitest"
import { SourceError } from "@stevedore/core"
import type { RepeatableSource, UploadSource } from "@stevedore/core/UploadSource"
import { FileSource } from "@stevedore/node"
import { Chunk, Deferred, Effect, FastCheck, Fiber, Stream } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { runs } from "../../testing/test/support/runs.js"
import { unreadable } from "../src/file/sourceFile.js"
import * as OtherDisk from "./support/otherDisk.js"
import * as Temporary from "./support/temporary.js"

const isAsyncIterable = (u: unknown): u is AsyncIterable<Uint8Array> =>
  typeof u === "object" && u !== null && Symbol.asyncIterator in u

const collect = async (content: unknown, betweenChunks: () => Promise<void> = async () => undefined) => {
  assert(isAsyncIterable(content))
  const chunks: Array<Uint8Array> = []
  for await (const chunk of content) {
    chunks.push(Uint8Array.from(chunk))
    await betweenChunks()
  }
  return Buffer.concat(chunks)
}

const read = (
  source: RepeatableSource,
  range = { offset: 0, length: source.size },
  options: { readonly observe?: (chunk: Uint8Array) => void; readonly betweenChunks?: () => Promise<void> } = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const open = yield* source.open
    const section = yield* open.section(range)
    const body = yield* section.body(options.observe ?? (() => undefined))
    assert(body._tag === "NativeBody")
    return yield* Effect.tryPromise({
      try: () => collect(body.content, options.betweenChunks),
      catch: (error) =>
        SourceError.isSourceError(error) ? error : new SourceError.SourceUnreadable({ fileName: "?", reason: "Failed" })
    })
  }))

const partitioned = FastCheck.tuple(
  FastCheck.integer({ min: 1, max: 5_000_000 }),
  FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
).map(([size, cuts]) => {
  const offsets = [...new Set([0, ...cuts.map((cut) => Math.floor(cut * size)), size])].sort((a, b) => a - b)
  return {
    size,
    ranges: offsets.slice(1).map((end, i) => ({ offset: offsets[i] ?? 0, length: end - (offsets[i] ?? 0) }))
  }
})

describe("FileSource.fromPath", () => {
  it.scopedLive("takes name, media type, size and fingerprint from the file", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("interview.mp4", Temporary.distinct(1234))
      const source = yield* FileSource.fromPath(path)
      const stats = yield* Effect.promise(() => Fs.stat(path))
      assert.strictEqual(source._tag, "RepeatableSource")
      assert.strictEqual(source.held, false)
      assert.strictEqual(source.name, "interview.mp4")
      assert.strictEqual(source.mediaType, "video/mp4")
      assert.strictEqual(source.size, 1234)
      assert.strictEqual(source.fingerprint.kind, "file")
      assert.strictEqual(source.fingerprint.size, 1234)
      assert.strictEqual(source.fingerprint.identity, `${stats.dev}:${stats.ino}`)
      assert.closeTo(source.fingerprint.modified ?? 0, stats.mtimeMs, 1)
    }))

  it.scopedLive("uses the given name and media type, and derives a missing media type from the given name", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("upload.bin", Temporary.distinct(1))
      const types = yield* Effect.forEach(
        [{}, { name: "a.pdf" }, { name: "png" }, { name: ".png" }, { name: "b", mediaType: "text/x-own" }],
        (options) => Effect.map(FileSource.fromPath(path, options), (source) => [source.name, source.mediaType])
      )
      assert.deepStrictEqual(types, [
        ["upload.bin", "application/octet-stream"],
        ["a.pdf", "application/pdf"],
        ["png", "application/octet-stream"],
        [".png", "application/octet-stream"],
        ["b", "text/x-own"]
      ])
    }))

  it.scopedLive("gives an unchanged file the same fingerprint, and a file with a new date a different one", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("a", Temporary.distinct(10))
      const first = yield* FileSource.fromPath(path)
      const second = yield* FileSource.fromPath(path)
      assert.deepStrictEqual(second.fingerprint, first.fingerprint)
      yield* Effect.promise(() => Fs.utimes(path, 1, 1))
      const third = yield* FileSource.fromPath(path)
      assert.notDeepEqual(third.fingerprint, first.fingerprint)
    }))

  it.scopedLive("rejects a missing path, a directory, a device, a pipe and a path below a file with a reason", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const plain = join(directory, "plain")
      const pipe = join(directory, "pipe")
      yield* Effect.promise(() => Fs.writeFile(plain, "x"))
      yield* Effect.sync(() => execFileSync("mkfifo", [pipe]))
      const reasons = yield* Effect.forEach(
        [join(directory, "none"), directory, "/", "/dev/null", pipe, join(plain, "below")],
        (path) => Effect.flip(FileSource.fromPath(path))
      )
      assert.deepStrictEqual(
        reasons.map((error) => error._tag === "SourceUnreadable" ? [error.reason, error.code] : [error._tag]),
        [
          ["NotFound", "ENOENT"],
          ["Directory", undefined],
          ["Directory", undefined],
          ["NotAFile", undefined],
          ["NotAFile", undefined],
          ["NotFound", "ENOTDIR"]
        ]
      )
    }))

  it("maps EACCES and EPERM to `PermissionDenied` and EIO to `Failed`, and keeps the system's error code", () => {
    const reasons = ["EACCES", "EPERM", "EIO"].map((code) => {
      const { code: told, reason } = unreadable("secret", Object.assign(new Error(), { code }))
      return [reason, told]
    })
    assert.deepStrictEqual(reasons, [["PermissionDenied", "EACCES"], ["PermissionDenied", "EPERM"], ["Failed", "EIO"]])
    assert.strictEqual(unreadable("secret", "nothing known").code, undefined)
  })

  it.scopedLive("rejects names and media types that are empty or too long", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("a", Temporary.distinct(1))
      const check = (options: FileSource.Options) =>
        Effect.map(Effect.either(FileSource.fromPath(path, options)), (result) =>
          result._tag === "Right"
            ? "taken"
            : result.left._tag === "InvalidSource"
            ? result.left.field
            : result.left._tag)
      assert.strictEqual(yield* check({ name: "n".repeat(1024) }), "taken")
      assert.strictEqual(yield* check({ name: "n".repeat(1025) }), "name")
      assert.strictEqual(yield* check({ name: "\u{1f6a2}".repeat(1024) }), "taken")
      assert.strictEqual(yield* check({ name: "" }), "name")
      assert.strictEqual(yield* check({ mediaType: `m/${"m".repeat(253)}` }), "taken")
      assert.strictEqual(yield* check({ mediaType: `m/${"m".repeat(254)}` }), "mediaType")
      assert.strictEqual(yield* check({ mediaType: "" }), "mediaType")
    }))

  it.scopedLive("accepts an empty file as a source of size 0", () =>
    Effect.gen(function*() {
      const source = yield* FileSource.fromPath(yield* Temporary.file("empty", new Uint8Array(0)))
      assert.strictEqual(source.size, 0)
    }))
})

describe("the sections of a file", () => {
  it.effect.prop(
    "concatenate to the whole file for any size and partition, and all their bytes are observed",
    [partitioned],
    ([{ ranges, size }]) =>
      Effect.scoped(Effect.gen(function*() {
        const bytes = Temporary.distinct(size)
        const source = yield* FileSource.fromPath(yield* Temporary.file("any", bytes))
        const observed: Array<Uint8Array> = []
        const parts = yield* Effect.forEach(ranges, (range) =>
          read(source, range, { observe: (chunk) => observed.push(Uint8Array.from(chunk)) }))
        assert(Buffer.concat(parts).equals(bytes))
        assert(Buffer.concat(observed).equals(bytes))
      })),
    { fastCheck: { numRuns: runs(40) } }
  )

  it.scopedLive("give the same bytes to each of several concurrent attempts", () =>
    Effect.gen(function*() {
      const bytes = Temporary.distinct(3_000_001)
      const source = yield* FileSource.fromPath(yield* Temporary.file("any", bytes))
      const open = yield* source.open
      const section = yield* open.section({ offset: 5, length: 2_999_990 })
      const attempts = yield* Effect.all(
        Array.from({ length: 4 }, () =>
          Effect.flatMap(section.body(() => undefined), (body) => {
            assert(body._tag === "NativeBody")
            return Effect.promise(() => collect(body.content))
          })),
        { concurrency: "unbounded" }
      )
      for (const attempt of attempts) assert(attempt.equals(bytes.subarray(5, 2_999_995)))
    }))

  it.scopedLive("use only two buffers of about 1 MiB to read a range of 64 MiB", () =>
    Effect.gen(function*() {
      const source = yield* FileSource.fromPath(yield* Temporary.sparse("large", 64 * 1024 * 1024))
      const open = yield* source.open
      const body = yield* Effect.flatMap(
        open.section({ offset: 0, length: source.size }),
        (section) => section.body(() => undefined)
      )
      assert(body._tag === "NativeBody" && isAsyncIterable(body.content))
      const memory = new Set<ArrayBufferLike>()
      yield* Effect.promise(async () => {
        if (!isAsyncIterable(body.content)) return
        for await (const chunk of body.content) memory.add(chunk.buffer)
      })
      const held = [...memory].reduce((total, one) => total + one.byteLength, 0)
      assert.strictEqual(memory.size, 2)
      assert.strictEqual(held, 2 * (1024 * 1024 + 48))
    }))
})

const changes: ReadonlyArray<{
  readonly change: string
  readonly what: "size" | "modified" | "identity"
  readonly apply: (path: string) => Promise<void>
}> = [
  { change: "cut short", what: "size", apply: (path) => Fs.truncate(path, 1_500_000) },
  { change: "appended to", what: "size", apply: (path) => Fs.appendFile(path, "more") },
  {
    change: "overwritten in place with as many bytes",
    what: "modified",
    apply: async (path) => {
      const handle = await Fs.open(path, "r+")
      await handle.write("other", 0)
      await handle.close()
      await Fs.utimes(path, 1, 1)
    }
  },
  {
    change: "replaced by another of the same size and date",
    what: "identity",
    apply: async (path) => {
      const stats = await Fs.stat(path)
      await Fs.writeFile(`${path}.new`, Temporary.distinct(stats.size))
      await Fs.utimes(`${path}.new`, stats.atime, stats.mtime)
      await Fs.rename(`${path}.new`, path)
    }
  }
]

describe("a file that changes", () => {
  for (const { apply, change, what } of changes) {
    it.scopedLive(`fails to open with \`SourceChanged\` if it was ${change} after its source was made`, () =>
      Effect.gen(function*() {
        const path = yield* Temporary.file("changing", Temporary.distinct(3_000_000))
        const source = yield* FileSource.fromPath(path)
        yield* Effect.promise(() => apply(path))
        const error = yield* Effect.flip(Effect.scoped(source.open))
        assert(error._tag === "SourceChanged")
        assert.strictEqual(error.what, what)
      }))

    it.scopedLive(`fails \`unchanged\` with \`SourceChanged\` if it was ${change} while open`, () =>
      Effect.gen(function*() {
        const path = yield* Temporary.file("changing", Temporary.distinct(3_000_000))
        const open = yield* Effect.flatMap(FileSource.fromPath(path), (source) => source.open)
        yield* open.unchanged
        yield* Effect.promise(() => apply(path))
        const error = yield* Effect.flip(open.unchanged)
        assert(error._tag === "SourceChanged")
        assert.strictEqual(error.what, what)
      }))

    if (what === "identity") continue
    it.scopedLive(`fails \`readThrough\` with \`SourceChanged\` if it is ${change} meanwhile`, () =>
      Effect.gen(function*() {
        const path = yield* Temporary.file("changing", Temporary.distinct(5_000_000))
        const open = yield* Effect.flatMap(FileSource.fromPath(path), (source) => source.open)
        yield* Effect.promise(() => apply(path))
        const error = yield* Effect.flip(open.readThrough({ offset: 0, length: 5_000_000 }, () => undefined))
        assert(error._tag === "SourceChanged")
        assert.strictEqual(error.what, what)
      }))

    it.scopedLive(`fails a read with \`SourceChanged\` before all bytes are given if it is ${change} meanwhile`, () =>
      Effect.gen(function*() {
        const path = yield* Temporary.file("changing", Temporary.distinct(3_000_000))
        const source = yield* FileSource.fromPath(path)
        let given = 0
        let applied = false
        const error = yield* Effect.flip(
          read(source, { offset: 0, length: 3_000_000 }, {
            observe: (chunk) => {
              given += chunk.byteLength
            },
            betweenChunks: async () => {
              if (!applied) await apply(path)
              applied = true
            }
          })
        )
        assert(error instanceof Error && "_tag" in error && "what" in error)
        assert.strictEqual(error._tag, "SourceChanged")
        assert.strictEqual(error.what, what)
        assert.isBelow(given, 3_000_000)
      }))
  }

  it.scopedLive("is read even if its device number is longer by path than by handle, as on Windows", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("the same", Temporary.distinct(10))
      const stat = Fs.stat
      yield* OtherDisk.answering({
        stat: async (of: string) => {
          const stats = await stat(of, { bigint: true })
          return Object.assign(stats, { dev: (1n << 40n) | stats.dev })
        }
      })
      const source = yield* FileSource.fromPath(path)
      assert.strictEqual((yield* read(source)).byteLength, 10)
    }))

  it.scopedLive("fails `unchanged` with `SourceUnreadable` if it was deleted while open", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("gone", Temporary.distinct(10))
      const open = yield* Effect.flatMap(FileSource.fromPath(path), (source) => source.open)
      yield* Effect.promise(() => Fs.rm(path))
      const error = yield* Effect.flip(open.unchanged)
      assert(error._tag === "SourceUnreadable")
      assert.strictEqual(error.reason, "NotFound")
    }))
})

const handlesOn = (isWanted: (path: string) => boolean) =>
  Effect.promise(async () => {
    const handles = await Fs.readdir("/proc/self/fd")
    const paths = await Promise.all(handles.map((handle) => Fs.readlink(`/proc/self/fd/${handle}`).catch(() => "")))
    return paths.filter(isWanted).length
  })

describe("an open file", () => {
  it.scopedLive("shares one handle among its sections, and closes it with its scope even during a read", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.sparse("handled", 16 * 1024 * 1024)
      const source = yield* FileSource.fromPath(path)
      const handles = handlesOn((opened) => opened === path)
      assert.strictEqual(yield* handles, 0)
      yield* Effect.scoped(Effect.gen(function*() {
        const open = yield* source.open
        const iterators = yield* Effect.forEach([0, 8 * 1024 * 1024], (offset) =>
          Effect.map(
            Effect.flatMap(
              open.section({ offset, length: 8 * 1024 * 1024 }),
              (section) => section.body(() => undefined)
            ),
            (body) => {
              assert(body._tag === "NativeBody" && isAsyncIterable(body.content))
              return body.content[Symbol.asyncIterator]()
            }
          ))
        yield* Effect.promise(() => Promise.all(iterators.map((iterator) => iterator.next())))
        assert.strictEqual(yield* handles, 1)
      }))
      assert.strictEqual(yield* handles, 0)
    }))

  it.scopedLive("is read no further once a `readThrough` is interrupted", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.sparse("long", 64 * 1024 * 1024)
      const open = yield* Effect.flatMap(FileSource.fromPath(path), (source) => source.open)
      const begun = yield* Deferred.make<void>()
      let chunks = 0
      const reading = yield* Effect.fork(
        open.readThrough({ offset: 0, length: 64 * 1024 * 1024 }, () => {
          chunks += 1
          Deferred.unsafeDone(begun, Effect.void)
        })
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(reading)
      const then = chunks
      yield* Effect.sleep(200)
      // the one that the disk was already asked for
      assert.isAtMost(chunks, then + 1)
    }))
})

const tree = (root: string) =>
  Effect.promise(async () => {
    await Fs.mkdir(join(root, "b", "deep"), { recursive: true })
    await Fs.mkdir(join(root, "empty"))
    await Promise.all(["z.txt", "a.txt", "b/2.txt", "b/deep/3.mp4", "b/1.txt", "b.txt"].map((name) =>
      Fs.writeFile(join(root, name), name)
    ))
    await Fs.symlink(join(root, "a.txt"), join(root, "link"))
    await Fs.symlink(root, join(root, "b", "round"))
    execFileSync("mkfifo", [join(root, "pipe")])
  })

const collected = (root: string, options?: FileSource.DirectoryOptions) =>
  Effect.map(Stream.runCollect(FileSource.fromDirectory(root, options)), Chunk.toReadonlyArray)

const openedOr = (source: UploadSource) =>
  Effect.scoped(source.open).pipe(
    Effect.match({
      onFailure: (error) => error._tag === "SourceUnreadable" ? error.reason : error._tag,
      onSuccess: () => "a file"
    })
  )

describe("a folder", () => {
  it.scopedLive("does not follow a link that replaced one of its files or folders after it was listed", () =>
    Effect.gen(function*() {
      const root = yield* Temporary.directory
      yield* tree(root)
      const entries = Chunk.toReadonlyArray(
        yield* Stream.runCollect(FileSource.entriesOf(root, { recursive: true }))
      ).filter((entry) => entry._tag === "File")
      const elsewhere = yield* Temporary.directory
      yield* Effect.promise(async () => {
        await Fs.mkdir(join(elsewhere, "deep"))
        await Promise.all(["1.txt", "2.txt", "deep/3.mp4"].map((name) => Fs.writeFile(join(elsewhere, name), "secret")))
        await Fs.rm(join(root, "b"), { recursive: true })
        await Fs.symlink(elsewhere, join(root, "b"))
        await Fs.rm(join(root, "z.txt"))
        await Fs.symlink(join(elsewhere, "1.txt"), join(root, "z.txt"))
      })
      const found = yield* Effect.forEach(entries, (entry) =>
        Effect.match(FileSource.fromEntry(entry), {
          onFailure: (error) => [entry.name, error._tag === "SourceUnreadable" ? error.reason : error._tag],
          onSuccess: ({ name }) => [name, "a file"]
        }))
      assert.deepStrictEqual(found, [
        ["a.txt", "a file"],
        ["b/1.txt", "NotAFile"],
        ["b/2.txt", "NotAFile"],
        ["b/deep/3.mp4", "NotAFile"],
        ["b.txt", "a file"],
        ["z.txt", "NotAFile"]
      ])
    }))

  it.scopedLive("gives its files in order with relative paths, and only links and pipes fail", () =>
    Effect.gen(function*() {
      const root = yield* Temporary.directory
      yield* tree(root)
      const sources = yield* collected(root, { recursive: true })
      const seen = yield* Effect.forEach(
        sources,
        (source) => Effect.map(openedOr(source), (found) => [source.name, found])
      )
      assert.deepStrictEqual(seen, [
        ["a.txt", "a file"],
        ["b/1.txt", "a file"],
        ["b/2.txt", "a file"],
        ["b/deep/3.mp4", "a file"],
        ["b/round", "NotAFile"],
        ["b.txt", "a file"],
        ["link", "NotAFile"],
        ["pipe", "NotAFile"],
        ["z.txt", "a file"]
      ])
      const film = sources.find(({ name }) => name === "b/deep/3.mp4")
      assert.deepStrictEqual([film?.mediaType, film?.size], ["video/mp4", 12])
      assert.strictEqual((yield* Effect.flip(Effect.scoped(sources[4]?.open ?? Effect.never))).attempts, 1)
      const flat = yield* collected(root)
      assert.deepStrictEqual(flat.map(({ name }) => name), ["a.txt", "b.txt", "link", "pipe", "z.txt"])
    }))

  it.scopedLive("gives its other files even if one disappears or has a name that is too long", () =>
    Effect.gen(function*() {
      const root = yield* Temporary.directory
      const deep = Array.from({ length: 5 }, () => "d".repeat(210))
      yield* Effect.promise(async () => {
        await Fs.mkdir(join(root, ...deep), { recursive: true })
        await Fs.writeFile(join(root, ...deep, "file"), "x")
        await Fs.writeFile(join(root, "gone"), "x")
        await Fs.writeFile(join(root, "here"), "x")
      })
      const outcomes = yield* FileSource.fromDirectory(root, { recursive: true }).pipe(
        Stream.mapEffect((source) =>
          Effect.zipRight(
            Effect.promise(() => Fs.rm(join(root, "gone"), { force: true })),
            Effect.map(openedOr(source), (found) => [source.name.length, found])
          )
        ),
        Stream.runCollect
      )
      assert.deepStrictEqual(Chunk.toReadonlyArray(outcomes), [
        [5 * 211 + 4, "InvalidSource"],
        [4, "NotFound"],
        [4, "a file"]
      ])
    }))

  it.scopedLive("fails with `SourceUnreadable` if it does not exist, and gives nothing if it is empty", () =>
    Effect.gen(function*() {
      const root = yield* Temporary.directory
      const error = yield* Effect.flip(collected(join(root, "none")))
      assert(error._tag === "SourceUnreadable")
      assert.strictEqual(error.reason, "NotFound")
      assert.deepStrictEqual(yield* collected(root, { recursive: true }), [])
    }))
})

// other systems have no such names
describe.runIf(process.platform === "linux")("a file whose name is not valid UTF-8", () => {
  it.scopedLive("is refused for its name, alone and in a folder, instead of being missing", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const misnamed = Buffer.concat([Buffer.from(`${directory}/a`), Buffer.of(0xff), Buffer.from("b.txt")])
      yield* Effect.promise(() => Fs.writeFile(misnamed, "content"))
      const alone = yield* Effect.flip(FileSource.fromPath(`${directory}/a\ufffdb.txt`))
      const [source] = yield* Stream.runCollect(FileSource.fromDirectory(directory))
      assert(source !== undefined)
      const among = yield* Effect.flip(Effect.scoped(source.open))
      for (const error of [alone, among]) {
        assert.strictEqual(
          error.message,
          "The name of \"a\ufffdb.txt\" is invalid: expected valid UTF-8: rename the file."
        )
      }
    }))
})

describe("a spooled stream", () => {
  const bytes = Temporary.distinct(3_000_001)

  const chunked = (more: Stream.Stream<Uint8Array, unknown> = Stream.empty) =>
    Stream.concat(
      Stream.fromIterable(
        Array.from({ length: 31 }, (_, index) => bytes.subarray(index * 100_000, (index + 1) * 100_000))
      ),
      more
    )

  const entriesOf = (directory: string) => Effect.promise(() => Fs.readdir(directory))

  it.scopedLive("becomes a private file that can be read repeatedly and is deleted when its scope closes", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      yield* Effect.scoped(Effect.gen(function*() {
        let runs = 0
        const once = Stream.suspend(() => {
          runs++
          return chunked()
        })
        const source = yield* FileSource.spooled("film.mp4", once, { directory })
        assert.deepInclude({ ...source }, { name: "film.mp4", mediaType: "video/mp4", size: 3_000_001, held: false })
        const [name = ""] = yield* entriesOf(directory)
        const { mode } = yield* Effect.promise(() => Fs.stat(join(directory, name)))
        assert.strictEqual(mode & 0o777, 0o600)
        for (const offset of [0, 17]) {
          const content = yield* read(source, { offset, length: 3_000_001 - offset })
          assert(content.equals(bytes.subarray(offset)))
        }
        assert.strictEqual(runs, 1)
      }))
      assert.deepStrictEqual(yield* entriesOf(directory), [])
    }))

  it.scopedLive("leaves neither a file nor a handle when it fails, is too long or is interrupted, even before its scope closes", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const failed = yield* Effect.flip(
        FileSource.spooled("a", chunked(Stream.fail({ message: "with a secret", code: "ECONNRESET" })), { directory })
      )
      assert(failed._tag === "SourceUnreadable")
      assert.strictEqual(failed.code, "ECONNRESET")
      assert.notInclude(JSON.stringify(failed), "secret")
      assert.deepStrictEqual(yield* entriesOf(directory), [])

      const long = yield* Effect.flip(FileSource.spooled("a", chunked(), { directory, atMost: 3_000_000 }))
      assert.deepInclude({ ...long }, { _tag: "SizeExceeded", limit: 3_000_000 })
      assert.deepStrictEqual(yield* entriesOf(directory), [])

      const reached = yield* Deferred.make<void>()
      const endless = chunked(Stream.fromEffect(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)))
      const fiber = yield* Effect.fork(FileSource.spooled("a", endless, { directory }))
      yield* Deferred.await(reached)
      assert.lengthOf(yield* entriesOf(directory), 1)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* entriesOf(directory), [])
      assert.strictEqual(yield* handlesOn((path) => path.startsWith(directory)), 0)
    }))

  it.scopedLive("may have as many bytes as are accepted at most", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const source = yield* FileSource.spooled("a", chunked(), { directory, atMost: 3_000_001 })
      assert.strictEqual(source.size, 3_000_001)
    }))

  it.scopedLive("rejects an empty name and a missing directory before the stream runs", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      let runs = 0
      const counted = Stream.suspend(() => {
        runs++
        return chunked()
      })
      const noName = yield* Effect.flip(FileSource.spooled("", counted, { directory }))
      assert.strictEqual(noName._tag, "InvalidSource")
      const nowhere = yield* Effect.flip(FileSource.spooled("a", counted, { directory: join(directory, "none") }))
      assert.deepInclude({ ...nowhere }, {
        _tag: "SpoolUnwritable",
        directory: join(directory, "none"),
        code: "ENOENT"
      })
      assert.strictEqual(runs, 0)
    }))

  it.scopedLive("blames the directory of its file, not the stream, if that is full, and leaves nothing there", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const { open } = Fs
      yield* OtherDisk.answering({
        open: async (...args: Parameters<typeof open>) =>
          Object.assign(await open(...args), { writeFile: () => Promise.reject(OtherDisk.refusal("ENOSPC")) })
      })
      const full = yield* Effect.flip(FileSource.spooled("film.mp4", chunked(), { directory }))
      assert.deepInclude({ ...full }, { _tag: "SpoolUnwritable", fileName: "film.mp4", directory, code: "ENOSPC" })
      assert.include(full.message, `in ${JSON.stringify(directory)} (ENOSPC). Make room there`)
      assert.deepStrictEqual(yield* entriesOf(directory), [])
    }))

  it.scopedLive("removes what killed processes left a week ago, but nothing of a running one", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const { pid: dead } = spawnSync(process.execPath, ["--version"])
      const nameOf = (pid: number) => `stevedore-${pid}-${randomUUID()}.spool`
      const [gone, mine, running, recent] = [nameOf(dead), nameOf(process.pid), nameOf(process.ppid), nameOf(dead)]
      yield* Effect.promise(async () => {
        for (const name of [gone, mine, running, recent, "other.spool"]) await Fs.writeFile(join(directory, name), "a")
        const old = new Date(Date.now() - 8 * 24 * 3_600_000)
        for (const name of [gone, mine, running, "other.spool"]) await Fs.utimes(join(directory, name), old, old)
      })
      yield* Effect.scoped(FileSource.spooled("a", chunked(), { directory }))
      assert.sameMembers([...yield* entriesOf(directory)], [running, recent, "other.spool"])
    }))
})
