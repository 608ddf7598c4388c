import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Checksum, RetryPolicy } from "@stevedore/core"
import { NodeChecksum, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { Chunk, Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { gunzipSync, gzipSync } from "node:zlib"
import { crc32c } from "../../src/file/crc.js"
import * as ProcessIdentity from "../../src/file/processIdentity.js"
import * as ContentServer from "../support/contentServer.js"
import * as OtherDisk from "../support/otherDisk.js"
import * as StorageServer from "../support/storageServer.js"
import * as Temporary from "../support/temporary.js"

const MiB = 1024 * 1024

const bytes = Temporary.distinct(5 * MiB + 3)

const entries = (directory: string) => Effect.promise(() => Fs.readdir(directory))

const assertWhole = (path: string, expected: Buffer = bytes) =>
  Effect.map(
    Effect.promise(() => Fs.readFile(path)),
    (actual) => assert.isTrue(actual.equals(expected), "the file on disk is the file")
  )

const setting = (options: Partial<ContentServer.Settings> = {}) =>
  Effect.all({
    served: ContentServer.serve({ bytes, ...options }),
    directory: Temporary.directory
  })

describe("NodeDownloads.toFile", () => {
  for (const mode of ["content", "link"] as const) {
    for (const ranges of [true, false]) {
      it.scopedLive(`writes the whole file and leaves nothing else, in ${mode} mode, ranges: ${ranges}`, () =>
        Effect.gen(function*() {
          const { directory, served } = yield* setting({ mode, ranges })
          const path = join(directory, "file")
          const progress: Array<number> = []
          const sizes = new Set<number | undefined>()
          const file = yield* NodeDownloads.toFile("f1", path, {
            partSize: MiB,
            onProgress: (received, size) => {
              progress.push(received)
              sizes.add(Option.getOrUndefined(size))
            }
          }).pipe(Effect.provide(served.layer))
          assert.deepStrictEqual(file, {
            fileId: "f1",
            path,
            size: bytes.byteLength,
            etag: Option.some("\"one\""),
            checksum: Option.none()
          })
          yield* assertWhole(path)
          assert.deepStrictEqual(yield* entries(directory), ["file"])
          assert.strictEqual(progress.at(-1), bytes.byteLength)
          assert.deepStrictEqual([...sizes], [bytes.byteLength])
          assert.deepStrictEqual(progress, [...progress].sort((a, b) => a - b))
          assert.strictEqual(served.contents().length, ranges ? 6 : 1)
        }))
    }
  }

  it.scopedLive("writes an empty file, although storage has no valid range for it", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ bytes: Buffer.alloc(0) })
      for (const keep of [false, true]) {
        const path = join(directory, `file ${keep}`)
        const { size } = yield* NodeDownloads.toFile("f1", path, { keep, size: 0 }).pipe(Effect.provide(served.layer))
        assert.strictEqual(size, 0)
        yield* assertWhole(path, Buffer.alloc(0))
      }
      assert.lengthOf(yield* entries(directory), 2)
    }))

  it.scopedLive("does not list all ranges in memory, even if storage reports 10^15 bytes and partSize is 1", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const server = yield* StorageServer.serve(({ received, response }) => {
        if (received.headers.range !== "bytes=0-0") return void response.writeHead(404).end()
        const headers = { etag: "\"one\"", "content-range": "bytes 0-0/999999999999999", "content-length": 1 }
        response.writeHead(206, headers).end("a")
      })
      const error = yield* Effect.flip(NodeDownloads.toFile("f1", join(directory, "file"), { partSize: 1 })).pipe(
        Effect.provide(
          NodeStevedore.layer({ baseUrl: server.origin, token: Redacted.make("api.secret"), ledger: false })
        )
      )
      assert.strictEqual(error._tag, "NotFound")
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("writes the whole file if every second response is cut off", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ cut: (answer) => answer % 2 === 0 ? 300_000 : undefined })
      const path = join(directory, "file")
      yield* NodeDownloads.toFile("f1", path, { partSize: MiB }).pipe(Effect.provide(served.layer))
      yield* assertWhole(path)
    }))

  for (const [partSize, ranges] of [[Number.NaN, 1], [Infinity, 1], [MiB + 0.5, 6]] as const) {
    it.scopedLive(`writes the whole file in valid ranges if partSize is ${partSize}`, () =>
      Effect.gen(function*() {
        const { directory, served } = yield* setting({})
        const path = join(directory, "file")
        yield* NodeDownloads.toFile("f1", path, { partSize }).pipe(Effect.provide(served.layer))
        yield* assertWhole(path)
        assert.strictEqual(served.contents().length, ranges)
      }))
  }

  it.scopedLive("has no file under the name while it downloads, and leaves nothing after a failure", () =>
    Effect.gen(function*() {
      const names: Array<ReadonlyArray<string>> = []
      const directory = yield* Temporary.directory
      const served = yield* ContentServer.serve({
        bytes,
        before: async () => {
          names.push(await Fs.readdir(directory))
        },
        cut: (answer) => answer >= 3 ? 0 : undefined
      })
      const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB, concurrency: 1 }).pipe(
        Effect.flip,
        Effect.provide(served.layer)
      )
      assert.strictEqual(error._tag, "ConnectionFailed")
      assert.isAbove(names.length, 3)
      for (const seen of names) assert.notInclude(seen, "file")
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("fails if all ranges but the first lose their connections, however many could take over another's", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({
        before: (answer, socket) => {
          if (answer > 0) socket.destroy()
        }
      })
      const download = NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB, concurrency: 4 })
      const error = yield* Effect.flip(Effect.provide(download, served.layer))
      assert.strictEqual(error._tag, "ConnectionFailed")
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("fails if a range never gets a connection and no other is left to take it over", () =>
    Effect.gen(function*() {
      let here = 0
      const directory = yield* Temporary.directory
      const served = yield* ContentServer.serve({
        bytes: bytes.subarray(0, 2 * MiB),
        before: async (answer, socket) => {
          if (answer === 0) return
          while (here < MiB) await setImmediate()
          await sleep(50)
          socket.destroy()
        }
      })
      const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), {
        partSize: MiB,
        concurrency: 2,
        onProgress: (received) => {
          here = received
        }
      }).pipe(Effect.flip, Effect.provide(served.layer))
      assert.strictEqual(error._tag, "ConnectionFailed")
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("leaves nothing when it is interrupted, and settles within 2 seconds", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ before: (answer) => answer < 2 ? undefined : sleep(60_000) })
      const fiber = yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB }).pipe(
        Effect.provide(served.layer),
        Effect.fork
      )
      yield* Effect.promise(async () => {
        for (let turn = 0; turn < 500 && served.contents().length < 3; turn++) await sleep(5)
      })
      assert.strictEqual((yield* entries(directory)).length, 1)
      yield* Fiber.interrupt(fiber).pipe(Effect.timeout("2 seconds"))
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("does not change an existing file unless overwrite is set", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const path = join(directory, "file")
      yield* Effect.promise(() => Fs.writeFile(path, "mine"))
      const error = yield* NodeDownloads.toFile("f1", path).pipe(Effect.flip, Effect.provide(served.layer))
      assert.strictEqual(error._tag, "TargetExists")
      assert.strictEqual(served.server.requests.length, 0)
      yield* assertWhole(path, Buffer.from("mine"))
      yield* NodeDownloads.toFile("f1", path, { overwrite: true }).pipe(Effect.provide(served.layer))
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("checkTarget says what toFile would, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      yield* Effect.promise(() => Fs.writeFile(join(directory, "there"), "mine"))
      for (const [path, overwrite] of [["there", false], ["none/file", true], [".", true], ["", true]] as const) {
        const target = join(directory, path)
        const early = yield* Effect.flip(NodeDownloads.checkTarget(target, { overwrite }))
        const late = yield* NodeDownloads.toFile("f1", target, { overwrite }).pipe(
          Effect.flip,
          Effect.provide(served.layer)
        )
        assert.deepStrictEqual([early._tag, early.message], [late._tag, late.message])
      }
      assert.strictEqual(served.server.requests.length, 0)
      yield* NodeDownloads.checkTarget(join(directory, "there"), { overwrite: true })
      yield* NodeDownloads.checkTarget(join(directory, "file"))
      assert.deepStrictEqual(yield* entries(directory), ["there"])
    }))

  it.scopedLive.skipIf(process.platform === "win32")(
    "keeps the mode of a file it overwrites, and gives others no access to the unfinished file",
    () =>
      Effect.gen(function*() {
        const modes: Array<number> = []
        const modeOf = async (path: string) => (await Fs.stat(path)).mode & 0o777
        const directory = yield* Temporary.directory
        const served = yield* ContentServer.serve({
          bytes,
          before: async () => {
            const parts = (await Fs.readdir(directory)).filter((name) => name.endsWith(".part"))
            for (const name of parts) modes.push(await modeOf(join(directory, name)))
          }
        })
        const path = join(directory, "file")
        for (const keep of [false, true]) {
          yield* Effect.promise(() => Fs.writeFile(path, "before").then(() => Fs.chmod(path, 0o640)))
          yield* NodeDownloads.toFile("f1", path, { overwrite: true, keep, partSize: MiB }).pipe(
            Effect.provide(served.layer)
          )
          yield* assertWhole(path)
          assert.strictEqual(yield* Effect.promise(() => modeOf(path)), 0o640)
        }
        assert.isAbove(modes.length, 2)
        assert.isTrue(modes.every((mode) => (mode & 0o007) === 0))
      })
  )

  it.scopedLive("does not overwrite a file that appears while it downloads", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const served = yield* ContentServer.serve({
        bytes,
        before: () => Fs.writeFile(join(directory, "file"), "another's")
      })
      const path = join(directory, "file")
      const error = yield* NodeDownloads.toFile("f1", path).pipe(Effect.flip, Effect.provide(served.layer))
      assert.strictEqual(error._tag, "TargetExists")
      yield* assertWhole(path, Buffer.from("another's"))
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("fails with TargetUnwritable and the path, without a request, if the directory is missing", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const path = join(directory, "none", "file")
      for (const keep of [false, true]) {
        const missing = yield* NodeDownloads.toFile("f1", path, { keep }).pipe(
          Effect.flip,
          Effect.provide(served.layer)
        )
        assert(missing._tag === "TargetUnwritable")
        assert.deepStrictEqual([missing.path, missing.code], [path, "ENOENT"])
      }
      assert.strictEqual(served.server.requests.length, 0)
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive.skipIf(process.platform === "win32")(
    "fails with TargetUnwritable, without a request, if the path is a directory, a pipe or a link to a pipe",
    () =>
      Effect.gen(function*() {
        const { directory, served } = yield* setting()
        const inPlace = (name: string) => join(directory, name)
        yield* Effect.promise(async () => {
          await Fs.mkdir(inPlace("folder"))
          execFileSync("mkfifo", [inPlace("pipe")])
          await Fs.symlink("pipe", inPlace("link"))
        })
        const places = [["folder", "Directory"], ["pipe", "NotAFile"], ["link", "NotAFile"]] as const
        for (const overwrite of [false, true]) {
          for (const [name, occupied] of places) {
            const error = yield* NodeDownloads.toFile("f1", inPlace(name), { overwrite }).pipe(
              Effect.flip,
              Effect.provide(served.layer)
            )
            assert(error._tag === "TargetUnwritable")
            assert.strictEqual(error.occupied, occupied)
            assert.match(error.message, /was not changed/)
          }
        }
        assert.strictEqual(served.server.requests.length, 0)
        assert.sameMembers(yield* entries(directory), ["folder", "pipe", "link"])
      })
  )

  it.scopedLive("fails with TargetUnwritable, without a request, if the path cannot name a file", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      yield* Effect.promise(() => Fs.writeFile(join(directory, "other"), "other"))
      const names = ["", `${directory}/none/`, `${directory}/other/`, join(directory, "x".repeat(300))]
      for (const path of names) {
        for (const overwrite of [false, true]) {
          const error = yield* NodeDownloads.toFile("f1", path, { overwrite }).pipe(
            Effect.flip,
            Effect.provide(served.layer)
          )
          assert(error._tag === "TargetUnwritable")
          assert.strictEqual(error.path, path)
        }
      }
      assert.strictEqual(served.server.requests.length, 0)
      assert.deepStrictEqual(yield* entries(directory), ["other"])
    }))

  it.scopedLive("fails with DownloadIncomplete if the size is not the expected one", () =>
    Effect.gen(function*() {
      for (const ranges of [true, false]) {
        const { directory, served } = yield* setting({ ranges })
        const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { size: 17 }).pipe(
          Effect.flip,
          Effect.provide(served.layer)
        )
        assert(error._tag === "DownloadIncomplete")
        assert.deepStrictEqual([error.expected, error.received], [17, bytes.byteLength])
        assert.deepStrictEqual(yield* entries(directory), [])
      }
    }))

  it.scopedLive("writes no byte beyond the known size, however many storage sends without a length", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      let sent = 0
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { connection: "close" })
        const more = () => {
          if (sent > 200 * MiB || response.destroyed) return void response.end()
          sent += MiB
          response.write(Buffer.alloc(MiB), more)
        }
        more()
      })
      let largest = 0
      const { open } = Fs
      yield* OtherDisk.answering({
        open: async (...args: Parameters<typeof open>) => {
          const handle = await open(...args)
          const write = handle.write.bind(handle)
          return Object.assign(handle, {
            write: (bytes: Uint8Array, offset: number, length: number, position: number) => {
              largest = Math.max(largest, position + length)
              return write(bytes, offset, length, position)
            }
          })
        }
      })
      const layer = NodeStevedore.layer({ baseUrl: server.origin, token: Redacted.make("api.secret"), ledger: false })
      for (const keep of [false, true]) {
        const error = yield* Effect.flip(NodeDownloads.toFile("f1", join(directory, "file"), { size: 5, keep })).pipe(
          Effect.provide(Layer.provide(layer, RetryPolicy.layer({ attempts: 1 })))
        )
        assert(error._tag === "DownloadIncomplete")
        assert.strictEqual(error.expected, 5)
        assert.deepStrictEqual(yield* entries(directory), [])
      }
      assert.isAtMost(largest, 5)
      assert.isBelow(sent, 100 * MiB)
    }))

  it.scopedLive("fails with DownloadIncomplete if the file is of another size by the time it is requested whole", () =>
    Effect.gen(function*() {
      // its ranges prove nothing of one another, so it is requested once more
      const { directory, served } = yield* setting({
        etag: "W/\"one\"",
        before: (answer) => {
          if (answer === 1) served.settings.bytes = bytes.subarray(1)
        }
      })
      const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { size: bytes.byteLength }).pipe(
        Effect.flip,
        Effect.provide(served.layer)
      )
      assert(error._tag === "DownloadIncomplete")
      assert.deepStrictEqual([error.expected, error.received], [bytes.byteLength, bytes.byteLength - 1])
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive.each([
    { before: "the size of its range", ranges: true, size: undefined },
    { before: "the expected size", ranges: false, size: bytes.byteLength }
  ])(
    "fails with DownloadIncomplete if the whole comes without a length, and ends before $before",
    ({ ranges, size }) =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const server = yield* StorageServer.serve(({ received, response, socket }) => {
          if (received.headers.range === undefined || !ranges) {
            socket.end(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), bytes.subarray(0, MiB)]))
          } else {
            response.writeHead(206, {
              "content-length": MiB,
              "content-range": `bytes 0-${MiB - 1}/${bytes.byteLength}`
            }).end(bytes.subarray(0, MiB))
          }
        })
        const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB, size }).pipe(
          Effect.flip,
          Effect.provide(
            NodeStevedore.layer({ baseUrl: server.origin, token: Redacted.make("api.secret"), ledger: false })
          )
        )
        assert(error._tag === "DownloadIncomplete")
        assert.deepStrictEqual([error.expected, error.received], [bytes.byteLength, MiB])
        assert.deepStrictEqual(yield* entries(directory), [])
      })
  )

  /** A server behind a network that allows one connection at a time, and the ranges it was asked for. */
  const overOneConnection = Effect.gen(function*() {
    const seen = { most: 0, ranges: Array.of<string>() }
    let answering = 0
    const server = yield* StorageServer.serve(async ({ received, response, socket }) => {
      const range = received.headers.range ?? ""
      seen.ranges.push(range)
      if (answering === 1) return void socket.resetAndDestroy()
      seen.most = Math.max(seen.most, ++answering)
      const [, first = "", last = ""] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
      const content = bytes.subarray(Number(first), Number(last) + 1)
      response.writeHead(206, {
        etag: "\"one\"",
        "content-length": content.byteLength,
        "content-range": `bytes ${first}-${last}/${bytes.byteLength}`
      }).flushHeaders()
      await sleep(100)
      answering--
      response.end(content)
    })
    const layer = (policy: Layer.Layer<never>) =>
      Layer.provide(
        NodeStevedore.layer({ baseUrl: server.origin, token: Redacted.make("api.secret"), ledger: false }),
        policy
      )
    return { seen, layer }
  })

  it.scopedLive("writes the whole file over the one connection that the network allows", () =>
    Effect.gen(function*() {
      const { layer, seen } = yield* overOneConnection
      const path = join(yield* Temporary.directory, "file")
      yield* NodeDownloads.toFile("f1", path, { partSize: MiB }).pipe(
        Effect.provide(layer(RetryPolicy.layer({ attempts: 2, base: "1 millis" })))
      )
      yield* assertWhole(path)
      assert.strictEqual(seen.most, 1)
    }))

  it.scopedLive("requests no range again under a policy without retries, not even over another connection", () =>
    Effect.gen(function*() {
      const { layer, seen } = yield* overOneConnection
      const directory = yield* Temporary.directory
      const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB }).pipe(
        Effect.flip,
        Effect.provide(layer(RetryPolicy.none))
      )
      assert(error._tag === "ConnectionFailed")
      assert.strictEqual(error.attempts, 1)
      assert.deepStrictEqual(seen.ranges, [...new Set(seen.ranges)])
      assert.deepStrictEqual(yield* entries(directory), [])
    }))
})

