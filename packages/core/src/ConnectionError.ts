/**
 * What can happen to any request before there is an answer, to the service as to the storage.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as PagePosition from "./PagePosition.js"
import * as Recovery from "./Recovery.js"

/**
 * Whom a request was for: the service (JSON, with the token) or the object storage (pre-signed URLs, never a token).
 *
 * @since 0.1.0
 * @category models
 */
export const Peer = Schema.Literal("service", "storage").annotations({ identifier: "Peer" })

/**
 * @since 0.1.0
 * @category models
 */
export type Peer = typeof Peer.Type

const describePage = (page: PagePosition.PagePosition | undefined): string =>
  page === undefined ? "" : ` (${PagePosition.describe(page)})`

/**
 * The connection could not be made, or broke before the answer was complete. Whether the request arrived is unknown
 * unless `arrived` says "no".
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionFailed extends Schema.TaggedError<ConnectionFailed>("@stevedore/core/ConnectionFailed")(
  "ConnectionFailed",
  {
    peer: Peer,
    /** The origin that was called, such as `https://host:443`. Never a path or a query. */
    origin: Schema.String,
    /** The system's code where there is one, such as `ECONNRESET`. */
    code: Schema.optional(Schema.String),
    /** `no` when the connection was never made; otherwise the request may have been carried out. */
    arrived: Schema.Literal("no", "unknown"),
    /**
     * What else it may be, where the platform does not tell: in a browser a request that CORS forbids looks like a
     * network that is down. Only where no request to the origin has ever succeeded.
     */
    hint: Schema.optional(Schema.Literal("cors")),
    /** In a walk of a list: the page that could not be had. */
    page: Schema.optional(PagePosition.PagePosition),
    attempts: Recovery.attempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "retry"
  }
  override get message(): string {
    return `The connection to the ${this.peer} at ${this.origin} failed${
      this.code === undefined ? "" : ` (${this.code})`
    } ${Recovery.describeAttempts(this)}${
      describePage(this.page)
    }. Check the network and that the address is right, then run it again.${
      this.hint === undefined ? "" : ` ${hints[this.hint]}`
    }`
  }
}

const hints: Record<NonNullable<ConnectionFailed["hint"]>, string> = {
  cors:
    "No request of this page to that origin has succeeded yet: its CORS rules may not allow the page's origin, the " +
    "method or the headers that were sent."
}

/**
 * The phases of a request, each with a time-out of its own: until the connection is made and the first byte is
 * taken, while the body makes progress, from the last byte to the answer, one attempt of a call (`call`), and all its
 * attempts (`total`).
 *
 * @since 0.1.0
 * @category models
 */
export const Phase = Schema.Literal("connect", "body", "answer", "call", "total").annotations({ identifier: "Phase" })

/**
 * @since 0.1.0
 * @category models
 */
export type Phase = typeof Phase.Type

/**
 * Nothing happened for too long in one phase of a request.
 *
 * @since 0.1.0
 * @category errors
 */
export class TimedOut extends Schema.TaggedError<TimedOut>("@stevedore/core/TimedOut")("TimedOut", {
  peer: Peer,
  phase: Phase,
  /** How long nothing happened. Encoded in milliseconds. */
  after: Recovery.FiniteDuration,
  /** In a walk of a list: the page that could not be had. */
  page: Schema.optional(PagePosition.PagePosition),
  attempts: Recovery.attempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "retry"
  }
  override get message(): string {
    return `The ${this.peer} ${this.phase === "total" ? "did not do it within" : "made no progress for"} ${
      Duration.format(this.after)
    } (phase: ${this.phase}) ${Recovery.describeAttempts(this)}${
      describePage(this.page)
    }. On a slow line allow more time with Timeouts, or less concurrency.`
  }
}

const noConnectionWasMade = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT"
])

/**
 * Whether a system code says that the request cannot have arrived.
 *
 * @since 0.1.0
 * @category constructors
 */
export const arrival = (code: string | undefined): "no" | "unknown" =>
  code !== undefined && noConnectionWasMade.has(code) ? "no" : "unknown"

/**
 * An error and what it was caused by, from the outside in. Bounded: a chain may lead back to itself.
 *
 * @since 0.1.0
 * @category destructors
 */
export const causes = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  let current = error
  while (chain.length < 8 && current !== undefined) {
    chain.push(current)
    current = Predicate.hasProperty(current, "cause") ? current.cause : undefined
  }
  return chain
}

const isSystemCode = (code: unknown): code is string => typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code)

/**
 * The first system code in a chain of causes, such as `ECONNRESET`. Nothing else of the chain is kept: it may hold a
 * signed URL or a token.
 *
 * @since 0.1.0
 * @category destructors
 */
export const systemCode = (error: unknown): string | undefined => {
  for (const cause of causes(error)) {
    if (Predicate.hasProperty(cause, "code") && isSystemCode(cause.code)) return cause.code
  }
  return undefined
}
