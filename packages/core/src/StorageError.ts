/** What an object storage can respond to a pre-signed request, as typed errors. */
import * as Schema from "effect/Schema"
import { printable } from "./base/text.js"
import { ConnectionFailed, TimedOut } from "./ConnectionError.js"
import { noRoom, signIn } from "./errors/errorWords.js"
import {
  answer,
  coded,
  contentHeader,
  expiry,
  listed,
  of,
  quotedWords,
  respelled,
  trace,
  UrlAltered,
  UrlNotYetValid
} from "./errors/storageWords.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"

/**
 * 403: the signature does not match the request: its method, its path or a signed header differs. Expiry is not the
 * cause, and no retry helps.
 *
 * @category errors
 */
export class SignatureMismatch403 extends TaggedError<SignatureMismatch403>()("SignatureMismatch403", {
  ...answer,
  /** The headers that the URL says are signed, in lower case. */
  signedHeaders: Schema.Array(Schema.String),
  /** The names of the headers that were sent, in lower case. */
  sentHeaders: Schema.Array(Schema.String),
  /** Whether the transport may have sent the URL in another spelling than was signed, such as `%27` for `'`. */
  respelled: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    return `Storage refused ${of(this)}: the signature does not match (${trace(this)}). The URL signs [${
      listed(this.signedHeaders)
    }], but the request had [${
      this.sentHeaders.join(", ")
    }]. Check what the service signs; for an upload, against the profile's encryptionHeaders.${
      this.respelled === true ? respelled : ""
    }`
  }
}

/**
 * The URL is dead: it has expired, or what it was signed with is no longer valid; `reason` says how this is known. Only
 * a new session helps.
 *
 * @category errors
 */
export class UrlExpired extends TaggedError<UrlExpired>()("UrlExpired", {
  ...answer,
  /**
   * How this is known: from the URL's own deadline, before sending (`Deadline`); because not all bytes could be sent
   * before the deadline at the speed of the connection (`TooLate`); by the lifetime that was assumed, because the URL
   * states none (`Assumed`); from the storage's response (`Refused`); because
   * the credentials that signed it expired (`Credentials`); because storage does not, or no longer, know the key that
   * signed it (`UnknownKey`); or because the signer's clock is wrong (`Clock`).
   */
  reason: Schema.Literal("Deadline", "TooLate", "Assumed", "Refused", "Credentials", "UnknownKey", "Clock"),
  /** When the URL expired, in the storage's time, if that is the reason and known. */
  deadline: Schema.optional(Schema.Date),
  /** The storage's clock when it responded, if it said so. */
  serverTime: Schema.optional(Schema.Date)
}) {
  override get message(): string {
    const at = this.deadline ?? this.serverTime
    const ends = this.reason === "TooLate" ? "expires" : "expired"
    const when = at === undefined ? "" : ` at ${at.toISOString()}`
    return `The pre-signed URL of ${of(this)} ${ends}${when} (${expiry[this.reason]}; ${trace(this)}). ` +
      (this.reason === "UnknownKey"
        ? "Ask whoever runs the service."
        : "Run it again for a new one; on a slow connection, use a smaller file or more bandwidth.")
  }
}

/**
 * 403: a header that storage requires to be signed was sent, but is not among the signed ones.
 *
 * @category errors
 */