describe("NodeDownloads.toFile of a file stored with a content encoding", () => {
  const stored = gzipSync(Buffer.from("a line of text that compresses well\n".repeat(100_000)))
  const plain = gunzipSync(stored)
  const encoded = (options: Partial<ContentServer.Settings> = {}) =>
    setting({ bytes: stored, told: { "content-encoding": "gzip" }, ...options })

  for (const mode of ["content", "link"] as const) {
    it.scopedLive(`writes the stored bytes undecoded, in ranges and after a cut response, in ${mode} mode`, () =>
      Effect.gen(function*() {
        const { directory, served } = yield* encoded({ mode, cut: (answer) => answer === 1 ? 100 : undefined })
        const path = join(directory, "file")
        const file = yield* NodeDownloads.toFile("f1", path, { partSize: 4096 }).pipe(Effect.provide(served.layer))
        assert.deepInclude(file, { size: stored.byteLength, etag: Option.some("\"one\"") })
        yield* assertWhole(path, stored)
        assert.strictEqual(served.contents().length, Math.ceil(stored.byteLength / 4096) + 1)
      }))

    it.scopedLive(`over fetch, writes the whole decoded file or fails with ConnectionFailed, in ${mode} mode`, () =>
      Effect.gen(function*() {
        for (const cut of [undefined, stored.byteLength - 2000]) {
          const { directory, served } = yield* encoded({ mode, cut: () => cut })
          const path = join(directory, "file")
          const result = yield* Effect.either(
            NodeDownloads.toFile("f1", path).pipe(Effect.provide(served.layerOver(FetchHttpClient.layer)))
          )
          if (cut === undefined) yield* assertWhole(path, plain)
          else assert(result._tag === "Left" && result.left._tag === "ConnectionFailed")
        }
      }))
  }
})

