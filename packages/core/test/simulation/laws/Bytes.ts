import { Checksum } from "@stevedore/core"
import type { Exchange, Run } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isComplete, isInitiate, isPut } from "./Trial.js"

const same = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

// Nobody can know of these: bytes that changed on a way without checksums, and a file that was changed unseen. An upload
// that says that its content is proven is never excused
const isBeyondKnowledge = (trial: Trial, run: Run): boolean =>
  (trial.history.versions.get(run.name) ?? []).some(({ isVisible }) => !isVisible) ||
  (trial.history.troubles.has("PUT: bytes damaged") && run.outcome?._tag === "Uploaded" &&
    run.outcome.file.sent.proof === "unproven" && !trial.scenario.answersChecksum)

const judgeUploaded = (trial: Trial, run: Run): void => {
  const { outcome, settled } = run
  if (outcome?._tag !== "Uploaded" || settled === undefined) return
  const session = trial.history.sessions.get(outcome.file.id)
  const content = session?.content
  if (session === undefined || content === undefined || session.finalized === undefined) {
    return trial.check(1, false, () => `${run.name} ended well and the service has no such file`)
  }
  trial.check(1, session.name === run.name, () => `${run.name} is ${session.name}`)
  const size = outcome.file.sent.bytes
  trial.check(1, content.length === size, () => `${run.name} ended well with ${content.length} of ${size} bytes`)
  if (isBeyondKnowledge(trial, run)) return
  const source = trial.caseOf(run.name)
  const versions = trial.versionsOf(run.name, session.opened, settled)
  trial.check(
    1,
    source?.trouble?.kind === "long stream" || versions.some((version) => same(version.content, content)),
    () => `storage does not hold ${run.name}`
  )
  const { checksum, proof } = outcome.file.sent
  // what was read at once, and whose receipt nobody lost
  if (checksum !== undefined && trial.scenario.reportsChecksum && outcome.file.checksum !== undefined) {
    trial.check(1, proof === "stored", () => `${run.name} could be proven, and is ${proof}`)
  }
  if (checksum !== undefined) {
    trial.check(
      1,
      checksum.value === Checksum.ofBytes(Checksum.crc32, content).value,
      () => `the checksum of ${run.name} is of other bytes`
    )
  }
}

// The etags that a part was stored under, in the order in which the client was told
const lastTold = (trial: Trial, complete: Exchange): ReadonlyMap<number, string> => {
  const etags = new Map<number, { readonly step: number; readonly etag: string }>()
  for (const exchange of trial.history.exchanges) {
    const { fileId, part, told } = exchange
    if (fileId !== complete.fileId || part === undefined || told?.etag === undefined) continue
    if (!trial.isKnownTo(complete.life, exchange, told)) continue
    if (!isBefore(told, complete.started) || (etags.get(part)?.step ?? -1) > told.step) continue
    etags.set(part, { step: told.step, etag: told.etag })
  }
  return new Map([...etags].map(([part, { etag }]) => [part, etag]))
}

const judgeComplete = (trial: Trial, complete: Exchange): void => {
  const session = trial.history.sessions.get(complete.fileId ?? "")
  if (session === undefined) return trial.check(2, false, () => "Complete for a session that never was")
  if (trial.history.troubles.has("call: wrong number of URLs")) return
  const told = lastTold(trial, complete)
  trial.check(2, told.size === session.parts, () => `Complete after ${told.size} of ${session.parts} parts`)
  if (complete.operation === "complete") return
  const listed = complete.listed ?? []
  trial.check(
    2,
    listed.length === session.parts && listed.every(({ partNumber }, index) => partNumber === index + 1),
    () => `Complete lists ${listed.map(({ partNumber }) => partNumber)} of ${session.parts} parts`
  )
  for (const { etag, partNumber } of listed) {
    trial.check(
      2,
      told.get(partNumber) === etag,
      () => `part ${partNumber} is listed with an etag that is not its last`
    )
  }
}

const judgeAttempts = (trial: Trial): void => {
  const before = new Map<string, Exchange>()
  for (const exchange of trial.history.exchanges) {
    if (!isPut(exchange)) continue
    const key = `${exchange.life} ${exchange.fileId} ${exchange.part}`
    const last = before.get(key)
    trial.check(
      3,
      last === undefined || (last.ended !== undefined && isBefore(last.ended, exchange.started)),
      () => `part ${exchange.part} is sent while its attempt before is under way`
    )
    before.set(key, exchange)
  }
}

// A part of a session that is over is sent for nobody, and holds a place that the next session needs
const judgeSessions = (trial: Trial, run: Run): void => {
  const exchanges = trial.exchangesOf(run) ?? []
  for (const opening of exchanges) {
    if (!isInitiate(opening)) continue
    const left = exchanges.find((one) =>
      isPut(one) && isBefore(one.started, opening.started) &&
      !(one.ended !== undefined && isBefore(one.ended, opening.started))
    )
    trial.check(3, left === undefined, () => `part ${left?.part} is still sent while the next session is opened`)
  }
}

/** What is in storage at the end, and how it got there: the first three laws. */
export const bytes = (trial: Trial): void => {
  for (const run of trial.history.runs) {
    judgeUploaded(trial, run)
    judgeSessions(trial, run)
  }
  for (const exchange of trial.history.exchanges) if (isComplete(exchange)) judgeComplete(trial, exchange)
  judgeAttempts(trial)
}
