import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { UploadLedger, Uploads, UploadSources } from "@stevedore/core"
import { PartReceipt } from "@stevedore/core/UploadSession"
import { DiskLedger, FileSource, NodeDownloads } from "@stevedore/node"
import { Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Exit, Logger, LogLevel, Schema } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as FailingDisk from "../support/failingDisk.js"
import * as Temporary from "../support/temporary.js"

const parts = 3
const partSize = 100
const bytes = Temporary.distinct(parts * partSize)

const sandbox = SandboxLayer.memory({ minimumPartSize: partSize })

const requested = (operation: string) =>
  Effect.map(Sandbox.report, ({ requests }) => requests.filter((request) => request.operation === operation))

/** How many files are finished. */
const files = Effect.map(
  requested("completeLarge"),
  (all) => new Set(all.filter(({ status }) => status === 200).map(({ fileId }) => fileId)).size
)

const quietly = Logger.withMinimumLogLevel(LogLevel.None)

// an upload for each of its operations, on a busy machine
const patience = 120_000

const partNumberOf = (line: string): number => Schema.decodeSync(Schema.parseJson(PartReceipt))(line).partNumber

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)

const deadProcess = spawnSync(process.execPath, ["-e", ""]).pid

const uploading = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Temporary.file("interview.mp4", bytes)
  const directory = join(yield* Temporary.directory, "stevedore")
  const ledgerOn = (script: FailingDisk.Script) =>
    Effect.provideService(
      DiskLedger.make({ directory }),
      FileSystem.FileSystem,
      FailingDisk.fileSystem(fs, script)
    )
  const upload = (script: FailingDisk.Script) =>
    Effect.gen(function*() {
      const source = yield* FileSource.fromPath(path)
      return yield* Uploads.upload(source, { strategy: "multipart", parts, concurrency: 1 }).pipe(
        Effect.provideServiceEffect(UploadLedger.UploadLedger, ledgerOn(script))
      )
    }).pipe(quietly)
  /** Nobody runs any more what a killed process has locked; here, it was this one. */
  const orphanLocks = Effect.promise(async () => {
    const folder = join(directory, "locks")
    for (const name of await Fs.readdir(folder).catch(() => [])) {
      await Fs.writeFile(join(folder, name), JSON.stringify({ pid: deadProcess, taking: name }))
    }
  })
  const unfinished = Effect.flatMap(ledgerOn(FailingDisk.healthy()), ({ unfinished }) => unfinished)
  const isRecorded = Effect.map(unfinished, (all) => all.length > 0)
  const receipts = Effect.promise(async () => {
    const names = await Fs.readdir(directory, { recursive: true }).catch(() => [])
    const texts = await Promise.all(
      names.filter((name) => name.endsWith(".lines") && !name.startsWith("temporary"))
        .map((name) => Fs.readFile(join(directory, name), "utf8"))
    )
    return texts.flatMap((text) => text.split("\n").filter((line) => line !== "").map(partNumberOf))
  })
  /** What is there but directories, what was moved aside to be removed, and what keeps all of it out of a repository. */
  const left = Effect.promise(async () => {
    const entries = await Fs.readdir(directory, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile() && !entry.parentPath.includes("temporary"))
      .map(({ name }) => name)
      .filter((name) => ![".gitignore", ".format"].includes(name))
  })
  return { upload, orphanLocks, isRecorded, receipts, left }
})

const operationsOfUpload = Effect.gen(function*() {
  const { upload } = yield* uploading
  const script = FailingDisk.healthy()
  yield* upload(script)
  return script.count()
}).pipe(Effect.provide(sandbox))

