import { FileSystem } from "@effect/platform"
import { PresignedUrl, type UploadLedger } from "@stevedore/core"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import type { PartReceipt } from "@stevedore/core/UploadSession"
import { DiskLedger } from "@stevedore/node"
import { Cause, Effect, Exit, Logger, LogLevel, Option } from "effect"
import type { Dice, Honesty } from "./losingDisk.js"
import * as LosingDisk from "./losingDisk.js"

const url = Option.getOrThrow(PresignedUrl.fromString("https://storage.test/key?X-Amz-Signature=s3cret"))

const parts = 5

const recordOf = (id: string, fileId: string): UploadRecord => ({
  version: 1,
  id,
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100, modified: 1000.5, identity: "1:2" },
  checksumAlgorithm: "crc32",
  session: { fileId, uploadId: "u", clockOffset: 0, openedAt: 0, parts, urls: [url, url, url, url, url] },
  phase: "uploading",
  startedAt: 0
})

const receiptOf = (fileId: string, partNumber: number): PartReceipt => ({
  partNumber,
  etag: `"${fileId} ${partNumber}"`,
  size: 20,
  attempts: 1
})

/** What the ledger has confirmed about a session, and so must know after a power failure. */
interface Confirmed {
  readonly record: UploadRecord
  readonly receipts: Set<number>
  completing: boolean
}

/** What an upload has done so far. */
interface Truth {
  confirmed: Confirmed | undefined
  /** A session whose beginning was not confirmed. */
  begun: UploadRecord | undefined
  /** Whether it may be forgotten. */
  forgetting: boolean
  /** The parts of each session that the ledger was told of. */
  readonly told: Map<string, Set<number>>
}

const fresh = (): Truth => ({ confirmed: undefined, begun: undefined, forgetting: false, told: new Map() })

/** One upload after another under the same id, each of which ends somewhere, until the power fails. */
const uploading = (ledger: UploadLedger.Service, id: string, truth: Truth, dice: Dice, nextId: () => string) =>
  Effect.scoped(Effect.gen(function*() {
    if (!(yield* ledger.lock(id))) return yield* Effect.dieMessage(`${id} is locked by a process of an earlier start`)
    for (let round = 0; round < 3; round++) {
      const fileId = nextId()
      const record = recordOf(id, fileId)
      truth.begun = record
      truth.told.set(fileId, new Set())
      yield* ledger.begin(record)
      const confirmed: Confirmed = { record, receipts: new Set(), completing: false }
      Object.assign(truth, { confirmed, begun: undefined, forgetting: false })
      const first = 1 + dice.below(parts)
      const stored = Array.from({ length: parts }, (_, index) => (index + first) % parts + 1).slice(dice.below(3))
      yield* Effect.forEach(stored, (part) => {
        truth.told.get(fileId)?.add(part)
        return Effect.map(ledger.receive(record, receiptOf(fileId, part)), () => confirmed.receipts.add(part))
      }, { concurrency: 1 + dice.below(4), discard: true })
      if (dice.chance(0.6)) {
        yield* ledger.completing(record)
        confirmed.completing = true
      }
      if (dice.chance(0.6)) {
        truth.forgetting = true
        yield* ledger.forget(record)
        truth.confirmed = undefined
      }
    }
  }))

const breachOf = (truth: Truth, found: Option.Option<UploadLedger.Unfinished>): string | undefined => {
  const { begun, confirmed, forgetting, told } = truth
  if (Option.isNone(found)) {
    return confirmed !== undefined && !forgetting ? "a confirmed session is not known any more" : undefined
  }
  const { receipts, record } = found.value
  const { fileId } = record.session
  const known = told.get(fileId)
  if (known === undefined) return `session ${fileId} was never begun`
  const strange = receipts.find((one) =>
    !known.has(one.partNumber) || one.etag !== receiptOf(fileId, one.partNumber).etag
  )
  if (strange !== undefined) return `a receipt of part ${strange.partNumber} of ${fileId} that was never told`
  if (confirmed === undefined || forgetting) return undefined
  if (fileId !== confirmed.record.session.fileId) {
    return fileId === begun?.session.fileId ? undefined : "an earlier session took the place of the confirmed one"
  }
  const numbers = new Set(receipts.map(({ partNumber }) => partNumber))
  const lost = [...confirmed.receipts].filter((part) => !numbers.has(part))
  if (lost.length > 0) return `parts ${lost} of ${fileId} were confirmed and are not known any more`
  return confirmed.completing && record.phase !== "completing" ? `${fileId} was completing` : undefined
}

/** What is known after the power came back is the truth from then on. */
const learn = (truth: Truth, found: Option.Option<UploadLedger.Unfinished>): void =>
  void Object.assign(truth, {
    begun: undefined,
    forgetting: false,
    confirmed: Option.getOrUndefined(Option.map(found, ({ receipts, record }): Confirmed => ({
      record,
      receipts: new Set(receipts.map(({ partNumber }) => partNumber)),
      completing: record.phase === "completing"
    })))
  })

/**
 * A ledger on a disk whose power fails four times, each time amid several uploads: what it had confirmed is there after
 * each, nothing else is, and it goes on. Gives the first breach.
 */
export const history = (seed: number, honesty: Honesty = "honest"): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    const dice = LosingDisk.dice(seed)
    const ids = ["a", "b", "an id of its own/with a slash"]
    const truths = new Map(ids.map((id) => [id, fresh()]))
    let sessions = 0
    let disk = LosingDisk.make({ dice, honesty, cutAt: 1 + dice.below(300) })
    const ledgerOn = (on: LosingDisk.Disk) =>
      Effect.provideService(
        DiskLedger.make({ directory: "/state/stevedore" }),
        FileSystem.FileSystem,
        on.fileSystem
      )
    for (let life = 0; life < 4; life++) {
      const ledger = yield* ledgerOn(disk)
      const ends = yield* Effect.forEach(
        truths,
        ([id, truth]) => Effect.exit(uploading(ledger, id, truth, dice, () => `f${++sessions}`)),
        { concurrency: "unbounded" }
      )
      const bug = ends.find((end) => Exit.isFailure(end) && !Cause.isInterruptedOnly(end.cause))
      if (bug !== undefined) return `seed ${seed}, life ${life}: ${bug}`
      const after = disk.afterPowerCut()
      const reader = yield* ledgerOn(after)
      for (const [id, truth] of truths) {
        const found = yield* after.unfailing(reader.find(id))
        const breach = breachOf(truth, found)
        if (breach !== undefined) return `seed ${seed}, life ${life}, upload ${JSON.stringify(id)}: ${breach}`
        learn(truth, found)
      }
      disk = after
    }
    return undefined
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None))
