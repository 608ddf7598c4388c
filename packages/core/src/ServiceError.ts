/** What the service can respond with, as typed errors. */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { printable } from "./base/text.js"
import { ConnectionFailed, TimedOut } from "./ConnectionError.js"
import { noRoom, signIn } from "./errors/errorWords.js"
import * as PagePosition from "./errors/pagePosition.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"

/**
 * One entry of the service's error envelope (service contract: `{ "errors": [{ code, title, message?, path? }] }`).
 *
 * @category models
 */
export const Issue = Schema.Struct({
  code: Schema.String,
  title: Schema.optional(Schema.NullOr(Schema.String)),
  message: Schema.optional(Schema.NullOr(Schema.String)),
  path: Schema.optional(
    Schema.NullOr(Schema.Union(Schema.String, Schema.Array(Schema.Union(Schema.String, Schema.JsonNumber))))
  )
}).annotations({ identifier: "ServiceIssue" })

/** @category models */
export interface Issue extends Schema.Schema.Type<typeof Issue> {}

const answer = {
  /** The call, such as `initiateUpload`. */
  operation: Schema.String,
  status: Schema.Int,
  /** The service's issues: code and path of each; empty if the response had none. */
  issues: Schema.Array(Issue),
  /** A line of an error response without issues, such as a proxy's page: what a reader would see, without secrets. */
  excerpt: Schema.optional(Schema.String),
  /** The service's request id, for its support. */
  requestId: Schema.optional(Schema.String),
  /** In a walk of a list: the page that could not be fetched. */
  page: Schema.optional(PagePosition.PagePosition),
  /**
   * True if an earlier attempt of the call may have been carried out: its response was lost, or the service failed. What
   * the call was to change may have changed, whatever the last response says.
   */
  mayHaveArrived: Schema.optional(Schema.Boolean),
  attempts: Recovery.attempts
}

const describeIssue = ({ code, message, path, title }: Issue): string => {
  const place = typeof path === "string" ? path : path?.join(".")
  const words = message ?? title
  return `${printable(code)}${place ? ` at ${printable(place)}` : ""}${words ? `: ${printable(words, 1000)}` : ""}`
}

/** The issues that a message names. */
const mostDescribed = 10

const describeIssues = (issues: ReadonlyArray<Issue>): ReadonlyArray<string> => {
  const more = issues.length - mostDescribed
  return issues.slice(0, mostDescribed).map(describeIssue).concat(more > 0 ? `and ${more} more` : [])
}

const describe = (
  error: Recovery.Recoverable & {
    readonly issues: ReadonlyArray<Issue>
    readonly excerpt?: string | undefined
    readonly requestId?: string | undefined
    readonly page?: PagePosition.PagePosition | undefined
  }
): string =>
  `${
    [
      ...describeIssues(error.issues),
      ...(error.excerpt === undefined ? [] : [`it says "${printable(error.excerpt)}"`]),
      Recovery.describeAttempts(error)
    ].join("; ")
  }${error.requestId === undefined ? "" : `, request ${printable(error.requestId)}`}${
    error.page === undefined ? "" : `, ${PagePosition.describe(error.page)}`
  }`

