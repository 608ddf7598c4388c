import { Error as PlatformError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConnectionFailed } from "@stevedore/core/ConnectionError"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import { Effect, Either, Exit, FastCheck, Fiber, TestClock } from "effect"
import { TargetUnwritable } from "../../src/DownloadTargetError.js"
import { identityOf, isHeld, untilFree, untilLetGo, untilOpened, untilReadable } from "../../src/file/heldFile.js"
import { SpoolUnwritable } from "../../src/SpoolError.js"
import * as OtherDisk from "../support/otherDisk.js"

describe("fileIdentity", () => {
  it.prop(
    "uses only the low 32 bits of the device number, so path and handle agree on Windows",
    [FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n }), FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n })],
    ([high, low]) => {
      const ino = 281_474_976_710_999n
      assert.strictEqual(identityOf({ dev: (high << 32n) | low, ino }), identityOf({ dev: low, ino }))
    }
  )

  it("differs between two files on one disk, and between two disks", () => {
    const identities = [[1n, 1n], [1n, 2n], [2n, 1n]].map(([dev = 0n, ino = 0n]) => identityOf({ dev, ino }))
    assert.lengthOf(new Set(identities), 3)
  })
})

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
    return {
      run: untilLetGo(run),
      read: untilReadable(run),
      open: untilFree(run),
      openNow: untilOpened(run),
      runs: () => runs
    }
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

  it.effect.each(["EMFILE", "ENFILE"])(
    "waits for a free file descriptor, for half a minute, or 2.5 seconds where nothing can interrupt it: %s",
    (code) =>
      Effect.gen(function*() {
        const short = [failing(code, 20), failing(code, Number.POSITIVE_INFINITY)]
        const fibers = yield* Effect.all(short.map(({ open }) => Effect.fork(Effect.either(open))))
        yield* TestClock.adjust("25 seconds")
        assert.isTrue(Either.isRight(yield* Fiber.join(fibers[0] ?? Fiber.never)))
        yield* TestClock.adjust("10 seconds")
        const left = yield* Fiber.join(fibers[1] ?? Fiber.never)
        assert.isTrue(Either.isLeft(left))
        assert.isAtMost(short[1]?.runs() ?? 0, 45)
        const now = failing(code, Number.POSITIVE_INFINITY)
        const briefly = yield* Effect.fork(Effect.either(now.openNow))
        yield* TestClock.adjust("2600 millis")
        assert.isTrue(Either.isLeft(yield* Fiber.join(briefly)))
        const other = failing("EACCES", 1)
        assert.strictEqual((yield* Effect.flip(other.open)).code, "EACCES")
      })
  )

  it.effect("can be interrupted while it waits for a file descriptor", () =>
    Effect.gen(function*() {
      const waiting = yield* Effect.fork(failing("EMFILE", Number.POSITIVE_INFINITY).open)
      yield* TestClock.adjust("1 second")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
    }))

  it("is told with the limit that is reached and where to change it, whatever could not be opened", () => {
    const messages = (code: string) =>
      [
        new TargetUnwritable({ path: "a", code }),
        new SpoolUnwritable({ fileName: "a", directory: "b", code }),
        new SourceUnreadable({ fileName: "a", reason: "Failed", code }),
        new ConnectionFailed({ peer: "storage", origin: "https://storage.test", arrived: "no", code })
      ].map(({ message }) => message)
    for (const message of messages("EMFILE")) assert.match(message, /\(EMFILE\).*ulimit -n/)
    for (const message of messages("ENFILE")) assert.match(message, /\(ENFILE\).*fs\.file-max/)
    for (const message of messages("EIO")) assert.notMatch(message, /limit/)
  })
})
