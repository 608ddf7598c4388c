/**
 * A session as an upload works with it: which bytes go to which URL, until when, and what proves that its file is there.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { DownloadError } from "../DownloadError.js"
import type { InvalidPartCount } from "../errors/planError.js"
import type { FileRecord } from "../FileRecord.js"
import type { ServiceProfile } from "../ServiceProfile.js"
import type { UploadError } from "../UploadError.js"
import * as UploadPlan from "../UploadPlan.js"
import type { ByteRange } from "../UploadPlan.js"
import type { UploadSession } from "../UploadSession.js"
import { partSizeOf, uploadIdOf, urlsOf } from "../UploadSession.js"
import type { FileLookup, Part, Session } from "./state.js"

/** Which bytes go to which of a session's URLs, in order. A single PUT has no `uploadId` and takes all bytes. */
export const rangesOf = (
  session: {
    readonly parts: number
    readonly uploadId?: string | undefined
    /** The part size that the service named, in bytes. */
    readonly partSize?: number | undefined
  },
  size: number,
  limits: ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<ByteRange>, InvalidPartCount> =>
  session.uploadId === undefined
    ? Either.right([{ offset: 0, length: size }])
    : UploadPlan.ranges(size, session.parts, limits, session.partSize)

/** A session for a file of this size, with its parts. */
export const usable = (
  session: UploadSession,
  size: number,
  limits: ServiceProfile["limits"],
  inherited: boolean
): Either.Either<Session & { readonly parts: Arr.NonEmptyReadonlyArray<Part> }, InvalidPartCount> => {
  const { clockOffset, fileId, numericIds, openedAt } = session
  const urls = urlsOf(session)
  const uploadId = uploadIdOf(session)
  return Either.map(
    rangesOf({ parts: urls.length, uploadId, partSize: partSizeOf(session) }, size, limits),
    (ranges) => ({
      fileId,
      uploadId,
      numericIds,
      clockOffset,
      openedAt,
      count: urls.length,
      // there are as many: a part without a URL of its own must not go to another's
      parts: Arr.map(ranges, (range, index) => ({ partNumber: index + 1, range, url: Arr.unsafeGet(urls, index) })),
      inherited
    })
  )
}

/** The latest time that a Date can represent. */
const lastMoment = 8.64e15

/** When the first URL of these parts expires, in the server's time. */
export const deadlineOf = (parts: ReadonlyArray<Part>): Date =>
  new Date(
    parts.reduce(
      (first, { url }) =>
        Option.match(url.deadline, { onNone: () => first, onSome: (one) => Math.min(first, one.getTime()) }),
      lastMoment
    )
  )

/** Whether the state of a record says that the file is there: the profile names these states. */
export const isFinal = ({ finalStates }: ServiceProfile, { status }: FileRecord): boolean =>
  status !== undefined && finalStates.includes(status)

/** Whether a download says that there is no such file. */
const isMissing = (error: DownloadError): boolean =>
  error._tag === "NotFound" || (error._tag === "StorageRejected" && error.status === 404)

/**
 * What is known of a file that was asked for. A record proves nothing unless its state is final or a byte of the content
 * can be read: it may exist before.
 */
export type Outcome =
  | { readonly _tag: "There"; readonly file: FileRecord }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Bad" }
  | { readonly _tag: "Unknown"; readonly error: UploadError | undefined }

/** What an answer, or a failure to get one, says of a file. */
export const outcomeOf = (profile: ServiceProfile, end: Either.Either<FileLookup, UploadError>): Outcome => {
  if (Either.isLeft(end)) {
    return end.left._tag === "NotFound" ? { _tag: "Missing" } : { _tag: "Unknown", error: end.left }
  }
  const { content, file } = end.right
  if (file.status === "failed") return { _tag: "Bad" }
  if (content === undefined ? isFinal(profile, file) : Either.isRight(content)) return { _tag: "There", file }
  return content !== undefined && Either.isLeft(content) && isMissing(content.left)
    ? { _tag: "Missing" }
    : { _tag: "Unknown", error: undefined }
}
