/** Whether an upload that an earlier process left behind can continue, and from where. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { ChecksumAlgorithm } from "../Checksum.js"
import * as Checksum from "../Checksum.js"
import type { UploadRecord } from "../ledger/record.js"
import type { Metadata } from "../Metadata.js"
import * as PresignedUrl from "../PresignedUrl.js"
import { ServiceApi } from "../ServiceApi.js"
import type { ServiceProfile } from "../ServiceProfile.js"
import type { SourceFingerprint } from "../source/fingerprint.js"
import type { SourceError } from "../SourceError.js"
import { SourceChanged } from "../SourceError.js"
import type { Unfinished } from "../UploadLedger.js"
import type { ByteRange } from "../UploadPlan.js"
import type { PartReceipt, UploadSession } from "../UploadSession.js"
import { partSizeOf, uploadIdOf, urlsOf } from "../UploadSession.js"
import type { OpenSource, UploadSource } from "../UploadSource.js"

/**
 * How much of what storage has confirmed is re-read before an upload continues: the first part, the last and one in
 * between, or every part.
 */
export type Verification = "sample" | "all"

/** A session that expires sooner than this is not worth continuing. */
const shortestRest = Duration.seconds(60)

const comparedFields = ["kind", "size", "modified", "identity", "sample"] as const

const differingField = (one: SourceFingerprint, other: SourceFingerprint) =>
  comparedFields.find((field) => one[field] !== other[field])

/** Whether a record belongs to this very source and service: size, date and identity are unchanged. */
export const isOf = (record: UploadRecord, source: UploadSource, service: string): boolean =>
  record.service === service && record.name === source.name && record.mediaType === source.mediaType &&
  differingField(record.fingerprint, source.fingerprint) === undefined

/** How a source differs from the one in the record: its size, date, identity or content; undefined if it does not. */
export const changeOf = (
  record: UploadRecord,
  { fingerprint, name }: Pick<UploadSource, "fingerprint" | "name">
): SourceChanged | undefined => {
  const field = differingField(record.fingerprint, fingerprint)
  return field === undefined ? undefined : new SourceChanged({
    fileName: name,
    what: field === "kind" ? "identity" : field === "sample" ? "content" : field,
    ...(field === "size"
      ? { expected: `${record.fingerprint.size} bytes`, actual: `${fingerprint.size} bytes` }
      : {})
  })
}

/**
 * The session of a record, if its URLs were kept and live long enough. A URL that does not say when it expires is
 * assumed to live as long as the profile says.
 */
export const sessionOf = (
  record: UploadRecord,
  now: number,
  { urlLifetimeSeconds }: Pick<ServiceProfile, "urlLifetimeSeconds">
): Option.Option<UploadSession> => {
  const { clockOffset, fileId, numericIds, openedAt, partSize, uploadId } = record.session
  if (record.session.urls === undefined) return Option.none()
  const assumedDeadline = new Date(openedAt + urlLifetimeSeconds * 1000)
  const urls = Arr.map(record.session.urls, PresignedUrl.endingBy(assumedDeadline))
  const until = now + clockOffset + Duration.toMillis(shortestRest)
  if (urls.some(PresignedUrl.hasEnded(until))) return Option.none()
  const fields = { fileId, numericIds, clockOffset, openedAt, extra: {} }
  return Option.some(
    uploadId === undefined
      ? { _tag: "SingleSession", ...fields, url: urls[0] }
      : { _tag: "MultipartSession", ...fields, uploadId, urls, partSize }
  )
}

/** Fails with `SourceChanged` if a source is not the one in the record: its size, date, identity or content differs. */
export const checkSame = (
  record: UploadRecord,
  source: Pick<UploadSource, "fingerprint" | "name">
): Effect.Effect<void, SourceChanged> => changeOf(record, source) ?? Effect.void

const chosen = (
  receipts: ReadonlyArray<PartReceipt>,
  verification: Verification
): Effect.Effect<ReadonlyArray<PartReceipt>> =>
  verification === "all" || receipts.length <= 3
    ? Effect.succeed(receipts)
    : Effect.map(Random.next, (random) =>
      [0, 1 + Math.floor(random * (receipts.length - 2)), receipts.length - 1].flatMap((index) =>
        receipts[index] ?? []
      ))

// Whoever does without checksums has none to compare. A source that has no identity could be any other of that size.
const isEnough = (
  { identity }: SourceFingerprint,
  { whileSending }: ChecksumAlgorithm,
  verification: Verification
): boolean => whileSending === false && verification === "sample" && identity !== undefined

// A source that can only be read in order could not skip what storage has
const canBeRead = (opened: OpenSource, { offset }: ByteRange): Effect.Effect<boolean, SourceError> =>
  Effect.as(opened.readThrough({ offset, length: 1 }, () => undefined), true)

const stillHas = (
  opened: OpenSource,
  algorithm: ChecksumAlgorithm,
  part: { readonly range: ByteRange; readonly receipt: PartReceipt }
): Effect.Effect<boolean, SourceError> =>
  Effect.suspend(() => {
    const running = algorithm.begin()
    return Effect.map(
      opened.readThrough(part.range, running.update),
      () => part.receipt.checksum === running.value()
    )
  })

/**
 * Whether the source still has the bytes that storage confirmed, judged by the checksums of a sample of the parts, or
 * of all. Parts without a checksum of the algorithm in force prove nothing, so they count as different.
 */
export const isSame = (
  opened: OpenSource,
  unfinished: Unfinished,
  ranges: ReadonlyArray<ByteRange>,
  verification: Verification
): Effect.Effect<boolean, SourceError> =>
  Effect.gen(function*() {
    const algorithm = yield* Checksum.Algorithm
    const byFingerprint = isEnough(unfinished.record.fingerprint, algorithm, verification)
    if (!byFingerprint && algorithm.name !== unfinished.record.checksumAlgorithm) return false
    for (const receipt of yield* chosen(unfinished.receipts, verification)) {
      const range = ranges[receipt.partNumber - 1]
      if (range?.length !== receipt.size) return false
      if (!(yield* byFingerprint ? canBeRead(opened, range) : stillHas(opened, algorithm, { range, receipt }))) {
        return false
      }
    }
    return true
  })

/**
 * What is recorded about a session before anything is sent, for a ledger or for a process that takes the upload over.
 * The caller chooses the id: that of a job, or the one that `UploadLedger.idOf` derives from the source.
 */
export const recordOf = (
  source: UploadSource,
  id: string,
  session: UploadSession,
  metadata?: Metadata
): Effect.Effect<UploadRecord, never, ServiceApi> =>
  Effect.gen(function*() {
    const { clockOffset, fileId, numericIds, openedAt } = session
    const urls = urlsOf(session)
    return {
      version: 1,
      id,
      service: (yield* ServiceApi).baseUrl,
      name: source.name,
      mediaType: source.mediaType,
      fingerprint: source.fingerprint,
      checksumAlgorithm: (yield* Checksum.Algorithm).name,
      session: {
        fileId,
        numericIds,
        clockOffset,
        openedAt,
        parts: urls.length,
        partSize: partSizeOf(session),
        urls,
        uploadId: uploadIdOf(session)
      },
      phase: "uploading",
      startedAt: yield* Clock.currentTimeMillis,
      ...(metadata && { metadata })
    }
  })
