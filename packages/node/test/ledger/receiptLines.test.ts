import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { Effect, FastCheck, Logger } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { runs } from "../../../testing/test/support/runs.js"
import * as PrivateDirectory from "../../src/ledger/privateDirectory.js"
import * as PrivateStore from "../../src/ledger/privateStore.js"
import * as ReceiptLines from "../../src/ledger/receiptLines.js"
import * as Temporary from "../support/temporary.js"

const parts = 5

const record: UploadRecord = {
  version: 1,
  id: "a",
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100, modified: 1000, identity: "1:2" },
  checksumAlgorithm: "crc32",
  session: { fileId: "first", uploadId: "u", clockOffset: 0, openedAt: 0, parts },
  phase: "uploading",
  startedAt: 0
}

const receiptOf = (partNumber: number, attempts = 1) => ({ partNumber, etag: "\"e\"", size: 10, attempts })

const open = Effect.gen(function*() {
  const directory = yield* Temporary.directory
  yield* Effect.promise(() => Fs.mkdir(join(directory, "a"), { mode: 0o700 }))
  const fs = yield* FileSystem.FileSystem
  const store = PrivateStore.make(fs, yield* PrivateDirectory.make(fs, directory))
  return { receipts: ReceiptLines.make(store), file: join(directory, "a", "first.lines") }
})

const whole = FastCheck.record({
  partNumber: FastCheck.integer({ min: 1, max: parts }),
  attempts: FastCheck.integer({ min: 1, max: 9 })
})

describe("the receipt lines of a session", () => {
  it.effect.prop(
    "are read as the last one of each part, however often a process is killed while adding one",
    [FastCheck.array(FastCheck.tuple(whole, FastCheck.option(FastCheck.double({ min: 0, max: 0.999, noNaN: true }))))],
    ([added]) =>
      Effect.gen(function*() {
        const { file, receipts } = yield* open
        const expected = new Map<number, ReturnType<typeof receiptOf>>()
        for (const [{ attempts, partNumber }, killedAt] of added) {
          const receipt = receiptOf(partNumber, attempts)
          if (killedAt === null) {
            yield* receipts.add(record, receipt)
            expected.set(partNumber, receipt)
          } else {
            const line = `\n${JSON.stringify(receipt)}`
            yield* Effect.promise(() => Fs.appendFile(file, line.slice(0, Math.floor(killedAt * line.length))))
          }
        }
        const sorted = [...expected.values()].sort((one, other) => one.partNumber - other.partNumber)
        assert.deepStrictEqual(yield* receipts.all(record), sorted)
      }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
    { fastCheck: { numRuns: runs(50) } }
  )

  it.scopedLive("are kept per session, without those of parts that the session does not have", () =>
    Effect.gen(function*() {
      const { receipts } = yield* open
      const other: UploadRecord = { ...record, session: { ...record.session, fileId: "second" } }
      yield* receipts.add(record, receiptOf(1))
      yield* receipts.add(other, receiptOf(2))
      yield* receipts.add(other, receiptOf(parts + 1))
      assert.deepStrictEqual(yield* receipts.all(record), [receiptOf(1)])
      assert.deepStrictEqual(yield* receipts.all(other), [receiptOf(2)])
      yield* receipts.remove(other)
      assert.deepStrictEqual(yield* receipts.all(other), [])
      assert.deepStrictEqual(yield* receipts.all(record), [receiptOf(1)])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("cannot be added if the upload has no directory", () =>
    Effect.gen(function*() {
      const { receipts } = yield* open
      const gone: UploadRecord = { ...record, id: "gone" }
      assert.isTrue(yield* Effect.isFailure(receipts.add(gone, receiptOf(1))))
      assert.deepStrictEqual(yield* receipts.all(gone), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("that cannot be read are told of once, because all parts are then sent again", () =>
    Effect.gen(function*() {
      const { file, receipts } = yield* open
      yield* Effect.promise(() => Fs.mkdir(file))
      const told: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void told.push(`${logLevel.label} ${String(message)}`))
      const listening = Logger.replace(Logger.defaultLogger, logger)
      for (let time = 0; time < 2; time++) {
        assert.deepStrictEqual(yield* Effect.provide(receipts.all(record), listening), [])
      }
      assert.lengthOf(told, 1)
      assert.match(told[0] ?? "", /^WARN .*first\.lines.* They are sent again$/)
    }).pipe(Effect.provide(NodeContext.layer)))
})