const checksums = [NodeChecksum.crc32, Checksum.crc64nvme, NodeChecksum.sha256, crc32c].map((algorithm) =>
  Checksum.ofBytes(algorithm, bytes)
)

const flipped = (content: Buffer) => {
  const copy = Buffer.from(content)
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1)
  return copy
}

describe("NodeDownloads.toFile with checksums", () => {
  for (const ranges of [true, false]) {
    it.scopedLive(`accepts a file that matches its checksum, after a cut response, ranges: ${ranges}`, () =>
      Effect.gen(function*() {
        for (const checksum of checksums) {
          const { directory, served } = yield* setting({
            ranges,
            cut: (answer) => answer === 1 ? 300_000 : undefined
          })
          const path = join(directory, "file")
          const file = yield* NodeDownloads.toFile("f1", path, { partSize: MiB, checksum }).pipe(
            Effect.provide(served.layer)
          )
          assert.deepStrictEqual(file.checksum, Option.some(checksum))
          yield* assertWhole(path)
        }
      }))

    it.scopedLive(`fails with DownloadCorrupted and leaves nothing if one bit differs, ranges: ${ranges}`, () =>
      Effect.gen(function*() {
        for (const checksum of checksums) {
          for (const keep of [true, false]) {
            const { directory, served } = yield* setting({
              ranges,
              damage: (answer, content) => answer === (ranges ? 3 : 0) ? flipped(content) : content
            })
            const path = join(directory, "file")
            const download = NodeDownloads.toFile("f1", path, { partSize: MiB, checksum, keep }).pipe(
              Effect.provide(served.layer)
            )
            const error = yield* Effect.flip(download)
            assert(error._tag === "DownloadCorrupted")
            assert.deepStrictEqual([error.algorithm, error.expected], [checksum.algorithm, checksum.value])
            assert.notStrictEqual(error.received, checksum.value)
            assert.deepStrictEqual(yield* entries(directory), [])
            served.settings.damage = (_, content) => content
            yield* download
            yield* assertWhole(path)
          }
        }
      }))
  }

  it.scopedLive("also hashes the bytes an earlier download kept, and fetches again what was damaged on disk", () =>
    Effect.gen(function*() {
      for (const spoilt of [false, true]) {
        const { directory, served } = yield* setting({ cut: (answer) => answer >= 3 && answer < 9 ? 0 : undefined })
        const path = join(directory, "file")
        const [checksum] = checksums
        const download = NodeDownloads.toFile("f1", path, { partSize: MiB, keep: true, concurrency: 1, checksum }).pipe(
          Effect.provide(served.layer)
        )
        assert.strictEqual((yield* Effect.flip(download))._tag, "ConnectionFailed")
        served.settings.cut = () => undefined
        if (spoilt) {
          const part = (yield* entries(directory)).find((name) => name.endsWith(".part")) ?? ""
          yield* Effect.promise(async () => {
            const handle = await Fs.open(join(directory, part), "r+")
            await handle.write("damage", 100)
            await handle.close()
          })
        }
        assert.deepStrictEqual((yield* download).checksum, Option.fromNullable(checksum))
        yield* assertWhole(path)
      }
    }))

  it.scopedLive("compares with storage's checksum of the whole file, not with one of a range or a composite one", () =>
    Effect.gen(function*() {
      const told = (headers: Readonly<Record<string, string>>, ranges = false) =>
        Effect.gen(function*() {
          const { directory, served } = yield* setting({ ranges, told: headers })
          return yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB }).pipe(
            Effect.provide(served.layer),
            Effect.match({
              onFailure: ({ _tag }) => _tag,
              onSuccess: ({ checksum }) => Option.getOrUndefined(checksum)?.value
            })
          )
        })
      for (const algorithm of [NodeChecksum.crc32, crc32c]) {
        const header = `x-amz-checksum-${algorithm.name}`
        const { value } = Checksum.ofBytes(algorithm, bytes)
        const other = Checksum.ofBytes(algorithm, Buffer.from("other")).value
        assert.strictEqual(yield* told({ [header]: value, "x-amz-checksum-type": "FULL_OBJECT" }), value)
        assert.strictEqual(yield* told({ [header]: other }), "DownloadCorrupted")
        assert.strictEqual(yield* told({ [header]: `${other}-3` }), undefined)
        assert.strictEqual(yield* told({ [header]: other, "x-amz-checksum-type": "COMPOSITE" }), undefined)
        assert.strictEqual(yield* told({ [header]: other }, true), undefined)
      }
      assert.strictEqual(yield* told({ "x-amz-checksum-unknown": "AAAAAA==" }), undefined)
    }))

  it.scopedLive("rejects a checksum with an unsupported algorithm or an invalid value, without a request", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const refused = (checksum: Checksum.Checksum) =>
        NodeDownloads.toFile("f1", join(directory, "file"), { checksum }).pipe(
          Effect.flip,
          Effect.map((error) => error._tag === "InvalidChecksum" ? error.problem : error._tag),
          Effect.provide(served.layer)
        )
      const value = checksums[0]?.value ?? ""
      assert.strictEqual(yield* refused({ algorithm: "unknown", value }), "algorithm")
      for (const wrong of [`${value}-3`, "AAAA", "no checksum", checksums[2]?.value ?? ""]) {
        assert.strictEqual(yield* refused({ algorithm: "crc32", value: wrong }), "value")
      }
      assert.strictEqual(served.server.requests.length, 0)
    }))
})

