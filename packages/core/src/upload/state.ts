/** Where an upload stands. Each state but the last two is a step that `upload/run` performs, with what it needs. */
import type * as Arr from "effect/Array"
import type * as Either from "effect/Either"
import type { ChecksumAlgorithm } from "../Checksum.js"
import type { DownloadError } from "../DownloadError.js"
import type { FileRecord } from "../FileRecord.js"
import type { UploadRecord } from "../ledger/record.js"
import type { PresignedUrl } from "../PresignedUrl.js"
import type { Recoverable } from "../Recovery.js"
import type * as RetryPolicy from "../RetryPolicy.js"
import type { Service } from "../ServiceApi.js"
import type { SourceError } from "../SourceError.js"
import type { UploadError } from "../UploadError.js"
import type { Unfinished } from "../UploadLedger.js"
import type { ByteRange } from "../UploadPlan.js"
import type { PartReceipt, UploadSession } from "../UploadSession.js"
import type { UploadSource } from "../UploadSource.js"
import type { CheckedOptions } from "./checkedOptions.js"

/** What does not change while an upload runs. */
export interface Terms {
  readonly source: UploadSource
  readonly options: CheckedOptions
  readonly service: Pick<Service, "baseUrl" | "profile" | "allowInsecureHttp">
  readonly policy: RetryPolicy.Policy
  /** Of the checksums in the receipts. */
  readonly algorithm: ChecksumAlgorithm
}

/** A part of a session: its number from 1, its bytes, and its URL. */
export interface Part {
  readonly partNumber: number
  readonly range: ByteRange
  readonly url: PresignedUrl
}

/** A session as an upload works with it. */
export interface Session {
  readonly fileId: string
  readonly uploadId: string | undefined
  readonly numericIds?: UploadSession["numericIds"]
  readonly clockOffset: number
  readonly openedAt: number
  /** How many parts it has. */
  readonly count: number
  /** Its parts with their URLs; none if an earlier process sent them all and may have sent Complete. */
  readonly parts: ReadonlyArray<Part>
  /** Whether an earlier process worked on it: it may have been sending any part when it ended. */
  readonly inherited: boolean
}

export type Receipts = ReadonlyArray<PartReceipt>

/** Why a step follows, for those who watch the upload or read its log. */
export type Notice =
  | { readonly _tag: "Resumes"; readonly confirmed: number; readonly parts: number }
  | { readonly _tag: "StartsOver"; readonly why: string }
  | { readonly _tag: "EarlierSessionGone"; readonly error: UploadError }
  | { readonly _tag: "SessionEnded"; readonly number: number; readonly error: UploadError }
  | { readonly _tag: "PartsRefused" }

/** What every state has. */
export interface Course {
  /** What the ledger is to hold about this upload from now on. */
  readonly record: UploadRecord | undefined
  /** Which of the sessions that this run may use, from 1. One whose opening was lost counts. */
  readonly number: number
  /** How many of them ended with a failure that only one further session may help. */
  readonly lastChances: number
  readonly notice: Notice | undefined
}

/** How often it was tried to open the present session: calls, their requests, and failures that one retry may help. */
export interface Tries {
  readonly calls: number
  readonly requests: number
  readonly once: number
}

/**
 * The failure of a call, as one attempt of those that the policy allows to open a session: the waits between sessions
 * are to grow like any others.
 */
export const asCall = <E extends Recoverable & { readonly _tag: string }>(
  { _tag, recovery, retryAfter }: E,
  { calls }: Tries
): Recoverable & Pick<E, "_tag"> => ({
  _tag,
  recovery,
  attempts: calls,
  retryAfter
})

export interface Opened {
  readonly session: UploadSession
  readonly record: UploadRecord | undefined
  /** In milliseconds of our clock. */
  readonly now: number
}

/** Looks in the ledger for what an earlier process left. */
export interface Finding extends Course {
  readonly _tag: "Finding"
}

/** Compares the source with what storage has of it. */
export interface Proving extends Course {
  readonly _tag: "Proving"
  readonly session: Session
  readonly left: Unfinished
  readonly ranges: Arr.NonEmptyReadonlyArray<ByteRange>
  /** Opened to learn the server's time, and used if the earlier session is not. */
  readonly spare: Opened | undefined
}

/** Opens a session. */
export interface Opening extends Course {
  readonly _tag: "Opening"
  readonly tries: Tries
  /** After this failure, and the wait that it asks for. */
  readonly after: UploadError | undefined
  /** Goes on instead if it is still valid by the clock of the server that opens the session. */
  readonly left: Unfinished | undefined
}

/** Sends the parts of which there is no receipt. */
export interface Sending extends Course {
  readonly _tag: "Sending"
  readonly session: Session
  readonly receipts: Receipts
  /** The receipts that storage refused, some of which are in doubt: those parts are sent again. */
  readonly refused: Receipts | undefined
}

interface Sent extends Course {
  readonly session: Session
  readonly receipts: Receipts
  /** Whether parts were sent again because storage refused them. */
  readonly repaired: boolean
}

/** Tells the service that every part is in storage. */
export interface Completing extends Sent {
  readonly _tag: "Completing"
}

/** Asks whether the file is there. */
export interface Asking extends Sent {
  readonly _tag: "Asking"
  /** What left it open: Complete, a part that could not be sent again, or a receipt that an earlier process lost. */
  readonly after: "Completing" | "Sending" | "Restart"
  /** The failure that left it open; none after a restart. */
  readonly because: UploadError | undefined
}

export interface Done extends Course {
  readonly _tag: "Done"
  readonly file: FileRecord
  readonly receipts: Receipts
}

export interface Failed extends Course {
  readonly _tag: "Failed"
  readonly error: UploadError
}

export type State = Finding | Proving | Opening | Sending | Completing | Asking | Done | Failed

/** What the ledger had, if anything, and our clock. */
export interface Found {
  readonly left: Unfinished | undefined
  readonly now: number
}

/** Whether the source is the same, or why it cannot be compared. */
export type Proof = Either.Either<boolean, SourceError>

/**
 * The service's record of the file, and whether a byte of its content could be read; undefined if the record alone
 * decides.
 */
export interface FileLookup {
  readonly file: FileRecord
  readonly content: Either.Either<void, DownloadError> | undefined
}
