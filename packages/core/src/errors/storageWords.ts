/** What errors of storage and of pre-signed URLs say. */
import * as Schema from "effect/Schema"
import { printable } from "../base/text.js"
import * as Recovery from "../Recovery.js"
import { TaggedError } from "./taggedError.js"

/** The fields of every error that a response of storage is. @internal */
export const answer = {
  /** The part's number, from 1; absent for a whole file. */
  part: Schema.optional(Schema.Int),
  /** The storage's request id, for its support. */
  requestId: Schema.optional(Schema.String),
  /** What storage itself says of it, without secrets. */
  words: Schema.optional(Schema.String),
  attempts: Recovery.attempts
}

// without a part it may also be a download
export const of = (error: { readonly part?: number | undefined }): string =>
  error.part === undefined ? "the request" : `the PUT of part ${error.part}`

export const trace = (error: Recovery.Recoverable & { readonly requestId?: string | undefined }): string =>
  `${Recovery.describeAttempts(error)}${
    error.requestId === undefined ? "" : `, storage request ${printable(error.requestId)}`
  }`

export const coded = (before: string, code: string | undefined, after = ""): string =>
  code === undefined ? "" : `${before}${printable(code)}${after}`

/** Storage's own sentence, and what to do about the header that it is about. */
export const quotedWords = ({ words = "" }: { readonly words?: string | undefined }): string => {
  const header = /\bx-[\w-]+/i.exec(words)?.[0]
  return `${words && `: "${printable(words)}"`}. ${
    header ? `The profile's encryptionHeaders can add or omit ${header}. ` : ""
  }`
}

export const listed = (headers: ReadonlyArray<string>): string => printable(headers.join(", "), 1000)

/** How it is known that a URL has expired. @internal */
export const expiry = {
  Deadline: "by its own deadline",
  TooLate: "too soon for this connection",
  Assumed: "by the lifetime assumed for it",
  Refused: "refused by storage",
  Credentials: "the credentials behind it expired",
  UnknownKey: "storage does not know its key",
  Clock: "by storage's clock: the signer's is wrong"
} as const

export const respelled = " Some characters of the URL are sent percent-encoded here: the service should sign it so."

/**
 * Storage refused the URL because it is not valid yet: by storage's clock, it has not been signed yet. One of the two
 * clocks is wrong. It is waited for, if that takes no longer than the retry policy waits when asked to.
 */
export class UrlNotYetValid extends TaggedError<UrlNotYetValid>()("UrlNotYetValid", {
  ...answer,
  /** When the URL begins to be valid, by the clock of what signed it, if known. */
  start: Schema.optional(Schema.Date),
  /** The storage's clock when it responded, if it said so. */
  serverTime: Schema.optional(Schema.Date),
  /** How long until the URL begins to be valid, by storage's clock. */
  retryAfter: Recovery.retryAfter
}) {
  override get message(): string {
    const times = this.start === undefined || this.serverTime === undefined
      ? ""
      : `: it was signed at ${this.start.toISOString()}, but storage's clock says ${this.serverTime.toISOString()}`
    return `The pre-signed URL of ${of(this)} is not valid yet${times} (${
      trace(this)
    }). The clock of the service or of ` +
      "storage is wrong: tell whoever runs them, or run it again."
  }
}

/**
 * The URL has a path that this client, or a page, cannot send as it was signed, such as `/./` or `/../`: storage would see
 * another one. Known before anything is sent. Node's own sockets send every path.
 */
export class UrlAltered extends TaggedError<UrlAltered>()("UrlAltered", {
  part: Schema.optional(Schema.Int),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `The pre-signed URL of ${of(this)} has "." or ".." in its path, which is resolved here: nothing was sent. ` +
      "The service should name such a key otherwise; NodeStevedore.layer sends it as it is."
  }
}

/** A header whose value follows from the bytes that are sent with it. @internal */
export interface ContentHeader {
  /** Such as `crc32`: a name of `ChecksumAlgorithm`. */
  readonly algorithm: string
  /** The value, from the checksum in base64. */
  readonly valueOf: (checksum: string) => string
}

const hex = (base64: string): string =>
  Array.from(atob(base64), (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join("")

const asIs = (checksum: string): string => checksum

const named: Readonly<Record<string, ContentHeader>> = {
  "content-md5": { algorithm: "md5", valueOf: asIs },
  "x-amz-content-sha256": { algorithm: "sha256", valueOf: hex }
}

// These say how a checksum is made
const settings = ["type", "algorithm", "mode"]

/** What a signed header, in lower case, says of the content; nothing if its value does not depend on it. @internal */
export const contentHeader = (name: string): ContentHeader | undefined => {
  const [, algorithm] = /^x-amz-checksum-(.+)$/.exec(name) ?? []
  return algorithm === undefined
    ? Object.hasOwn(named, name) ? named[name] : undefined
    : settings.includes(algorithm)
    ? undefined
    : { algorithm, valueOf: asIs }
}