// A service speaks JSON: a page, or plain text, may as well be from a proxy or firewall in front of it
const isForeign = ({ excerpt }: { readonly excerpt?: string | undefined }): boolean =>
  excerpt !== undefined && !/^[[{]/.test(excerpt)

const foreign = (error: { readonly operation: string; readonly status: number } & Parameters<typeof describe>[0]) =>
  `${error.operation} was answered with ${error.status} and a page or a text (${describe(error)}). Perhaps ` +
  "something in between sent it, such as a proxy, a firewall or a sign-in page: check the base URL and the " +
  "network. "

/**
 * 401: the token is missing, wrong or expired; in a web page, the session with the server in between.
 *
 * @category errors
 */
export class Unauthorized extends TaggedError<Unauthorized>()("Unauthorized", answer) {
  override get message(): string {
    return isForeign(this)
      ? `${foreign(this)}If it was the service, sign in again, or create a new token.`
      : `The service rejected the token or session for ${this.operation} (${describe(this)}). ` +
        "Sign in again, or create a new token."
  }
}

/**
 * 403: the token is valid, but does not permit this.
 *
 * @category errors
 */
export class Forbidden extends TaggedError<Forbidden>()("Forbidden", answer) {
  override get message(): string {
    return isForeign(this)
      ? `${foreign(this)}If it was the service, ask for the permission, or use another token.`
      : `The token does not allow ${this.operation} (${describe(this)}). Ask for the permission, or use another token.`
  }
}

/**
 * 404: this does not exist, or is not visible to the token.
 *
 * @category errors
 */
export class NotFound extends TaggedError<NotFound>()("NotFound", {
  ...answer,
  /** The path that was asked for, such as `/v1/files/abc`; never its query. */
  path: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `The service found nothing for ${this.operation}${
      this.path === undefined ? "" : ` at ${printable(this.path)}`
    } (${describe(this)}). Check the id and the base URL.`
  }
}

/**
 * 409: the upload failed, was cancelled, or is being changed by somebody else.
 *
 * @category errors
 */
export class UploadConflict extends TaggedError<UploadConflict>()("UploadConflict", answer) {
  override get message(): string {
    return `The service says that this upload failed or was cancelled (${describe(this)}). Upload the file again.`
  }
}

/**
 * 400, 422, and any other status that a retry cannot change, with the service's codes and paths.
 *
 * @category errors
 */
export class RequestRejected extends TaggedError<RequestRejected>()("RequestRejected", {
  ...answer,
  /** The size of the file in bytes, if a 416 reports it: no byte of the file is in the requested range. */
  totalLength: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    return `The service refused ${this.operation} with ${this.status} (${describe(this)}). ${
      this.status >= 300 && this.status < 400
        ? "It redirects, perhaps to a sign-in page, which is not followed: check the base URL."
        : "Fix what it names; if it names a field that you did not set, the profile does not fit the service."
    }`
  }
}

/**
 * 429: too many requests for the token's workspace.
 *
 * @category errors
 */
export class RateLimited extends TaggedError<RateLimited>()("RateLimited", {
  ...answer,
  /** How long the service asks to wait, if it says. Encoded in milliseconds. */
  retryAfter: Recovery.retryAfter
}) {
  override get message(): string {
    return `The service's rate limit is reached for ${this.operation} (${describe(this)}${
      Recovery.describeWait(this)
    }). Wait that long, or make fewer calls at once; one call looks again after a minute.`
  }
}

/**
 * 5xx, 408, 421, 423, 425, or an error in the body of a success: the service, or a gateway in front of it, failed for now.
 *
 * @category errors
 */
export class ServiceUnavailable extends TaggedError<ServiceUnavailable>()("ServiceUnavailable", {
  ...answer,
  retryAfter: Recovery.retryAfter
}) {
  override get recovery(): Recovery.Recovery {
    return this.status === 507 ? "none" : "retry"
  }
  override get message(): string {
    return `The service is unavailable for ${this.operation}: ${this.status} (${describe(this)}${
      Recovery.describeWait(this)
    }). ${this.status === 511 ? signIn : this.status === 507 ? noRoom : "Try again later."}`
  }
}

/**
 * The problem of a body that is not JSON, such as a proxy's page or a truncated response. Another attempt may get a
 * proper one.
 *
 * @internal
 */
export const notJson = "no JSON"

/**
 * The response does not match the contract: HTML, an empty body, truncated JSON or another shape.
 *
 * @category errors
 */
export class InvalidResponse extends TaggedError<InvalidResponse>()("InvalidResponse", {
  ...answer,
  /** Where in the response, such as `data.urls[2]`; empty for the whole body. */
  path: Schema.String,
  /** What is wrong there. Never the value itself, which may be a signed URL. */
  problem: Schema.String,
  /** The entry of the service profile that would help, such as `fields.fileId`. */
  profile: Schema.optional(Schema.String),
  /** The names of the fields that came there instead, such as `file.uuid`; never their values. */
  received: Schema.optional(Schema.Array(Schema.String))
}) {
  override get recovery(): Recovery.Recovery {
    return this.problem === notJson ? "retryOnce" : "none"
  }
  override get message(): string {
    return `The response to ${this.operation} (${this.status}) does not match the contract: ${this.problem} at ${
      this.path === "" ? "the whole body" : printable(this.path)
    } (${describe(this)}). ${
      this.received === undefined || this.received.length === 0
        ? ""
        : `The fields that came are ${printable(this.received.join(", "))}. `
    }${
      this.profile === undefined
        ? "Check the base URL and the profile: this may be another service, or a proxy's page."
        : `If this is the right service, change ${this.profile} in the profile.`
    }`
  }
}

/**
 * Every way a call of the service can fail. Its encoded form decodes back, so it can cross workers and networks.
 *
 * @category errors
 */
export const ServiceError = /* #__PURE__ */ Schema.Union(
  Unauthorized,
  Forbidden,
  NotFound,
  UploadConflict,
  RequestRejected,
  RateLimited,
  ServiceUnavailable,
  InvalidResponse,
  ConnectionFailed,
  TimedOut
).annotations({ identifier: "ServiceError" })

/** @category errors */
export type ServiceError = typeof ServiceError.Type

/**
 * Adds the page of a walk to an error, so that the walk can continue from there.
 *
 * @internal
 */
export const onPage = (error: ServiceError, page: PagePosition.PagePosition): ServiceError =>
  Schema.encodeEither(ServiceError)(error).pipe(
    Either.flatMap((encoded) => Schema.decodeEither(ServiceError)({ ...encoded, page })),
    Either.getOrElse(() => error)
  )
