import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { UploadLedger, Uploads } from "@stevedore/core"
import { DiskLedger, FileSource } from "@stevedore/node"
import { Sandbox, SandboxLayer } from "@stevedore/testing"
import { Deferred, Effect, Fiber, Layer, Logger, LogLevel, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as Temporary from "../../support/temporary.js"

const bytes = Temporary.distinct(400)

const inParts = { strategy: "multipart", parts: 4, concurrency: 1 } as const

const partsSent = Effect.map(
  Sandbox.report,
  ({ requests }) => requests.filter(({ operation }) => operation === "putPart").map(({ part }) => part)
)

/** The same file as another machine sees it: another device or inode, and whatever else differs. */
const elsewhere = (path: string, change: (copy: string) => Promise<void> = async () => undefined) =>
  Effect.tap(
    Effect.map(Temporary.directory, (directory) => join(directory, "interview.mp4")),
    (copy) =>
      Effect.promise(async () => {
        const { atime, mtime } = await Fs.stat(path)
        await Fs.copyFile(path, copy)
        await Fs.utimes(copy, atime, mtime)
        await change(copy)
      })
  )

/** Uploads until two parts are recorded, and then again, as the same file on another machine with the same ledger. */
const sentAgain = (identity: string | undefined, other = identity, change?: (copy: string) => Promise<void>) =>
  Effect.gen(function*() {
    const path = yield* Temporary.file("interview.mp4", bytes)
    // whole milliseconds survive a copy
    yield* Effect.promise(() => Fs.utimes(path, 1_700_000_000, 1_700_000_000))
    const ledger = yield* DiskLedger.make({ directory: join(yield* Temporary.directory, "ledger") })
    const reached = yield* Deferred.make<void>()
    let received = 0
    const first = yield* FileSource.fromPath(path, { identity }).pipe(
      Effect.flatMap((source) => Uploads.upload(source, inParts)),
      Effect.provideService(UploadLedger.UploadLedger, {
        ...ledger,
        receive: (record, receipt) =>
          Effect.zipRight(
            ledger.receive(record, receipt),
            Effect.suspend(() =>
              ++received < 2 ? Effect.void : Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
            )
          )
      }),
      Effect.fork
    )
    yield* Deferred.await(reached)
    yield* Effect.fork(Fiber.interrupt(first))
    yield* Effect.sleep("50 millis")
    const before = (yield* partsSent).length
    const source = yield* FileSource.fromPath(yield* elsewhere(path, change), { identity: other })
    yield* Effect.provideService(Uploads.upload(source, inParts), UploadLedger.UploadLedger, {
      ...ledger,
      // the first machine is gone
      lock: () => Effect.succeed(true)
    })
    return (yield* partsSent).slice(before)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(SandboxLayer.memory({ minimumPartSize: 1 }), NodeFileSystem.layer)),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

describe("a file with an identity of its own", () => {
  it.live("resumes where its device and inode are others, if its size and date are the same", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sentAgain("asset 4711"), [3, 4])
    }))

  it.live("starts over without one, with another one, and with another date or size", () =>
    Effect.gen(function*() {
      assert.lengthOf(yield* sentAgain(undefined), 4)
      assert.lengthOf(yield* sentAgain("asset 4711", "asset 4712"), 4)
      assert.lengthOf(yield* sentAgain("asset 4711", "asset 4711", (copy) => Fs.utimes(copy, 1, 1)), 4)
      assert.lengthOf(yield* sentAgain("asset 4711", "asset 4711", (copy) => Fs.appendFile(copy, "more")), 4)
    }))

  it.scopedLive("still changes with its size and its date while it is read, and not with its inode", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("interview.mp4", bytes)
      yield* Effect.promise(() => Fs.utimes(path, 1, 1))
      const open = yield* Effect.flatMap(FileSource.fromPath(path, { identity: "asset" }), (source) => source.open)
      yield* Effect.promise(async () => {
        await Fs.copyFile(path, `${path}.new`)
        await Fs.utimes(`${path}.new`, 1, 1)
        await Fs.rename(`${path}.new`, path)
      })
      yield* open.unchanged
      yield* Effect.promise(() => Fs.utimes(path, 2, 2))
      assert.strictEqual((yield* Effect.flip(open.unchanged))._tag, "SourceChanged")
    }))

  it.scopedLive("is refused if that is empty", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("interview.mp4", bytes)
      const error = yield* Effect.flip(FileSource.fromPath(path, { identity: "" }))
      assert(error._tag === "InvalidSource")
      assert.strictEqual(error.field, "fingerprint")
    }))

  it.scopedLive("gives a list of files one after another, each with its own", () =>
    Effect.gen(function*() {
      const path = yield* Temporary.file("interview.mp4", bytes)
      const identities = yield* Stream.make("a", "b").pipe(
        Stream.mapEffect((identity) => FileSource.fromPath(path, { identity })),
        Stream.map(({ fingerprint }) => fingerprint.identity),
        Stream.runCollect
      )
      assert.deepStrictEqual([...identities], ["a", "b"])
    }))
})
