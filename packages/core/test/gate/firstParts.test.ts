import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, Uploads } from "@stevedore/core"
import type { UploadSource } from "@stevedore/core/UploadSource"
import { SandboxLayer } from "@stevedore/testing"
import { Deferred, Effect } from "effect"
import { inVirtualTime } from "../fixtures/virtualTime.js"

const MiB = 1_048_576

/** Of this size, but without content: the storage below takes none. */
const hollow = (size: number): UploadSource => ({
  _tag: "RepeatableSource",
  held: false,
  name: "film.mov",
  mediaType: "video/quicktime",
  size,
  fingerprint: { kind: "hollow", size },
  open: Effect.succeed({
    section: (range) =>
      Effect.succeed({ range, body: () => Effect.succeed({ _tag: "BytesBody", bytes: new Uint8Array(0) }) }),
    readThrough: () => Effect.void,
    unchanged: Effect.void
  })
})

const tick = 500

/** When storage has confirmed something, in seconds, over a line that all in flight share, and how many those were. */
const firstReceipt = (size: number, bytesPerSecond: number) =>
  Effect.gen(function*() {
    let inFlight = 0
    let most = 0
    const stored = yield* Deferred.make<void>()
    const storage: ObjectStorage.Service = {
      get: () => Effect.dieMessage("nothing is read"),
      put: ({ onSent, section: { range } }) =>
        Effect.gen(function*() {
          inFlight += 1
          most = Math.max(most, inFlight)
          for (let left = range.length; left > 0;) {
            yield* Effect.sleep(tick)
            const piece = Math.min(left, bytesPerSecond / 1000 * tick / inFlight)
            left -= piece
            onSent(piece)
          }
          yield* Deferred.succeed(stored, undefined)
          return yield* Effect.never
        })
    }
    const upload = Effect.provideService(Uploads.upload(hollow(size)), ObjectStorage.ObjectStorage, storage)
    const { millis } = yield* inVirtualTime(Effect.raceFirst(upload, Deferred.await(stored)))
    return { seconds: millis / 1000, most }
  }).pipe(Effect.provide(SandboxLayer.memory()))

describe("over a network that was not measured yet", () => {
  for (const size of [65, 256, 1024, 2048]) {
    it.effect(`storage confirms something of ${size} MiB within 30 seconds at 1 MB/s`, () =>
      Effect.gen(function*() {
        assert.isAtMost((yield* firstReceipt(size * MiB, 1_000_000)).seconds, 30)
      }))
  }

  it.effect("a quick one is filled before that", () =>
    Effect.gen(function*() {
      const { most, seconds } = yield* firstReceipt(1024 * MiB, 20_000_000)
      assert.isAtLeast(most, 6)
      assert.isAtMost(seconds, 10)
    }))
})
