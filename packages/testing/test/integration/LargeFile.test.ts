import { assert, describe, it } from "@effect/vitest"
import { Downloads, Uploads } from "@stevedore/core"
import { FileSource } from "@stevedore/node"
import { Duration, Effect, Schedule, Stream } from "effect"
import { Buffer } from "node:buffer"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ObjectStore, Sandbox } from "../../src/index.js"
import { keyOf } from "../../src/sandbox/files.js"
import { stevedore } from "../support/realStorage.js"

// More than a single PUT may have, and more than 32 bits count.

const MIB = 1024 * 1024
const SIZE = 6_000_000_000
const MARK = 4096

const zeros = Buffer.alloc(MIB)

// Each MiB begins with bytes that no other begins with, and is empty behind them: the file takes little room on disk, and a
// piece in a wrong place shows all the same.
const mark = (index: number): Buffer => {
  const bytes = Buffer.alloc(MARK)
  for (let at = 0; at < MARK; at += 4) bytes.writeUInt32LE((Math.imul(index + 1, 2_654_435_761) + at) >>> 0, at)
  return bytes
}

const sparse = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await Fs.mkdtemp(join(tmpdir(), "stevedore-"))
    const path = join(directory, "film.mp4")
    const file = await Fs.open(path, "w")
    await file.truncate(SIZE)
    for (let index = 0; index * MIB + MARK <= SIZE; index++) await file.write(mark(index), 0, MARK, index * MIB)
    await file.close()
    return { directory, path }
  }),
  ({ directory }) => Effect.promise(() => Fs.rm(directory, { recursive: true, force: true }))
)

// whether these bytes are the file's from `offset` on
const isAt = (offset: number, bytes: Uint8Array): boolean => {
  let position = 0
  while (position < bytes.byteLength) {
    const index = Math.floor((offset + position) / MIB)
    const within = offset + position - index * MIB
    const isMark = within < MARK && index * MIB + MARK <= SIZE
    const length = Math.min(bytes.byteLength - position, (isMark ? MARK : MIB) - within)
    const expected = isMark ? mark(index).subarray(within, within + length) : zeros.subarray(0, length)
    if (Buffer.compare(bytes.subarray(position, position + length), expected) !== 0) return false
    position += length
  }
  return true
}

const perSecond = (duration: Duration.Duration) => `${Math.round(SIZE / MIB / Duration.toSeconds(duration))} MiB/s`

describe("a file of 6 GB", () => {
  it.scopedLive(
    "is uploaded to a real store and downloaded byte for byte with less than 256 MiB of extra memory",
    () =>
      Effect.gen(function*() {
        const { path } = yield* sparse
        const source = yield* FileSource.fromPath(path)
        const before = process.memoryUsage.rss()
        let peak = before
        yield* Effect.forkScoped(Effect.repeat(
          Effect.sync(() => peak = Math.max(peak, process.memoryUsage.rss())),
          Schedule.spaced("50 millis")
        ))
        const [up, file] = yield* Effect.timed(Uploads.upload(source))
        const store = yield* ObjectStore.ObjectStore
        yield* Effect.addFinalizer(() => Effect.ignore(store.remove(keyOf(file.id))))
        assert.strictEqual((yield* store.head(keyOf(file.id))).size, SIZE)
        const [down, received] = yield* Effect.timed(
          Stream.runFoldEffect(Downloads.stream(file.id), 0, (offset, bytes) =>
            isAt(offset, bytes)
              ? Effect.succeed(offset + bytes.byteLength)
              : Effect.dieMessage(`The bytes from ${offset} on are not the file's`))
        )
        assert.strictEqual(received, SIZE)
        assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
        const memory = Math.round((peak - before) / MIB)
        yield* Effect.log(`Up at ${perSecond(up)}, down at ${perSecond(down)}, with ${memory} MiB of memory`)
        assert.isBelow(memory, 256)
      }).pipe(Effect.provide(stevedore({ download: "redirect" }))),
    600_000
  )
})
