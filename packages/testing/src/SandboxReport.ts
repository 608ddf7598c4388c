/**
 * Everything that a sandbox saw, and the breaches of the contract that it noticed. It contains no token, no query and
 * no body.
 */
import * as Schema from "effect/Schema"
import * as Exchange from "./Exchange.js"

/**
 * The rules that a client can break without any single response revealing it.
 *
 * - `BearerAtStorage`: an `Authorization` header was sent to storage.
 * - `TraceHeadersAtStorage`: `traceparent`, `tracestate`, `b3` or `x-b3-*` were sent to storage.
 * - `UnknownInitiateFields`: an initiate request had fields that the service does not know.
 * - `ExpiredUrlRetried`: a URL was used again after storage had reported it expired.
 * - `OverlappingAttempts`: a part, or an object, was put while an earlier attempt of it was still running.
 * - `RefusalRetried`: a URL was put to again after storage had answered it with a refusal that no retry changes.
 * - `CompleteBeforeAllParts`: an upload was completed before its body, or every part of it, was stored.
 * - `PartsLeftOut`: every part was stored, but the Complete did not name all of them.
 * - `PartsOutOfOrder`: the parts of a Complete were not in ascending order, each once.
 * - `WrongEtag`: a Complete named an etag that is not, verbatim, the last one returned for that part.
 * - `PutAfterFinalized`: bytes were put to an upload that was already finalized.
 * - `EncryptionHeaderOnPart`: a part carried an encryption header that its URL does not sign.
 * - `MediaTypeDiffers`: the single PUT did not carry the media type that its initiate request declared.
 * - `TooManyInFlight`: more PUTs were in flight at once than the sandbox's `inFlightLimit`.
 * - `EarlierThanRetryAfter`: a request was sent to the service before the time that the `Retry-After` of its 429 named,
 *   or to a URL before the time that any other response to it named.
 *
 * @category models
 */
export const Rule = Schema.Literal(
  "BearerAtStorage",
  "TraceHeadersAtStorage",
  "UnknownInitiateFields",
  "ExpiredUrlRetried",
  "OverlappingAttempts",
  "RefusalRetried",
  "CompleteBeforeAllParts",
  "PartsLeftOut",
  "PartsOutOfOrder",
  "WrongEtag",
  "PutAfterFinalized",
  "EncryptionHeaderOnPart",
  "MediaTypeDiffers",
  "TooManyInFlight",
  "EarlierThanRetryAfter"
)

/** @category models */
export type Rule = typeof Rule.Type

/**
 * A rule that was broken, with what was seen. `request` is the index of the request in the report.
 *
 * @category models
 */
export class Breach extends Schema.Class<Breach>("@stevedore/testing/SandboxReport/Breach")({
  rule: Rule,
  message: Schema.String,
  request: Schema.NonNegativeInt
}) {}

/**
 * How a request ended: it was answered, the sandbox broke the connection, the client disconnected, or it is still open.
 *
 * @category models
 */
export const Outcome = Schema.Literal("answered", "broken", "aborted", "open")

/**
 * A request and how it ended. `at` is the server's time in milliseconds of the Unix epoch; `bytesReceived` and
 * `bytesSent` count bodies; `path` has no query; `headerNames` are in lower case, without values.
 *
 * @category models
 */
export class SeenRequest extends Schema.Class<SeenRequest>("@stevedore/testing/SandboxReport/SeenRequest")({
  server: Schema.Literal("api", "storage"),
  operation: Schema.Union(Exchange.Operation, Schema.Literal("preflight", "unknown")),
  method: Schema.String,
  path: Schema.String,
  fileId: Schema.optional(Schema.String),
  part: Schema.optional(Schema.Int),
  attempt: Schema.Int,
  at: Schema.Number,
  headerNames: Schema.Array(Schema.String),
  bytesReceived: Schema.NonNegativeInt,
  bytesSent: Schema.NonNegativeInt,
  status: Schema.optional(Schema.Int),
  outcome: Outcome
}) {}

/**
 * The requests in the order in which they arrived, and the breaches in the order in which they were noticed.
 * `mostInFlight` is the most PUTs that were in flight at once.
 *
 * @category models
 */
export class SandboxReport extends Schema.Class<SandboxReport>("@stevedore/testing/SandboxReport")({
  requests: Schema.Array(SeenRequest),
  breaches: Schema.Array(Breach),
  mostInFlight: Schema.NonNegativeInt
}) {}