export class HeadersNotSigned extends TaggedError<HeadersNotSigned>()("HeadersNotSigned", {
  ...answer,
  headers: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Storage refused ${of(this)}: these headers are not signed: ${listed(this.headers)} (${trace(this)}). ` +
      "Remove them from the profile's encryptionHeaders, or have the service sign them."
  }
}

/**
 * The URL signs a header that the profile does not have, or one whose value follows from the file by an algorithm that is
 * not available. Known before anything is sent.
 *
 * @category errors
 */
export class SignedHeaderMissing extends TaggedError<SignedHeaderMissing>()("SignedHeaderMissing", {
  part: Schema.optional(Schema.Int),
  headers: Schema.Array(Schema.String),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    const isOfContent = this.headers.every((name) => contentHeader(name) !== undefined)
    const [why, remedy] = isOfContent
      ? [
        "follows from the file by an algorithm that is not available here",
        "Have the service not sign it, or add the algorithm to Checksum.Known"
      ]
      : ["the profile does not have", "Add its name and value to the profile's encryptionHeaders"]
    return `The pre-signed URL of ${of(this)} signs ${listed(this.headers)}, which ${why}: nothing was sent. ${remedy}.`
  }
}

/**
 * 403: a bucket policy or an encryption key's permissions forbid it.
 *
 * @category errors
 */
export class StorageForbidden extends TaggedError<StorageForbidden>()("StorageForbidden", {
  ...answer,
  code: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `Storage forbids ${of(this)}${coded(" (", this.code, ")")} (${trace(this)})${quotedWords(this)}` +
      `Ask whoever runs the service${
        /^(AccessDenied|KMS)/.test(this.code ?? "") ? ": its bucket policy or encryption key refuses it" : ""
      }.`
  }
}

/**
 * Storage rejected the request in a way that no retry changes, with one exception: a body that arrived incomplete is
 * sent once more.
 *
 * @category errors
 */
export class StorageRejected extends TaggedError<StorageRejected>()("StorageRejected", {
  ...answer,
  status: Schema.Int,
  /** The storage's `<Code>`, if it gave one. */
  code: Schema.optional(Schema.String),
  /** The size of the object in bytes, if a 416 reports it: no byte of the object is in the requested range. */
  totalLength: Schema.optional(Schema.Int),
  /** A line of what answered, without secrets, if that was no document of storage's: perhaps something in between. */
  excerpt: Schema.optional(Schema.String),
  /** Whether an earlier attempt of the same single PUT may have stored the file, so that a 412 says that it has. */
  mayHaveArrived: Schema.optional(Schema.Boolean)
}) {
  override get recovery(): Recovery.Recovery {
    return this.code === "IncompleteBody" ? "retryOnce" : "none"
  }
  override get message(): string {
    if (this.excerpt !== undefined) {
      return `Perhaps a firewall or a proxy refused ${of(this)} with ${this.status}: ` +
        `"${printable(this.excerpt)}" (${trace(this)}). Ask whoever runs this network, then whoever runs the service.`
    }
    return `Storage refused ${of(this)}: ${this.status}${coded(" ", this.code)} (${trace(this)})${quotedWords(this)}${
      this.status >= 300 && this.status < 400
        ? "It redirects, perhaps to a sign-in page: the service must sign for the right endpoint."
        : "Report it to whoever runs the service, with the request id."
    }`
  }
}

/**
 * Storage could not serve the request for now: 5xx, 408, 409, 421, 423, 425, 429, a body that stopped coming, or an error
 * or page in a 200.
 *
 * @category errors
 */
export class StorageUnavailable extends TaggedError<StorageUnavailable>()("StorageUnavailable", {
  ...answer,
  status: Schema.Int,
  code: Schema.optional(Schema.String),
  /** How many bytes had been sent, if it reported a success before it can have had the whole body. */
  sentBytes: Schema.optional(Schema.Int),
  retryAfter: Recovery.retryAfter
}) {
  override get recovery(): Recovery.Recovery {
    if (this.status === 507) return "none"
    // MinIO uses SlowDownRead and SlowDownWrite
    return this.status === 429 || this.code?.startsWith("SlowDown") === true ? "slowDown" : "retry"
  }
  override get message(): string {
    if (this.sentBytes !== undefined) {
      return `Storage answered ${of(this)} with ${this.status} when only ${this.sentBytes} bytes had been sent (${
        trace(this)
      }). It confirms what it has not received: tell whoever runs the service.`
    }
    return `Storage is unavailable for ${of(this)}: ${this.status}${coded(" ", this.code)} (${trace(this)}${
      Recovery.describeWait(this)
    })${quotedWords(this)}${
      (this.status < 300 || this.status === 511) && !this.code
        ? signIn
        : this.status === 507
        ? noRoom
        : "Try again later; after SlowDown, lower the concurrency."
    }`
  }
}

/**
 * The PUT succeeded, but its etag cannot be read. Without it, the upload cannot be completed.
 *
 * @category errors
 */
export class EtagMissing extends TaggedError<EtagMissing>()("EtagMissing", answer) {
  override get message(): string {
    return `Storage accepted ${of(this)}, but its ETag cannot be read (${trace(this)}). A page needs ` +
      "Access-Control-Expose-Headers: ETag in the bucket's CORS rules."
  }
}

/**
 * Storage reports that it holds other bytes than were sent: they were damaged in transit.
 *
 * @category errors
 */
export class ChecksumMismatch extends TaggedError<ChecksumMismatch>()("ChecksumMismatch", {
  ...answer,
  /** Such as `crc32`. */
  algorithm: Schema.String,
  /** The checksum computed while sending, in base64. */
  sent: Schema.String,
  /** The checksum that storage returned, in base64. */
  stored: Schema.String,
  /** The file, if it is the service that reports another checksum of the whole. */
  fileId: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `Storage has other bytes of ${of(this)} than were sent: ${
      printable(`${this.algorithm} ${this.stored}`)
    }, not ${this.sent} (${trace(this)}). Try another network: something changes bytes.`
  }
}

/**
 * Every way a request to the object storage can fail. Its encoded form decodes back, so it can cross workers and
 * networks.
 *
 * @category errors
 */
export const StorageError = /* #__PURE__ */ Schema.Union(
  SignatureMismatch403,
  UrlExpired,
  UrlNotYetValid,
  UrlAltered,
  HeadersNotSigned,
  SignedHeaderMissing,
  StorageForbidden,
  StorageRejected,
  StorageUnavailable,
  EtagMissing,
  ChecksumMismatch,
  ConnectionFailed,
  TimedOut
).annotations({ identifier: "StorageError" })

/** @category errors */
export type StorageError = typeof StorageError.Type

export {
  /**
   * The pre-signed URL is not the one that was issued.
   *
   * @category errors
   */
  UrlAltered,
  /**
   * The pre-signed URL is not valid yet by the clock of storage.
   *
   * @category errors
   */
  UrlNotYetValid
} from "./errors/storageWords.js"
