import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Checksum from "@stevedore/core/Checksum"
import { Effect, Either, Stream } from "effect"
import * as BlobStore from "../../src/parts/blobStore.js"

const MiB = 1_048_576

const lost = new PlatformError.SystemError({
  reason: "Unknown",
  module: "FileSystem",
  method: "sync",
  description: "EIO"
})

/** A disk that loses what it is asked to take for the time of this number, and tells it once. */
const losing = (fs: FileSystem.FileSystem, at: number) => {
  const asked = { count: 0 }
  const sync = Effect.suspend(() => ++asked.count === at ? Effect.fail(lost) : Effect.void)
  const open: FileSystem.FileSystem["open"] = (path, options) =>
    Effect.map(
      fs.open(path, options),
      (file) => new Proxy(file, { get: (own, name) => name === "sync" ? sync : Reflect.get(own, name, own) })
    )
  return { asked, fs: { ...fs, open } }
}

describe("blobStore", () => {
  it.scopedLive("flushes a large blob while it comes, and refuses it if any flush has failed", () =>
    Effect.gen(function*() {
      const own = yield* FileSystem.FileSystem
      const directory = yield* own.makeTempDirectoryScoped()
      const body = Stream.tap(
        Stream.fromIterable(Array.from({ length: 70 }, () => new Uint8Array(MiB))),
        () => Effect.yieldNow()
      )
      for (const at of [1, 3, 4]) {
        const { asked, fs } = losing(own, at)
        const folder = `${directory}/${at}`
        const written = yield* BlobStore.kept(folder, Checksum.crc32).pipe(
          Effect.flatMap(({ write }) => Effect.either(write(body))),
          Effect.provideService(FileSystem.FileSystem, fs)
        )
        assert.strictEqual(asked.count, Math.min(at, 3))
        assert.strictEqual(Either.isLeft(written), at < 4)
        assert.lengthOf(yield* own.readDirectory(folder), at < 4 ? 0 : 1)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})
