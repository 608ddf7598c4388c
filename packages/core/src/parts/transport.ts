/**
 * What an adapter of storage is made of: whoever reaches storage in another way writes a {@link StorageTransport}, which
 * sends a request and reads its answer; {@link storageOver} makes an `ObjectStorage` of it.
 */
export type {
  /**
   * A response as a whole.
   *
   * @category models
   */
  Answered,
  /**
   * Sends a request whose body is in memory, and reads its answer as a whole, within a deadline: the lowest port, which a
   * client of the service is built on.
   *
   * @category models
   */
  Send,
  /**
   * How long a request may take, and how long its answer may be.
   *
   * @category models
   */
  SendLimits,
  /**
   * A request has no answer, or only a part of one.
   *
   * @category models
   */
  Unanswered
} from "../storage/send.js"

export {
  /**
   * Whether an answer of this status may be another one soon.
   *
   * @internal
   */
  isForNow
} from "../errors/errorWords.js"

export {
  /**
   * Whether an answer of this status leads to another URL.
   *
   * @internal
   */
  isRedirect,
  /**
   * For who sends to addresses that have yet to be checked.
   *
   * @internal
   */
  withoutRedirects
} from "../storage/redirects.js"

export {
  /**
   * A response of storage: its status, its headers with names in lower case, and the start of its body.
   *
   * @category models
   */
  type StorageAnswer,
  /**
   * What the body of a refusal says to a reader, on one line, without the query of its URL. None if it says nothing.
   *
   * @category answers
   */
  wordsOf
} from "../storage/answer.js"

export {
  /**
   * The answer to a GET: its head, and its bytes for whoever wants them.
   *
   * @category models
   */
  type GetAnswered,
  /**
   * The answer to a PUT, and what only the transport knows of it.
   *
   * @category models
   */
  type PutAnswered,
  /**
   * The object storage over a transport. It refuses a URL that has ended before anything is sent, counts the bytes,
   * interprets the answer, and traces each attempt.
   *
   * @example
   * import { ObjectStorage } from "@stevedore/core"
   * import * as Transport from "@stevedore/core/parts/transport"
   * import { Effect, Layer, Stream } from "effect"
   *
   * // A host program that holds the network for this one
   * declare const host: {
   *   put: (path: string, headers: Readonly<Record<string, string>>) =>
   *     Effect.Effect<Transport.PutAnswered>
   *   get: (path: string, headers: Readonly<Record<string, string>>) =>
   *     Effect.Effect<{ status: number; headers: Record<string, string>; body: string }>
   * }
   *
   * const transport: Transport.StorageTransport = {
   *   put: ({ headers, section, url }) =>
   *     Effect.map(host.put(url.path, headers), (answer) => ({ ...answer, sent: section.range.length })),
   *   get: ({ url }, headers) =>
   *     Effect.map(host.get(url.path, headers), ({ body, ...head }) => ({
   *       ...head,
   *       bytes: Stream.make(new TextEncoder().encode(body)),
   *       document: Effect.succeed(body)
   *     })),
   *   isExact: true,
   *   redirects: Transport.followed
   * }
   *
   * const layer = Layer.succeed(ObjectStorage.ObjectStorage, Transport.storageOver(transport))
   *
   * @category constructors
   */
  storageOver,
  /**
   * What differs between the ways to reach an object storage: how a request is sent, once, and how its answer is read.
   *
   * @category models
   */
  type StorageTransport
} from "../storage/transport.js"

export {
  /**
   * The error for a failed transport, without what it knows of the request.
   *
   * @category failures
   */
  connectionFailure,
  /**
   * The error for a transport that failed while it sent a source: the source's own error if that is the cause.
   *
   * @category failures
   */
  failure,
  /**
   * GETs what a URL leads to, over up to ten redirects, none of which carries a token.
   *
   * @category redirects
   */
  followed,
  /**
   * How much of a response's body is kept, in bytes. The rest is read, so that the connection can be reused.
   *
   * @category answers
   */
  longestDocument,
  /**
   * The error for a source that produced another number of bytes than its section has.
   *
   * @category answers
   */
  otherLength,
  /**
   * Leaves a redirect at its refusal: for a transport that follows redirects by itself.
   *
   * @category redirects
   */
  refused,
  /**
   * Begins to collect the body of a response, piece by piece.
   *
   * @category answers
   */
  startDocument,
  /**
   * The header with which a transport asks for bytes as they are stored.
   *
   * @category requests
   */
  uncoded
} from "../storage/attempt.js"

export {
  /**
   * Whether an etag is strong: the same etag means the same bytes.
   *
   * @category answers
   */
  isStrong
} from "../storage/range.js"
