import { isThere } from "@stevedore/core/FileRecord"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import type { SourceError } from "@stevedore/core/SourceError"
import type { SourceFingerprint } from "@stevedore/core/UploadSource"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import * as NodeChecksum from "@stevedore/node/NodeChecksum"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type { UploadedFile } from "../print/schemas.js"

/**
 * A time in milliseconds as an ISO 8601 date; null for one that a date cannot represent, such as some file systems have.
 */
export const isoOf = (millis: number | undefined): string | null =>
  millis === undefined ? null : Option.getOrNull(Option.map(DateTime.make(millis), DateTime.formatIso))

export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, (millis) => isoOf(millis) ?? "")

/** How a file is described on the command line, or in its row: what is not given is as it is. */
export interface Described {
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

/**
 * Whether the service was told of the file what it is to be told now. A name that follows from how the file was named on
 * the command line does not count: the same file is not sent twice because its folder was named instead of it.
 */
export const isDescribedAs = (file: UploadedFile, { mediaType, name }: Described): boolean =>
  (name === undefined || name === file.name) && (mediaType === undefined || mediaType === file.mediaType)

/**
 * Whether a file still has the size and the date that it had. If the file system knows that something of it has changed
 * all the same, its content decides.
 */
export const isUnchanged = (file: UploadedFile, fingerprint: SourceFingerprint): boolean =>
  file.fingerprint.kind === fingerprint.kind && file.size === fingerprint.size &&
  file.fingerprint.modified === fingerprint.modified && file.fingerprint.sample === fingerprint.sample

/**
 * Whether a file still has the content that it had, whatever its date, by reading it. One whose checksum is not known
 * counts as changed.
 */
export const isSameContent = (
  file: UploadedFile,
  source: RepeatableSource
): Effect.Effect<boolean, SourceError> =>
  file.checksum === null || file.size !== source.size
    ? Effect.succeed(false)
    : NodeChecksum.isOf(file.checksum, source)

/**
 * Asks the service for an uploaded file; none if the service no longer has it, or never had it for this token, or if it
 * has failed or has another size.
 */
export const stillThere = (
  file: UploadedFile
): Effect.Effect<Option.Option<UploadedFile>, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service) => service.file(file.fileId)).pipe(
    Effect.flatMap((record) =>
      Effect.map(now, (checkedAt) => isThere(record, file.size) ? Option.some({ ...file, checkedAt }) : Option.none())
    ),
    Effect.catchTag("NotFound", "Forbidden", () => Effect.succeedNone)
  )

// Each costs a call, of which some services allow 200 a minute
const askedAtOnce = 100

const shortestTrust = Duration.toMillis("1 day")
const longestTrust = Duration.toMillis("30 days")

const millisOf = (date: string): number =>
  Option.match(DateTime.make(date), { onNone: () => 0, onSome: ({ epochMillis }) => epochMillis })

// A file that was there after a week is likely to be there tomorrow
const isDue = (now: number) => ({ checkedAt, uploadedAt }: UploadedFile): boolean => {
  const checked = millisOf(checkedAt)
  const trust = Math.min(longestTrust, Math.max(shortestTrust, checked - millisOf(uploadedAt)))
  return now - checked >= trust || checked > now
}

/**
 * Which of the unchanged files the service is asked for: those that it was not asked for as long ago as it had them then,
 * a day at least and 30 days at most, and up to 100 of the others, those first that were asked for the longest ago. If one
 * of them is gone, the caller asks for all.
 */
export const worthAsking = <A extends { readonly known: UploadedFile }>(
  files: ReadonlyArray<A>,
  now: number
): ReadonlySet<A> => {
  const isDueNow = isDue(now)
  const due = files.filter(({ known }) => isDueNow(known))
  const byAge = Order.mapInput(Order.string, ({ known }: A) => known.checkedAt)
  const others = files.filter(({ known }) => !isDueNow(known)).sort(byAge)
  return new Set([...due, ...others.slice(0, Math.max(0, askedAtOnce - due.length))])
}
