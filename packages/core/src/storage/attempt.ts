/**
 * One attempt at the object storage, as far as it is the same over any transport: what a response means, what a broken
 * connection means, and how the attempt is traced. For authors of an `ObjectStorage` adapter.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { closedOnFailure } from "../base/fibers.js"
import { causes, ConnectionFailed, systemCode } from "../ConnectionError.js"
import { arrivalOf } from "../errors/errorWords.js"
import { UrlAltered } from "../errors/storageWords.js"
import type { GetRequest, PutRequest } from "../ObjectStorage.js"
import * as PresignedUrl from "../PresignedUrl.js"
import type { SourceError } from "../SourceError.js"
import { isSourceError, SourceChanged } from "../SourceError.js"
import type { StorageError } from "../StorageError.js"
import type { StorageAnswer } from "./answer.js"
import { textOf } from "./answer.js"
import { joined } from "./answerBytes.js"
import * as ContentCoding from "./contentCoding.js"
import * as RangedContent from "./range.js"
import { isRedirect } from "./redirects.js"
import { interpret, rejected } from "./response.js"

/**
 * How much of a response's body is kept, in bytes. The rest is read, so that the connection can be reused, and discarded.
 */
export const longestDocument = 65_536

/**
 * The header with which a transport asks for bytes as they are stored: without it, every content coding would be welcome.
 * Browsers do not let a page send it.
 */
export const uncoded: Readonly<Record<string, string>> = ContentCoding.uncoded

/** The start of a response's body, collected piece by piece. */
export interface Document {
  /** The memory of the bytes may be reused afterwards. */
  readonly add: (bytes: Uint8Array) => void
  /** Its text, without content codings; in place of one that cannot be undone, words that name it. */
  readonly text: Effect.Effect<string>
}

/**
 * Begins to collect the body of the response with these headers, whose names are in lower case. No more than
 * {@link longestDocument} bytes are kept.
 */
export const startDocument = (headers: Readonly<Record<string, string>>): Document => {
  const pieces: Array<Uint8Array> = []
  let length = 0
  return {
    add: (bytes) => {
      if (length < longestDocument) pieces.push(new Uint8Array(bytes))
      length += bytes.byteLength
    },
    text: Effect.suspend(() =>
      Effect.map(
        ContentCoding.decoded(headers, {
          bytes: joined(pieces),
          isStart: length > longestDocument,
          longest: longestDocument
        }),
        (bytes) => {
          const text = textOf(bytes, headers["content-type"])
          const coding = ContentCoding.codingIn(headers)
          // one that is still there is no text
          return coding !== undefined && text.includes("\ufffd") ? `[in ${coding}]` : text
        }
      )
    )
  }
}

type Broken = Pick<PutRequest, "url" | "attempt"> & {
  /** Whether storage had begun to respond. */
  readonly answered: boolean
}

/**
 * The error for a failed transport. The cause and its chain are not kept: they hold the request, and with it the
 * signature.
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
 */
export const failure = (cause: unknown, broken: Broken): ConnectionFailed | SourceError =>
  Option.getOrElse(
    Arr.findFirst(causes(cause), isSourceError),
    () => connectionFailure(cause, broken)
  )

/** The error for a source that produced another number of bytes than its section has. */
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
 * Whether a transport that parses a URL, as fetch and XMLHttpRequest do, sends it in another spelling than was signed;
 * `UrlAltered` if it would send another path.
 */
export const spelling = (
  { url }: Pick<GetRequest, "url">
): Either.Either<{ readonly respelled: boolean }, UrlAltered> => {
  const [, path = "", query = ""] = /^https?:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(PresignedUrl.reveal(url)) ?? []
  if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\/i.test(path)) {
    return Either.left(new UrlAltered({ part: Option.getOrUndefined(url.partNumber) }))
  }
  const parsed = new URL(PresignedUrl.reveal(url))
  return Either.right({ respelled: parsed.pathname !== (path === "" ? "/" : path) || parsed.search !== query })
}

/**
 * The typed error for a response to a GET that does not hold what was requested, or the redirect that it is: see
 * {@link followed}.
 */
export const refusal = (
  request: GetRequest,
  answer: StorageAnswer,
  now: number
): StorageError | Redirected => {
  const error = refusalOf(request, answer, now)
  return Option.match(redirected(request, answer), {
    onNone: () => error,
    onSome: (to) => ({ _tag: "Redirected", to, refusal: error })
  })
}

const refusalOf = (request: GetRequest, answer: StorageAnswer, now: number): StorageError => {
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

/** How many redirects of a download are followed, one after the other. */
export const mostRedirects = 10

/**
 * Where a redirect leads, kept byte for byte if it names a whole URL or a path; none if the response is not a redirect, or
 * one that is not followed: from https to http, or to what is not a URL.
 */
export const redirected = (
  { url }: Pick<GetRequest, "url">,
  { headers, status }: Pick<StorageAnswer, "headers" | "status">
): Option.Option<PresignedUrl.PresignedUrl> =>
  isRedirect(status)
    ? Option.filter(
      PresignedUrl.located(headers["location"] ?? "", PresignedUrl.reveal(url)),
      (next) => next.origin.startsWith("https:") || url.origin.startsWith("http:")
    )
    : Option.none()

/** A GET was redirected. */
export interface Redirected {
  readonly _tag: "Redirected"
  readonly to: PresignedUrl.PresignedUrl
  /** The error for it, if it is not followed. */
  readonly refusal: StorageError
}

/**
 * GETs what a URL leads to, over up to {@link mostRedirects} redirects. None carries a token. A URL that leads back to
 * itself is not requested again. The connection of each redirect is closed before the next request.
 */
export const followed = <A>(
  once: (request: GetRequest) => Effect.Effect<A, StorageError | Redirected, Scope.Scope>
) =>
(request: GetRequest): Effect.Effect<A, StorageError, Scope.Scope> => {
  const from = (
    request: GetRequest,
    seen: ReadonlyArray<PresignedUrl.PresignedUrl>
  ): Effect.Effect<A, StorageError, Scope.Scope> =>
    Effect.catchAll(closedOnFailure(once(request)), (error) => {
      if (error._tag !== "Redirected") return Effect.fail(error)
      const visited = [...seen, request.url]
      const isLoop = visited.some((url) => Equal.equals(url, error.to))
      return isLoop || visited.length > mostRedirects
        ? Effect.fail(error.refusal)
        : from({ ...request, url: error.to }, visited)
    })
  return from(request, [])
}

/** Leaves a redirect at its refusal: for a transport that follows redirects by itself. */
export const refused = <A>(
  once: (request: GetRequest) => Effect.Effect<A, StorageError | Redirected, Scope.Scope>
) =>
(request: GetRequest): Effect.Effect<A, StorageError, Scope.Scope> =>
  Effect.mapError(once(request), (error) => error._tag === "Redirected" ? error.refusal : error)

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
 */
export const tracedPut = (request: PutRequest) => {
  const bytes = request.section.range.length
  return Option.match(request.url.partNumber, {
    onNone: () => traced("ObjectStorage.put", request, { bytes }),
    onSome: (part) => traced("ObjectStorage.putPart", request, { bytes, part })
  })
}

/** Traces a GET as `ObjectStorage.get`, with `origin`, `path` and `attempt`. The URL's query is never recorded. */
export const tracedGet = (request: GetRequest) => traced("ObjectStorage.get", request, {})
