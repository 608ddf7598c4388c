import * as Schema from "effect/Schema"
import * as Recovery from "../Recovery.js"
import { printable } from "./printable.js"

/** The fields of every error that a response of storage is. @internal */
export const answer = {
  /** The part's number, from 1; absent for a whole file. */
  part: Schema.optional(Schema.Int),
  /** The storage's request id, for its support. */
  requestId: Schema.optional(Schema.String),
  attempts: Recovery.attempts
}

// without a part it may also be a download
export const of = (error: { readonly part?: number | undefined }): string =>
  error.part === undefined ? "the request" : `the PUT of part ${error.part}`

export const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

export const trace = (error: Recovery.Recoverable & { readonly requestId?: string | undefined }): string =>
  `${Recovery.describeAttempts(error)}${
    error.requestId === undefined ? "" : `, storage request ${printable(error.requestId)}`
  }`

export const coded = (before: string, code: string | undefined, after = ""): string =>
  code === undefined ? "" : `${before}${printable(code)}${after}`

export const listed = (headers: ReadonlyArray<string>): string => printable(headers.join(", "), 1000)

/** How it is known that a URL has expired. @internal */
export const expiry = {
  Deadline: "by its own deadline",
  TooLate: "too soon for this connection",
  Assumed: "by the lifetime assumed for it: it states none",
  Refused: "refused by storage",
  Credentials: "the credentials behind it expired",
  UnknownKey: "storage does not know its key",
  Clock: "by storage's clock: the signer's is wrong"
} as const

export const respelled =
  " The URL was sent in another spelling than it was signed in, because this client or page writes some of its characters " +
  "percent-encoded: the service should sign it so."
