/** What can go wrong with any request, to the service or to storage, before there is a response. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { spelled } from "./base/effect.js"
import * as PagePosition from "./errors/pagePosition.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"

/**
 * Whom a request is for: the service (JSON, with the token) or the object storage (pre-signed URLs, never a token).
 *
 * @internal
 */
export const Peer = Schema.Literal("service", "storage").annotations({ identifier: "Peer" })

/** @internal */
export type Peer = typeof Peer.Type

const describePage = (page: PagePosition.PagePosition | undefined): string =>
  page === undefined ? "" : ` (${PagePosition.describe(page)})`

const fewerFiles = "Too many files are open: raise ulimit -n or fs.file-max, or transfer fewer files at once."

/**
 * What to do when the system does not open one more file or connection, by its code.
 *
 * @internal
 */
export const tooManyOpen: Readonly<Record<string, string | undefined>> = { EMFILE: fewerFiles, ENFILE: fewerFiles }

/**
 * The connection could not be established, or broke before the response was complete. Whether the request arrived is
 * unknown unless `arrived` is "no".
 *
 * @category errors
 */
export class ConnectionFailed extends TaggedError<ConnectionFailed>()("ConnectionFailed", {
  peer: Peer,
  /** The origin that was called, such as `https://host:443`. Never a path or a query. */
  origin: Schema.String,
  /** The system error code, if there is one, such as `ECONNRESET`. */
  code: Schema.optional(Schema.String),
  /** `no` if the connection was never established; otherwise the request may have been carried out. */
  arrived: Schema.Literal("no", "unknown"),
  /**
   * What else may be the cause, where the platform does not tell: in a browser, a request that CORS forbids looks
   * like a network failure. Present only if no request to the origin has ever succeeded.
   */
  hint: Schema.optional(Schema.Literal("cors")),
  /** In a walk of a list: the page that could not be fetched. */
  page: Schema.optional(PagePosition.PagePosition),
  attempts: Recovery.attempts
}) {
  override get recovery(): Recovery.Recovery {
    return adviceIn(lasting, this.code) === undefined ? "retry" : "none"
  }
  override get message(): string {
    return `The connection to the ${this.peer} at ${this.origin} failed${
      this.code === undefined ? "" : ` (${this.code})`
    } ${Recovery.describeAttempts(this)}${describePage(this.page)}. ${adviceOf(this)}${
      this.hint === undefined ? "" : ` ${hints[this.hint]}`
    }`
  }
}

// Node's codes and those of OpenSSL that it passes on, with those by which the other side refuses the connection. What
// happens on the way to a proxy has PROXY_ before its code.
const certificateCode =
  /CERT|CRL|LEAF_SIGNATURE|_MISMATCH|UNABLE_TO_DE(CODE|CRYPT)|^(PROXY_)?INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED|_UNKNOWN_CA$/

type Advice = readonly [codes: RegExp, advice: string]

// What the next attempt would meet as well. The first row that fits counts
const lasting: ReadonlyArray<Advice> = [
  [
    /ALTNAME_INVALID|_MISMATCH/,
    "The certificate there is for another name: check the host in the address. A bucket with dots in its name belongs " +
    "into the path."
  ],
  [/NOT_YET_VALID/, "The certificate there is not valid yet: correct this machine's clock."],
  [/EXPIRED/, "The certificate there has expired: it must be renewed, if this machine's clock is right."],
  [/REVOKED/, "The certificate there was revoked: it must be renewed."],
  [
    certificateCode,
    "The certificate there is not trusted: sign in to the network, or trust the network's own certificate (on Node, " +
    "by NODE_EXTRA_CA_CERTS)."
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO$/,
    "What answers there does not speak TLS: check the port, or begin the address with http:."
  ],
  [/^NO_STREAM$/, "This fetch takes at most 64 MiB as a whole: ask for smaller ranges."],
  [/ANSWERED_407/, "The proxy wants a user and a password: set them in its address."],
  [/ANSWERED_4(?!08|29)/, "The proxy forbids this address: ask whoever runs it."]
]

const passing: ReadonlyArray<Advice> = [
  [/ANSWERED_50[234]/, "The proxy does not reach this address: check it."],
  [/^PROXY_/, "Check the proxy and its address, then try again."],
  [/^E[MN]FILE$/, fewerFiles]
]

const adviceIn = (table: ReadonlyArray<Advice>, code = ""): string | undefined =>
  table.find(([codes]) => codes.test(code))?.[1]

/**
 * What helps against a failed connection, by its code.
 *
 * @internal
 */
export const adviceOf = ({ code, origin }: { readonly code?: string | undefined; readonly origin: string }): string =>
  adviceIn(lasting, code) ?? adviceIn(passing, code) ??
    // a server for TLS hangs up on what is none
    `Check the network and the address${
      code === "ECONNRESET" && origin.startsWith("http:") ? " (does it begin with https:?)" : ""
    }, then try again.`

const hints: Record<NonNullable<ConnectionFailed["hint"]>, string> = {
  cors:
    "No request of this page to that origin has succeeded yet: its CORS rules may not allow the page's origin, the " +
    "method or the headers that were sent."
}

/**
 * The phases of a request, each with its own timeout: until the connection is established and the first byte is taken
 * (`connect`), while the body makes progress (`body`), from the last byte to the response (`answer`), one attempt of a
 * call (`call`), and all its attempts (`total`).
 *
 * @internal
 */
export const Phase = Schema.Literal("connect", "body", "answer", "call", "total").annotations({ identifier: "Phase" })

/** @internal */
export type Phase = typeof Phase.Type

/**
 * A phase of a request made no progress for too long.
 *
 * @category errors
 */
export class TimedOut extends TaggedError<TimedOut>()("TimedOut", {
  peer: Peer,
  phase: Phase,
  /** How long there was no progress. Encoded in milliseconds. */
  after: Recovery.FiniteDuration,
  /** In a walk of a list: the page that could not be fetched. */
  page: Schema.optional(PagePosition.PagePosition),
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `The ${this.peer} ${this.phase === "total" ? "did not finish within" : "made no progress for"} ${
      spelled(this.after)
    } (phase: ${this.phase}) ${Recovery.describeAttempts(this)}${
      describePage(this.page)
    }. On a slow connection, allow more time with Timeouts, or lower the concurrency.`
  }
}

const noConnectionWasMade = new Set([
  "EMFILE",
  "ENFILE",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT"
])

/**
 * Whether a system error code proves that the request never arrived.
 *
 * @internal
 */
export const arrival = (code: string | undefined): "no" | "unknown" =>
  code !== undefined && noConnectionWasMade.has(code) ? "no" : "unknown"

/**
 * An error and its causes, from the outside in. Bounded, because a chain of causes may be circular.
 *
 * @internal
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
 * The first system error code in a chain of causes, such as `ECONNRESET`. Nothing else of the chain is kept, because it
 * may hold a signed URL or a token.
 *
 * @internal
 */
export const systemCode = (error: unknown): string | undefined => {
  for (const cause of causes(error)) {
    if (Predicate.hasProperty(cause, "code") && isSystemCode(cause.code)) return cause.code
  }
  return undefined
}