/** Closed until somebody opens it. */
const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe("what killed downloads left in a directory", () => {
  it.scopedLive("is removed a day later, except what can be continued from or is of a running process", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const { pid: dead } = spawnSync(process.execPath, ["--version"])
      const partOf = (own: string) => `.stevedore-${own}.part`
      // as where the system does not tell when a process started: the time of the file is when its owner showed itself
      const lockOf = (pid: number) => JSON.stringify({ pid, taking: "t" })
      const { own } = yield* Effect.flatMap(FileSystem.FileSystem, ProcessIdentity.make)
      const running = JSON.stringify({ ...yield* own, taking: "t" })
      const keptOf = (digit: string) => partOf(digit.repeat(24))
      const left: ReadonlyArray<readonly [string, string]> = [
        [partOf(`1k2-${dead}`), "a"],
        // in a container, the killed process had the same number
        [partOf(`1k3-${process.pid}`), "a"],
        [keptOf("1"), "without a journal"],
        [`${keptOf("1")}.lock`, lockOf(dead)],
        [`${keptOf("2")}.lock`, lockOf(dead)],
        [`${keptOf("3")}.json.new`, "{"],
        [`${keptOf("3")}.00000000-0000-4000-8000-000000000000`, lockOf(dead)],
        [keptOf("4"), "already linked to its target"],
        [`${keptOf("4")}.json`, "{}"],
        [`${keptOf("4")}.lock`, lockOf(dead)],
        // the number of the killed process is that of another one by now
        [keptOf("8"), "silent for a day"],
        [`${keptOf("8")}.lock`, lockOf(process.ppid)]
      ]
      const stays: ReadonlyArray<readonly [string, string]> = [
        [partOf(`1k2-${process.ppid}`), "a"],
        [keptOf("5"), "kept"],
        [`${keptOf("5")}.json`, "{}"],
        [keptOf("6"), "running"],
        [`${keptOf("6")}.lock`, running],
        [keptOf("9"), "running"],
        [".stevedore-notes.part", "mine"]
      ]
      const recent: ReadonlyArray<readonly [string, string]> = [
        [partOf(`1k4-${dead}`), "a"],
        [keptOf("7"), "a"],
        [`${keptOf("9")}.lock`, lockOf(process.ppid)]
      ]
      yield* Effect.promise(async () => {
        const old = new Date(Date.now() - 25 * 3_600_000)
        for (const [name, content] of [...left, ...stays]) {
          await Fs.writeFile(join(directory, name), content)
          await Fs.utimes(join(directory, name), old, old)
        }
        for (const [name, content] of recent) await Fs.writeFile(join(directory, name), content)
        await Fs.link(join(directory, keptOf("4")), join(directory, "linked"))
      })
      yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB }).pipe(Effect.provide(served.layer))
      const names = [...recent, ...stays].map(([name]) => name)
      assert.sameMembers(yield* entries(directory), ["file", "linked", ...names])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("NodeDownloads.toFile with keep", () => {
  const failing = (answer: number) => answer >= 3 && answer < 9 ? 0 : undefined

  /** A download that was cut when some of its parts had come, and what goes on with it. */
  const cutInTheMiddle = (more: { readonly conditions?: boolean } = {}) =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ cut: failing, ...more })
      const path = join(directory, "file")
      const download = NodeDownloads.toFile("f1", path, { partSize: MiB, keep: true, concurrency: 1 }).pipe(
        Effect.provide(served.layer)
      )
      yield* Effect.flip(download)
      const part = (yield* entries(directory)).find((name) => name.endsWith(".part")) ?? ""
      return { directory, download, part, path, served }
    })

  it.scopedLive("requests only the missing ranges, with If-Match, when it resumes, counts what was kept, and leaves only the file", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ cut: failing })
      const path = join(directory, "file")
      const progress: Array<number> = []
      const download = NodeDownloads.toFile("f1", path, {
        partSize: MiB,
        keep: true,
        concurrency: 1,
        onProgress: (received) => progress.push(received)
      }).pipe(Effect.provide(served.layer))
      assert.strictEqual((yield* Effect.flip(download))._tag, "ConnectionFailed")
      assert.strictEqual((yield* entries(directory)).length, 2)
      served.settings.cut = () => undefined
      const before = served.contents().length
      progress.length = 0
      yield* download
      // what was kept counts from the start
      assert.isAbove(progress[0] ?? 0, 2 * MiB)
      assert.strictEqual(progress.at(-1), bytes.byteLength)
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
      const ranges = served.contents().slice(before).map(({ headers }) => [headers.range, headers["if-match"]])
      assert.deepStrictEqual(
        ranges,
        [2, 3, 4, 5].map((part) => [
          `bytes=${part * MiB}-${Math.min((part + 1) * MiB, bytes.byteLength) - 1}`,
          "\"one\""
        ])
      )
    }))

  it.scopedLive.skipIf(process.geteuid?.() !== 0)(
    "starts over if another user owns the kept files",
    () =>
      Effect.gen(function*() {
        const { directory, download, path, served } = yield* cutInTheMiddle()
        for (const name of yield* entries(directory)) {
          yield* Effect.promise(() => Fs.chown(join(directory, name), 4242, 0))
        }
        served.settings.cut = () => undefined
        const before = served.contents().length
        yield* download
        yield* assertWhole(path)
        assert.strictEqual(served.contents()[before]?.headers.range, `bytes=0-${MiB - 1}`)
        assert.deepStrictEqual(yield* entries(directory), ["file"])
      })
  )

  it.scopedLive("resumes on a disk that records another user id for new files, as a network disk may", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const { geteuid } = process
          Object.assign(process, { geteuid: () => 4242 })
          return geteuid
        }),
        (geteuid) => Effect.sync(() => void Object.assign(process, { geteuid }))
      )
      const { directory, download, path, served } = yield* cutInTheMiddle()
      served.settings.cut = () => undefined
      const before = served.contents().length
      yield* download
      yield* assertWhole(path)
      assert.strictEqual(served.contents()[before]?.headers.range, `bytes=${2 * MiB}-${3 * MiB - 1}`)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("does not take a network's sign-in page for the rest, nor for the file: what was kept stays", () =>
    Effect.gen(function*() {
      const { directory, download, path, served } = yield* cutInTheMiddle()
      const kept = yield* entries(directory)
      const portal = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>Sign in")
      })
      const error = yield* NodeDownloads.toFile("f1", path, { partSize: MiB, keep: true }).pipe(
        Effect.provide(NodeStevedore.layer({ baseUrl: portal.origin, token: Redacted.make("api.secret") })),
        Effect.flip
      )
      assert.strictEqual(error._tag, "SourceChanged")
      assert.deepStrictEqual(yield* entries(directory), kept)
      served.settings.cut = () => undefined
      const before = served.contents().length
      yield* download
      yield* assertWhole(path)
      assert.strictEqual(served.contents()[before]?.headers.range, `bytes=${2 * MiB}-${3 * MiB - 1}`)
    }))

  it.scopedLive("continues with what was kept after a single sign-in page in place of the rest", () =>
    Effect.gen(function*() {
      const { directory, download, path, served } = yield* cutInTheMiddle()
      const before = served.contents().length
      served.settings.cut = () => undefined
      served.settings.page = (answer) => answer === before
      yield* download
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
      assert.deepStrictEqual(
        served.contents().slice(before).map(({ headers }) => headers.range?.split("-")[0]),
        [2, 0, 2, 3, 4, 5].map((part) => `bytes=${part * MiB}`)
      )
    }))

  it.scopedLive("requests the whole only once if storage has no ranges any more, after a single sign-in page", () =>
    Effect.gen(function*() {
      const { directory, download, path, served } = yield* cutInTheMiddle()
      const before = served.contents().length
      Object.assign(served.settings, {
        cut: () => undefined,
        ranges: false,
        page: (answer: number) => answer === before
      })
      yield* download
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
      assert.lengthOf(served.contents(), before + 2)
    }))

  // a bad block, a device that lies about what it synced, or another program
  const damages = {
    "zeroed": (part: Fs.FileHandle) => part.write(Buffer.alloc(MiB), 0, MiB, 0),
    "flipped in one bit": async (part: Fs.FileHandle) => {
      const byte = Buffer.alloc(1)
      await part.read(byte, 0, 1, MiB - 1)
      byte[0] = (byte[0] ?? 0) ^ 1
      await part.write(byte, 0, 1, MiB - 1)
    },
    "torn": (part: Fs.FileHandle) => part.write(Buffer.alloc(MiB - 512), 0, MiB - 512, 512),
    "cut off with all that follows": (part: Fs.FileHandle) => part.truncate(10),
    "swapped with the next": async (part: Fs.FileHandle) => {
      const both = Buffer.alloc(2 * MiB)
      await part.read(both, 0, 2 * MiB, 0)
      await part.write(both, MiB, MiB, 0)
      await part.write(both, 0, MiB, MiB)
    }
  }

  for (const [damage, apply] of Object.entries(damages)) {
    it.scopedLive(`fetches a kept part again that was ${damage}, and not the others`, () =>
      Effect.gen(function*() {
        const { directory, download, part, path, served } = yield* cutInTheMiddle()
        yield* Effect.promise(async () => {
          const handle = await Fs.open(join(directory, part), "r+")
          await apply(handle)
          await handle.close()
        })
        served.settings.cut = () => undefined
        const before = served.contents().length
        yield* download
        yield* assertWhole(path)
        const again = served.contents().slice(before).map(({ headers }) => headers.range)
        assert.include(again, `bytes=0-${MiB - 1}`)
        assert.lengthOf(new Set(again), 5 + (damage.startsWith("cut") || damage.startsWith("swapped") ? 1 : 0))
        assert.deepStrictEqual(yield* entries(directory), ["file"])
      }))
  }

  it.scopedLive("believes a journal that has no checksums, and proves its parts from then on", () =>
    Effect.gen(function*() {
      const { directory, download, part, path, served } = yield* cutInTheMiddle()
      const journal = join(directory, `${part}.json`)
      const { crc32, ...old } = JSON.parse(yield* Effect.promise(() => Fs.readFile(journal, "utf8")))
      assert.lengthOf(crc32, old.parts.length)
      yield* Effect.promise(() => Fs.writeFile(journal, JSON.stringify(old)))
      served.settings.cut = (answer) => answer === served.contents().length - 1 && answer > 10 ? 0 : undefined
      const before = served.contents().length
      yield* Effect.either(download)
      served.settings.cut = () => undefined
      yield* Effect.either(download)
      yield* assertWhole(path)
      assert.notInclude(served.contents().slice(before).map(({ headers }) => headers.range), `bytes=0-${MiB - 1}`)
    }))

  it.scopedLive("does not believe a journal with other than one checksum for each part", () =>
    Effect.gen(function*() {
      const { directory, download, part, path, served } = yield* cutInTheMiddle()
      const journal = join(directory, `${part}.json`)
      const found = JSON.parse(yield* Effect.promise(() => Fs.readFile(journal, "utf8")))
      yield* Effect.promise(() => Fs.writeFile(journal, JSON.stringify({ ...found, crc32: [1] })))
      served.settings.cut = () => undefined
      const before = served.contents().length
      yield* download
      yield* assertWhole(path)
      assert.strictEqual(served.contents()[before]?.headers.range, `bytes=0-${MiB - 1}`)
    }))

  it.scopedLive("writes the correct file if the etag changed, the journal is invalid or the part's size is wrong", () =>
    Effect.gen(function*() {
      for (const spoil of ["etag", "journal", "less", "more"] as const) {
        const { directory, download, part: name, path, served } = yield* cutInTheMiddle()
        served.settings.cut = () => undefined
        const part = join(directory, name)
        let expected = bytes
        if (spoil === "etag") {
          expected = Buffer.from(bytes).reverse()
          served.settings.bytes = expected
          served.settings.etag = "\"two\""
        } else if (spoil === "journal") {
          yield* Effect.promise(() => Fs.writeFile(`${part}.json`, "{\"version\":1"))
        } else {
          yield* Effect.promise(() => Fs.truncate(part, spoil === "less" ? 10 : bytes.byteLength + 1))
        }
        yield* download
        yield* assertWhole(path, expected)
        assert.deepStrictEqual(yield* entries(directory), ["file"])
      }
    }))

  it.scopedLive.each([[2 * MiB - 1, "two"], [2 * MiB - 1, "one"], [6 * MiB, "one"]] as const)(
    "writes the new file if the size changed and storage ignores conditions: %i bytes, etag %s",
    ([size, etag]) =>
      Effect.gen(function*() {
        const { directory, download, path, served } = yield* cutInTheMiddle({ conditions: false })
        const other = Temporary.distinct(size).reverse()
        Object.assign(served.settings, { bytes: other, etag: `"${etag}"`, cut: () => undefined })
        yield* download
        yield* assertWhole(path, other)
        assert.deepStrictEqual(yield* entries(directory), ["file"])
      })
  )

  it.scopedLive("fails with SourceChanged and leaves nothing if the size changes during the download", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ conditions: false })
      for (const size of [2 * MiB - 1, 6 * MiB]) {
        served.settings.bytes = bytes
        served.settings.halfway = () => {
          served.settings.bytes = Temporary.distinct(size).reverse()
        }
        const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), { partSize: MiB, concurrency: 1 })
          .pipe(
            Effect.flip,
            Effect.provide(served.layer)
          )
        assert(error._tag === "SourceChanged")
        assert.deepStrictEqual([error.what, error.actual], ["size", `${size} bytes`])
      }
      assert.deepStrictEqual(yield* entries(directory), [])
    }))

  it.scopedLive("writes the whole file in each of two concurrent downloads to the same path", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const [half, goOn, asked, answer] = [gate(), gate(), gate(), gate()]
      const pass = (here: ReturnType<typeof gate>, next: ReturnType<typeof gate>) => {
        here.open()
        return next.opened
      }
      const served = yield* ContentServer.serve({
        bytes,
        halfway: (number) => number === 0 ? pass(half, goOn) : undefined,
        before: (number) => number === 1 ? pass(asked, answer) : undefined
      })
      const path = join(directory, "file")
      const [checksum] = checksums
      const download = NodeDownloads.toFile("f1", path, { keep: true, overwrite: true, checksum }).pipe(
        Effect.provide(served.layer)
      )
      const first = yield* Effect.fork(download)
      yield* Effect.promise(() => half.opened)
      const second = yield* Effect.fork(download)
      yield* Effect.promise(() => asked.opened)
      goOn.open()
      yield* Fiber.join(first)
      yield* assertWhole(path)
      answer.open()
      yield* Fiber.join(second)
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("resumes the part of a killed process, although its lock is still there", () =>
    Effect.gen(function*() {
      const { directory, download, part, path, served } = yield* cutInTheMiddle()
      const { pid } = spawnSync(process.execPath, ["--version"])
      yield* Effect.promise(() => Fs.writeFile(join(directory, `${part}.lock`), JSON.stringify({ pid, taking: "its" })))
      served.settings.cut = () => undefined
      const before = served.contents().length
      yield* download
      assert.strictEqual(served.contents().length - before, 4)
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("does not wait for named pipes in place of its part, its journal or its lock", () =>
    Effect.gen(function*() {
      const { directory, download, part, path, served } = yield* cutInTheMiddle()
      yield* Effect.promise(() => Fs.rm(join(directory, part)))
      yield* Effect.promise(() => Fs.rm(join(directory, `${part}.json`)))
      for (const name of [part, `${part}.json`, `${part}.lock`]) execFileSync("mkfifo", [join(directory, name)])
      served.settings.cut = () => undefined
      yield* Effect.timeout(download, "20 seconds")
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
    }))

  it.scopedLive("fails with DownloadIncomplete if the kept part is of a file of another size, and keeps it", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ cut: failing })
      const path = join(directory, "file")
      const download = (size?: number) =>
        NodeDownloads.toFile("f1", path, { partSize: MiB, keep: true, concurrency: 1, size }).pipe(
          Effect.provide(served.layer)
        )
      yield* Effect.flip(download())
      served.settings.cut = () => undefined
      const other = yield* Effect.flip(download(17))
      assert(other._tag === "DownloadIncomplete")
      assert.deepStrictEqual([other.expected, other.received], [17, bytes.byteLength])
      const before = served.contents().length
      yield* download(bytes.byteLength)
      yield* assertWhole(path)
      assert.strictEqual(served.contents().length - before, 4)
    }))

  it.scopedLive.each([[true, 1], [false, 0]] as const)(
    "calls onKept only if something is kept, ranges: %s, calls: %i",
    ([ranges, times]) =>
      Effect.gen(function*() {
        const { directory, served } = yield* setting({ ranges, cut: ranges ? failing : () => MiB })
        let told = 0
        const download = NodeDownloads.toFile("f1", join(directory, "file"), {
          partSize: MiB,
          keep: true,
          concurrency: 1,
          onKept: () => {
            told++
          }
        }).pipe(Effect.provide(served.layer))
        yield* Effect.flip(download)
        assert.strictEqual(told, times)
        served.settings.cut = () => undefined
        yield* download
        assert.strictEqual(told, times)
      })
  )

  it.scopedLive("keeps nothing and calls onSaved, not onKept, if it is interrupted once the file has its name", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const path = join(directory, "file")
      const told: Array<string> = []
      const fiber = yield* NodeDownloads.toFile("f1", path, {
        partSize: MiB,
        keep: true,
        onKept: () => told.push("kept"),
        onSaved: () => told.push("saved")
      }).pipe(Effect.provide(served.layer), Effect.fork)
      yield* Effect.promise(async () => {
        while (!existsSync(path)) await setImmediate()
      })
      yield* Fiber.interrupt(fiber)
      yield* assertWhole(path)
      assert.deepStrictEqual(yield* entries(directory), ["file"])
      assert.deepStrictEqual(told, ["saved"])
    }))

  it.scopedLive("keeps both the part and its journal if another range fails", () =>
    Effect.gen(function*() {
      let here = 0
      const { directory, served } = yield* setting({
        before: async (answer) => {
          if (answer === 0) return
          while (here < MiB) await setImmediate()
          served.settings.etag = "\"two\""
        }
      })
      const error = yield* NodeDownloads.toFile("f1", join(directory, "file"), {
        partSize: MiB,
        keep: true,
        concurrency: 2,
        onProgress: (received) => {
          here = received
        }
      }).pipe(Effect.flip, Effect.provide(served.layer))
      assert.strictEqual(error._tag, "SourceChanged")
      const kept = (yield* entries(directory)).map((name) => name.replace(/^.*\.part/, "part"))
      assert.sameMembers(kept, ["part", "part.json"])
    }))

  it.scopedLive("keeps nothing if nothing was received", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting({ ranges: false, cut: () => 0 })
      yield* NodeDownloads.toFile("f1", join(directory, "file"), { keep: true }).pipe(
        Effect.flip,
        Effect.provide(served.layer)
      )
      assert.deepStrictEqual(yield* entries(directory), [])
    }))
})