describe("an upload, whichever operation on its ledger fails", () => {
  it.scopedLive(
    "sends each part once and succeeds, and leaves nothing once it ran again",
    () =>
      Effect.gen(function*() {
        for (const at of numbers(yield* operationsOfUpload)) {
          yield* Effect.gen(function*() {
            const { left, orphanLocks, upload } = yield* uploading
            const file = yield* upload(FailingDisk.refusing("EIO", at))
            assert.isTrue(bytes.equals(yield* Sandbox.stored(file.id)))
            assert.lengthOf(yield* requested("putPart"), parts)
            yield* orphanLocks
            yield* upload(FailingDisk.healthy())
            assert.deepStrictEqual(yield* left, [], `after operation ${at} had failed`)
          }).pipe(Effect.scoped, Effect.provide(sandbox))
        }
      }).pipe(Effect.provide(NodeFileSystem.layer)),
    patience
  )

  // once it is forgotten, it is over: its program was about to learn of it
  it.scopedLive(
    "resumes after a death at any of them: one file, no part again that was recorded, nothing left",
    () =>
      Effect.gen(function*() {
        for (const at of numbers(yield* operationsOfUpload)) {
          yield* Effect.gen(function*() {
            const { isRecorded, left, orphanLocks, receipts, upload } = yield* uploading
            // a second more or less on the clock is a check of the directory more or less
            if (Exit.isSuccess(yield* Effect.exit(upload(FailingDisk.dying(at))))) return
            yield* orphanLocks
            const recorded = yield* receipts
            const isForgotten = (yield* files) === 1 && !(yield* isRecorded)
            const before = (yield* requested("putPart")).length
            const file = yield* upload(FailingDisk.healthy())
            assert.isTrue(bytes.equals(yield* Sandbox.stored(file.id)))
            const again = (yield* requested("putPart")).slice(before).map(({ part }) => part)
            assert.isEmpty(again.filter((part) => recorded.includes(part ?? 0)), `sent again after operation ${at}`)
            assert.strictEqual(yield* files, isForgotten ? 2 : 1, `files after a death at operation ${at}`)
            assert.deepStrictEqual(yield* left, [], `after a death at operation ${at}`)
          }).pipe(Effect.scoped, Effect.provide(sandbox))
        }
      }).pipe(Effect.provide(NodeFileSystem.layer)),
    patience
  )
})

interface Kind {
  readonly keep: boolean
  readonly overwrite: boolean
}

const downloading = ({ keep, overwrite }: Kind) =>
  Effect.gen(function*() {
    const source = UploadSources.fromBytes("interview.mp4", bytes)
    const { id } = yield* Uploads.upload(source, { strategy: "single" })
    const directory = yield* Temporary.directory
    const target = join(directory, "interview.mp4")
    if (overwrite) yield* Effect.promise(() => Fs.writeFile(target, "before"))
    const download = NodeDownloads.toFile(id, target, { keep, overwrite, partSize, concurrency: 1 }).pipe(quietly)
    const found = Effect.promise(() => Fs.readFile(target).catch(() => undefined))
    const isWhole = Effect.map(found, (content) => content?.equals(bytes) ?? false)
    const isAsBefore = Effect.map(found, (content) => content?.toString() === (overwrite ? "before" : undefined))
    const others = Effect.map(
      Effect.promise(() => Fs.readdir(directory)),
      (names) => names.filter((name) => name !== "interview.mp4")
    )
    return { download, isWhole, isAsBefore, others }
  })

const operationsOfDownload = (kind: Kind) =>
  Effect.gen(function*() {
    const { download } = yield* downloading(kind)
    const script = FailingDisk.healthy()
    yield* Effect.scoped(Effect.zipRight(FailingDisk.answering(script), download))
    return script.count()
  }).pipe(Effect.scoped, Effect.provide(sandbox))

describe("a download, whichever operation on its directory fails", () => {
  for (
    const kind of [{ keep: false, overwrite: false }, { keep: true, overwrite: true }]
  ) {
    it.scopedLive(
      `is whole or not there, and is whole once it ran again: ${JSON.stringify(kind)}`,
      () =>
        Effect.gen(function*() {
          for (const at of numbers(yield* operationsOfDownload(kind))) {
            for (const script of [FailingDisk.refusing("EIO", at), FailingDisk.dying(at)]) {
              yield* Effect.gen(function*() {
                const { download, isAsBefore, isWhole, others } = yield* downloading(kind)
                const first = yield* Effect.scoped(
                  Effect.zipRight(FailingDisk.answering(script), Effect.exit(download))
                )
                const where = `operation ${at}: ${first}, ${yield* others}`
                assert.isTrue(Exit.isSuccess(first) ? yield* isWhole : yield* isAsBefore, where)
                if (yield* isWhole) return
                yield* download
                assert.isTrue(yield* isWhole, where)
              }).pipe(Effect.scoped, Effect.provide(sandbox))
            }
          }
        }).pipe(Effect.provide(NodeFileSystem.layer)),
      patience
    )
  }
})
