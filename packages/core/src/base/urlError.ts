/** What can be wrong with a pre-signed URL besides its age. */
import * as Schema from "effect/Schema"
import * as Recovery from "../Recovery.js"
import { answer, of, trace } from "./storageWords.js"
import { TaggedError } from "./taggedError.js"

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
      "storage is wrong. Tell whoever runs them; a small difference is gone when it is run again."
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
    return `The pre-signed URL of ${
      of(this)
    } has a path with "." or ".." that is resolved here before it is sent, so ` +
      "its signature would not match: nothing was sent. The service should percent-encode the slashes of such a key, or " +
      "name it otherwise; NodeStevedore.layer sends it as it is."
  }
}
