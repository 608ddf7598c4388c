/** What each error means for an upload, by the table of errors and what is particular. A page of the documentation shows it. */
import * as Struct from "effect/Struct"
import * as ErrorKind from "../ErrorKind.js"
import { notJson } from "../ServiceError.js"
import type { UploadError } from "../UploadError.js"
import type { PartReceipt } from "../UploadSession.js"

/** What follows from an error. */
export interface Meaning {
  /**
   * Whether the ledger keeps the session, so that running the upload again continues it. `unlessEarlier`: it keeps one
   * that this run opened; one that an earlier run left is simply too old. `sent`: storage has its bytes all the same, so
   * Complete follows.
   */
  readonly session: "kept" | "forgotten" | "unlessEarlier" | "sent"
  /**
   * Which session is opened after it: none, the next of those that a run may use, or one instead of a session that an
   * earlier run left, which is then gone.
   */
  readonly opens: "nothing" | "next" | "instead"
  /** Whether a Complete that fails like this may have been carried out. */
  readonly complete: "refused" | "open"
}

const kept: Meaning = { session: "kept", opens: "nothing", complete: "refused" }
const final: Meaning = { session: "forgotten", opens: "nothing", complete: "refused" }

/** What the table of errors says of an upload, in full. */
const meanings: Readonly<Record<ErrorKind.AfterUpload, Meaning>> = {
  kept,
  lost: { ...kept, complete: "open" },
  gone: { ...final, opens: "instead" },
  over: { ...final, opens: "next" },
  final,
  garbled: { ...final, complete: "open" },
  late: { ...final, session: "unlessEarlier" }
}

/** What only some errors of a tag mean, with the reason. */
export const particular = {
  "RequestRejected: redirect": kept,
  "InvalidResponse: no JSON": meanings.lost,
  "StorageRejected: redirect": kept,
  // a firewall: another network may let it pass, but an earlier session may as well be gone
  "StorageRejected: blocked": { ...kept, opens: "instead" },
  "StorageRejected: IncompleteBody": { ...kept, opens: "instead" },
  // the answer of the attempt that stored the file was lost, and the URL signs that it may not be stored twice
  "StorageRejected: stored": { session: "sent", opens: "nothing", complete: "refused" },
  // a stream that was consumed can be opened again in a new session
  "SourceUnreadable: ReadOnce": { ...kept, opens: "next" }
} as const satisfies Readonly<Record<`${UploadError["_tag"]}: ${string}`, Meaning>>

type Tag = keyof typeof ErrorKind.table

const endsUpload = (tag: Tag): tag is UploadError["_tag"] => ErrorKind.table[tag].length === 4

/** The tags of the errors that an upload can end with. */
export const uploadTags = () => Struct.keys(ErrorKind.table).filter(endsUpload)

type Row = UploadError["_tag"] | keyof typeof particular

const isRedirect = (status: number): boolean => status >= 300 && status < 400

/** The row of an error. */
export const rowOf = (error: UploadError): Row => {
  switch (error._tag) {
    // neither the service nor storage redirects an upload, unless storage says why: a network's sign-in page does
    case "RequestRejected":
      return isRedirect(error.status) ? "RequestRejected: redirect" : error._tag
    case "StorageRejected":
      return error.code === "IncompleteBody"
        ? "StorageRejected: IncompleteBody"
        : error.code === undefined && isRedirect(error.status)
        ? "StorageRejected: redirect"
        : error.excerpt !== undefined && [403, 407, 451].includes(error.status)
        ? "StorageRejected: blocked"
        : error.status === 412 && error.mayHaveArrived === true
        ? "StorageRejected: stored"
        : error._tag
    case "InvalidResponse":
      return error.problem === notJson ? "InvalidResponse: no JSON" : error._tag
    case "SourceUnreadable":
      return error.reason === "ReadOnce" ? "SourceUnreadable: ReadOnce" : error._tag
    default:
      return error._tag
  }
}

const isParticular = (row: Row): row is keyof typeof particular => row in particular

/** What a row means. */
export const rowMeaning = (row: Row): Meaning => isParticular(row) ? particular[row] : meanings[ErrorKind.table[row][3]]

/** What an error means. */
export const meaningOf = (error: UploadError): Meaning => rowMeaning(rowOf(error))

/** Storage rejected the etags, because a part is not the one that its etag names. */
export const namesInvalidPart = (error: UploadError): boolean =>
  "issues" in error && error.issues.some(({ code }) => code === "InvalidPart")

/** Whether the service has answered a call, with whatever it failed with. */
export const wasAnswered = (error: UploadError): boolean => "issues" in error && error._tag !== "InvalidResponse"

/**
 * Whether a file may be complete although Complete has failed: an earlier attempt, of this call or of an earlier process,
 * would explain a refusal too, unless storage rejected the etags: that is reported only for an upload that was not
 * completed before.
 */
export const mayBeComplete = (error: UploadError, wasSentBefore: boolean): boolean => {
  const { complete, session } = meaningOf(error)
  if (complete === "open") return true
  if (!("operation" in error) || namesInvalidPart(error)) return false
  return error.mayHaveArrived === true || (wasSentBefore && session === "forgotten")
}

/**
 * What is left of an upload whose Complete was not carried out. `waiting`: the same may be carried out later. `kept`: once
 * somebody has changed what it was refused for. `repairable`: once storage has a part again. `over`: never.
 */
export const leftAfterComplete = (error: UploadError): "waiting" | "kept" | "repairable" | "over" =>
  namesInvalidPart(error)
    ? "repairable"
    : meaningOf(error).session !== "kept"
    ? "over"
    : error.kind === "tryLater"
    ? "waiting"
    : "kept"

/**
 * Whether a rejected Complete may be due to this part: if it was sent several times, a late request may have replaced
 * the one that the receipt belongs to. The service responds with a 502, or with the code `InvalidPart`, if storage
 * rejected the etags. A gateway's 502 has no issues: it is no reason to send again what a browser may have repeated,
 * which is every part.
 */
export const isDoubtful = (refusal: UploadError, { attempts, perhapsRepeated = false }: PartReceipt): boolean =>
  (refusal._tag === "ServiceUnavailable" || refusal._tag === "RequestRejected") &&
  (refusal.status === 502 || namesInvalidPart(refusal)) &&
  (attempts > 1 || (perhapsRepeated && refusal.issues.length > 0))
