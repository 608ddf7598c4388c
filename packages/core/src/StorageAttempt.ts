/**
 * One attempt at the object storage, as far as it is the same over any transport: what a response means, what a broken
 * connection means, and how the attempt is traced. For authors of an `ObjectStorage` adapter.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { causes, ConnectionFailed, systemCode } from "./ConnectionError.js"
import { arrivalOf } from "./internal/arrivalOf.js"
import type { GetRequest, PutRequest } from "./ObjectStorage.js"
import * as RangedContent from "./RangedContent.js"
import type { SourceError } from "./SourceError.js"
import { isSourceError, SourceChanged } from "./SourceError.js"
import type { StorageAnswer } from "./StorageAnswer.js"
import type { StorageError } from "./StorageError.js"
import type { PutReceipt } from "./StorageResponse.js"
import { interpret, interpretPut, rejected } from "./StorageResponse.js"

/**
 * How much of a response's body is kept, in characters. The rest is read, so that the connection can be reused, and
 * discarded.
 *
 * @since 0.1.0
 * @category constants
 */
export const longestDocument = 65_536

type Broken = Pick<PutRequest, "url" | "attempt"> & {
  /** Whether storage had begun to respond. */
  readonly answered: boolean
}

/**
 * The error for a failed transport. The cause and its chain are not kept: they hold the request, and with it the
 * signature.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const connectionFailure = (cause: unknown, { answered, attempt, url }: Broken): ConnectionFailed => {
  const code = systemCode(cause)
  return new ConnectionFailed({
    peer: "storage",
    origin: url.origin,
    ...(code === undefined ? {} : { code }),
    arrived: answered ? "unknown" : arrivalOf(cause),
    attempts: attempt
  })
}

/**
 * The error for a transport that failed while it sent a source: the source's own error if it is in the chain of causes,
 * otherwise {@link connectionFailure}.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const failure = (cause: unknown, broken: Broken): ConnectionFailed | SourceError =>
  Option.getOrElse(
    Arr.findFirst(causes(cause), isSourceError),
    () => connectionFailure(cause, broken)
  )

/**
 * The error for a source that produced another number of bytes than its section has.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const otherLength = (
  { attempt, name, section: { range } }: Pick<PutRequest, "attempt" | "name" | "section">,
  actual: number
): SourceChanged =>
  new SourceChanged({
    fileName: name,
    what: actual < range.length ? "tooShort" : "tooLong",
    expected: String(range.length),
    actual: String(actual),
    attempts: attempt
  })

/**
 * The receipt of a PUT, or the typed error for the response. A PUT of fewer bytes than the section has gets no receipt.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const receipt = (
  request: PutRequest,
  answer: StorageAnswer,
  told: {
    /** How many bytes were handed to the network. */
    readonly sent: number
    /** Our clock, in milliseconds. */
    readonly now: number
  }
): Either.Either<PutReceipt, StorageError | SourceChanged> =>
  Either.filterOrLeft(
    interpretPut(answer, {
      url: request.url,
      sentHeaders: [...Object.keys(request.headers), "content-length"],
      serverNow: told.now + request.clockOffset,
      attempts: request.attempt
    }),
    () => told.sent === request.section.range.length,
    () => otherLength(request, told.sent)
  )

/**
 * The typed error for a response to a GET that does not hold what was requested.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const refusal = (request: GetRequest, answer: StorageAnswer, now: number): StorageError => {
  const asked = {
    url: request.url,
    sentHeaders: Object.keys(RangedContent.headers(request)),
    serverNow: now,
    attempts: request.attempt
  }
  return Either.match(interpret(answer, asked), {
    onLeft: (error) => error,
    onRight: () => rejected(answer, asked)
  })
}

interface Addressed extends Pick<PutRequest, "url" | "attempt"> {}

const traced = (name: string, { attempt, url }: Addressed, attributes: Readonly<Record<string, unknown>>) =>
  Effect.withSpan(name, {
    kind: "client",
    captureStackTrace: false,
    attributes: { origin: url.origin, path: url.path, attempt, ...attributes }
  })

/**
 * Traces a PUT as `ObjectStorage.putPart`, with `part`, or as `ObjectStorage.put`. Both have `origin`, `path`,
 * `attempt` and `bytes`; the URL's query is never recorded.
 *
 * @since 0.1.0
 * @category tracing
 */
export const tracedPut = (request: PutRequest) => {
  const bytes = request.section.range.length
  return Option.match(request.url.partNumber, {
    onNone: () => traced("ObjectStorage.put", request, { bytes }),
    onSome: (part) => traced("ObjectStorage.putPart", request, { bytes, part })
  })
}

/**
 * Traces a GET as `ObjectStorage.get`, with `origin`, `path` and `attempt`. The URL's query is never recorded.
 *
 * @since 0.1.0
 * @category tracing
 */
export const tracedGet = (request: GetRequest) => traced("ObjectStorage.get", request, {})
