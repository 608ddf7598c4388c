import { Error as PlatformError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, TestClock } from "effect"
import { TargetUnwritable } from "../../src/DownloadTargetError.js"
import { isHeld, untilLetGo, untilReadable } from "../../src/internal/heldFile.js"
import * as OtherDisk from "../support/otherDisk.js"

describe("heldFile", () => {
  it("detects a held file by the code of the error or of its cause, EPERM and EACCES only on Windows", () => {
    const codes = ["EBUSY", "EPERM", "EACCES", "ENOENT", "ENOSPC"]
    const held = (platform: NodeJS.Platform, wrapped: (code: string) => unknown) =>
      codes.filter((code) => isHeld(wrapped(code), platform))
    const ofDownload = (code: string) => new TargetUnwritable({ path: "a", code })
    const ofPlatform = (code: string) =>
      new PlatformError.SystemError({
        reason: "Unknown",
        module: "FileSystem",
        method: "rename",
        cause: OtherDisk.refusal(code)
      })
    for (const wrapped of [ofDownload, ofPlatform, OtherDisk.refusal]) {
      assert.deepStrictEqual(held("win32", wrapped), ["EBUSY", "EPERM", "EACCES"])
      assert.deepStrictEqual(held("linux", wrapped), ["EBUSY"])
      assert.deepStrictEqual(held("darwin", wrapped), ["EBUSY"])
    }
  })

  /** Fails with this code so many times, and counts how often it is run. */
  const failing = (code: string, times: number) => {
    let runs = 0
    const run = Effect.suspend(() => ++runs > times ? Effect.void : Effect.fail(OtherDisk.refusal(code)))
    return { run: untilLetGo(run), read: untilReadable(run), runs: () => runs }
  }

  it.effect.each(["EMFILE", "ENFILE", "EAGAIN", "EIO", "EBUSY"])(
    "reads again what cannot be read just now: %s",
    (code) =>
      Effect.gen(function*() {
        const busy = failing(code, 8)
        const broken = failing(code, Number.POSITIVE_INFINITY)
        const fibers = yield* Effect.all([busy, broken].map(({ read }) => Effect.fork(Effect.either(read))))
        yield* TestClock.adjust("2600 millis")
        const outcomes = yield* Effect.forEach(fibers, Fiber.join)
        assert.deepStrictEqual(outcomes.map(Either.isRight), [true, false])
        assert.deepStrictEqual([busy.runs(), broken.runs()], [9, 9])
        const missing = failing("ENOENT", 1)
        assert.strictEqual((yield* Effect.flip(missing.read)).code, "ENOENT")
        assert.strictEqual(missing.runs(), 1)
      })
  )

  it.effect("retries until the file is released, for at most 2.5 seconds", () =>
    Effect.gen(function*() {
      const scanned = failing("EBUSY", 8)
      const kept = failing("EBUSY", Number.POSITIVE_INFINITY)
      const fibers = yield* Effect.all([scanned, kept].map(({ run }) => Effect.fork(Effect.either(run))))
      yield* TestClock.adjust("2600 millis")
      const outcomes = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(outcomes.map(Either.isRight), [true, false])
      assert.deepStrictEqual([scanned.runs(), kept.runs()], [9, 9])
    }))

  it.effect("fails without a retry when the file is not held", () =>
    Effect.gen(function*() {
      const full = failing("ENOSPC", 1)
      assert.strictEqual((yield* Effect.flip(full.run)).code, "ENOSPC")
      assert.strictEqual(full.runs(), 1)
    }))
})