describe("NodeDownloads.downloadAll", () => {
  it.scopedLive("emits each file's outcome, and a failed file does not stop the others", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      yield* Effect.promise(() => Fs.writeFile(join(directory, "b"), "mine"))
      const outcomes = yield* Stream.make("a", "b", "c").pipe(
        Stream.map((name) => ({ fileId: name, path: join(directory, name) })),
        NodeDownloads.downloadAll({ files: 2 }),
        Stream.runCollect,
        Effect.provide(served.layer)
      )
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(outcomes).map((outcome) => [outcome.target.fileId, outcome._tag]).sort(),
        [["a", "Downloaded"], ["b", "Failed"], ["c", "Downloaded"]]
      )
      yield* assertWhole(join(directory, "a"))
      yield* assertWhole(join(directory, "c"))
      yield* assertWhole(join(directory, "b"), Buffer.from("mine"))
    }))

  it.scopedLive("downloads each file as the options say, and as many at once", () =>
    Effect.gen(function*() {
      let here = 0
      let most = 0
      const { directory, served } = yield* setting({
        ranges: false,
        before: async () => {
          most = Math.max(most, ++here)
          while (most < 2) await setImmediate()
          // time for another one, which is not to come
          await sleep(50)
          here--
        }
      })
      const targets = ["a", "b", "c", "d"].map((name) => ({ fileId: name, path: join(directory, name) }))
      yield* Effect.promise(() => Promise.all(targets.map(({ path }) => Fs.writeFile(path, "mine"))))
      const outcomes = yield* Stream.fromIterable(targets).pipe(
        NodeDownloads.downloadAll({ files: 2, overwrite: true }),
        Stream.runCollect,
        Effect.provide(served.layer)
      )
      assert.deepStrictEqual([...outcomes].map(({ _tag }) => _tag), Array(4).fill("Downloaded"))
      assert.strictEqual(most, 2)
    }))

  it.scopedLive("emits an outcome for each file if the option files is Infinity", () =>
    Effect.gen(function*() {
      const { directory, served } = yield* setting()
      const count = yield* Stream.make("a", "b", "c").pipe(
        Stream.map((name) => ({ fileId: name, path: join(directory, name) })),
        NodeDownloads.downloadAll({ files: Infinity }),
        Stream.runCount,
        Effect.provide(served.layer)
      )
      assert.strictEqual(count, 3)
      yield* assertWhole(join(directory, "c"))
    }))
})
