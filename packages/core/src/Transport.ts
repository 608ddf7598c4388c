/**
 * What an adapter of storage is made of: whoever writes an `ObjectStorage` of his own finds here how a request begins, what
 * an answer means, and what a broken connection means, the same over any transport.
 *
 * @since 0.1.0
 */
export type {
  /**
   * A response as a whole.
   *
   * @since 0.1.0
   * @category models
   */
  Answered,
  /**
   * Sends a request whose body is in memory, and reads its answer as a whole, within a deadline: the lowest port, which a
   * client of the service is built on.
   *
   * @since 0.1.0
   * @category models
   */
  Send,
  /**
   * How long a request may take, and how long its answer may be.
   *
   * @since 0.1.0
   * @category models
   */
  SendLimits,
  /**
   * A request has no answer, or only a part of one.
   *
   * @since 0.1.0
   * @category models
   */
  Unanswered
} from "./storage/send.js"

export type {
  /**
   * A response of storage: its status, its headers with names in lower case, and the start of its body.
   *
   * @since 0.1.0
   * @category models
   */
  StorageAnswer
} from "./storage/answer.js"

export type {
  /**
   * A GET was redirected: where to, and the error for it if it is not followed.
   *
   * @since 0.1.0
   * @category models
   */
  Redirected
} from "./storage/attempt.js"

export type {
  /**
   * What a PUT asked for, as far as its answer is judged by it.
   *
   * @since 0.1.0
   * @category models
   */
  Asked as AskedPut
} from "./storage/response.js"

export {
  /**
   * Whether a transport that parses a URL sends it in another spelling than was signed; `UrlAltered` if it would send
   * another path.
   *
   * @since 0.1.0
   * @category requests
   */
  spelling,
  /**
   * The header with which a transport asks for bytes as they are stored.
   *
   * @since 0.1.0
   * @category requests
   */
  uncoded
} from "./storage/attempt.js"

export {
  /**
   * The headers of a GET of a range.
   *
   * @since 0.1.0
   * @category requests
   */
  headers as rangeHeaders
} from "./storage/range.js"

export {
  /**
   * GETs what a URL leads to, over up to ten redirects, none of which carries a token.
   *
   * @since 0.1.0
   * @category answers
   */
  followed,
  /**
   * How much of a response's body is kept, in bytes. The rest is read, so that the connection can be reused.
   *
   * @since 0.1.0
   * @category answers
   */
  longestDocument,
  /**
   * The error for a source that produced another number of bytes than its section has.
   *
   * @since 0.1.0
   * @category answers
   */
  otherLength,
  /**
   * The receipt of a PUT, or the typed error for the response.
   *
   * @since 0.1.0
   * @category answers
   */
  receipt,
  /**
   * The typed error for a response to a GET that does not hold what was requested, or the redirect that it is.
   *
   * @since 0.1.0
   * @category answers
   */
  refusal,
  /**
   * Begins to collect the body of a response, piece by piece.
   *
   * @since 0.1.0
   * @category answers
   */
  startDocument
} from "./storage/attempt.js"

export {
  /**
   * What the answer to a PUT means, by the table of statuses.
   *
   * @since 0.1.0
   * @category answers
   */
  interpretPut,
  /**
   * The error for an answer that no other error fits.
   *
   * @since 0.1.0
   * @category answers
   */
  rejected
} from "./storage/response.js"

export {
  /**
   * What a response holds of the range that was asked for; none if it holds something else.
   *
   * @since 0.1.0
   * @category answers
   */
  held,
  /**
   * Whether an etag is strong: the same etag means the same bytes.
   *
   * @since 0.1.0
   * @category answers
   */
  isStrong
} from "./storage/range.js"

export {
  /**
   * The error for a failed transport, without what it knows of the request.
   *
   * @since 0.1.0
   * @category failures
   */
  connectionFailure,
  /**
   * The error for a transport that failed while it sent a source: the source's own error if that is the cause.
   *
   * @since 0.1.0
   * @category failures
   */
  failure
} from "./storage/attempt.js"

export {
  /**
   * Traces a GET as `ObjectStorage.get`; the URL's query is never recorded.
   *
   * @since 0.1.0
   * @category tracing
   */
  tracedGet,
  /**
   * Traces a PUT as `ObjectStorage.putPart` or `ObjectStorage.put`; the URL's query is never recorded.
   *
   * @since 0.1.0
   * @category tracing
   */
  tracedPut
} from "./storage/attempt.js"
