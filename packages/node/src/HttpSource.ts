/**
 * A file on the web as the source of an upload: read by ranges, resumed part by part, with no byte on disk.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import { SourceChanged, type SourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { SourceFingerprint, UploadSource } from "@stevedore/core/UploadSource"
import * as UploadSources from "@stevedore/core/UploadSources"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"

/**
 * A URL to upload from, with what is sent to its origin. Both may be secret.
 *
 * @since 0.1.0
 * @category models
 */
export interface WebFile {
  readonly url: Redacted.Redacted<string>
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
}

/**
 * What the service is told about the file, instead of what its server says, and what identifies it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** 1 to 1024 characters. Defaults to the last segment of the URL. */
  readonly name?: string | undefined
  /** Up to 255 characters. Defaults to what the server says, or else to `application/octet-stream`. */
  readonly mediaType?: string | undefined
  /** What identifies the file besides its etag. Defaults to {@link shown} of its URL. Not empty. */
  readonly identity?: string | undefined
}

/**
 * The server of a URL did not give the file.
 *
 * @since 0.1.0
 * @category errors
 */
export class UrlRefused extends Schema.TaggedError<UrlRefused>("@stevedore/node/UrlRefused")("UrlRefused", {
  kind: ErrorKind.field("refused"),
  /** Without its query. */
  url: Schema.String,
  problem: Schema.String,
  /** What the server answered, if it did. */
  status: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    return `${this.url}: ${this.problem}. Check the URL and the headers that are sent with it, then try again.`
  }
}

// What signs a URL changes each time; any other query may say which file it is
const signature = /[?&](?:x-amz-signature|x-goog-signature|signature|sig|token|access_token)=/i

/**
 * What a URL is called and remembered by: its origin and path. A query that says which file it is counts by its hash,
 * since nothing of it may be shown; one that is a signature does not count.
 *
 * @since 0.1.0
 * @category formatting
 */
export const shown = (text: string): string => {
  const { origin, pathname, search } = new URL(text)
  return search === "" || signature.test(search)
    ? `${origin}${pathname}`
    : `${origin}${pathname}?${createHash("sha256").update(search).digest("hex").slice(0, 12)}`
}

const nameOf = (text: string): string => {
  const { hostname, pathname } = new URL(text)
  const last = pathname.split("/").findLast((segment) => segment !== "") ?? hostname
  return Option.getOrElse(Option.liftThrowable(decodeURIComponent)(last), () => last)
}

interface Answer {
  readonly response: HttpClientResponse.HttpClientResponse
  /** Where it came from, after redirects. */
  readonly url: string
}

const maximumRedirects = 10

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

// One that may go away: the connection, or a server that is busy
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500

class Unanswered extends Schema.TaggedError<Unanswered>("@stevedore/node/Unanswered")("Unanswered", {
  problem: Schema.String,
  status: Schema.optional(Schema.Int),
  recovery: Schema.Literal("retry", "none"),
  retryAfter: Schema.optional(Schema.DurationFromSelf),
  attempts: Schema.Int
}) {}

const timeLimit = "1 minute"

// A date is for people; servers that are busy say seconds
const retryAfter = (headers: Readonly<Record<string, string>>): Duration.Duration | undefined =>
  /^\d{1,6}$/.test(headers["retry-after"] ?? "") ? Duration.seconds(Number(headers["retry-after"])) : undefined

// By hand, so that the headers go to the origin of the URL only
const follow = (
  { headers, url }: WebFile,
  own: Readonly<Record<string, string>>,
  attempts: number,
  at = Redacted.value(url),
  left = maximumRedirects
): Effect.Effect<Answer, Unanswered, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const unreachable = () => new Unanswered({ problem: "the server cannot be reached", recovery: "retry", attempts })
    const astray = (problem: string) => new Unanswered({ problem, recovery: "none", attempts })
    const isOwn = new URL(at).origin === new URL(Redacted.value(url)).origin
    const client = yield* HttpClient.HttpClient
    const request = HttpClientRequest.get(at, {
      headers: { ...(isOwn ? Redacted.value(headers) : {}), ...own, "accept-encoding": "identity" }
    })
    const response = yield* HttpClient.withScope(client).execute(request).pipe(
      Effect.mapError(unreachable),
      Effect.timeoutFail({ duration: timeLimit, onTimeout: unreachable })
    )
    const { location } = response.headers
    if (!isRedirect(response.status) || location === undefined) {
      return isPassing(response.status)
        ? yield* new Unanswered({
          problem: `the server answers ${response.status}`,
          status: response.status,
          recovery: "retry",
          retryAfter: retryAfter(response.headers),
          attempts
        })
        : { response, url: at }
    }
    if (left === 0 || !URL.canParse(location, at)) return yield* astray("too many redirects")
    const next = new URL(location, at)
    if (next.protocol !== "https:" && next.protocol !== new URL(at).protocol) {
      return yield* astray("it is redirected to an unencrypted address")
    }
    return yield* follow({ headers, url }, own, attempts, next.href, left - 1)
  })

const ask = (file: WebFile, headers: Readonly<Record<string, string>>) =>
  RetryPolicy.retry((attempt) => follow(file, headers, attempt))

const strongTag = (headers: Readonly<Record<string, string>>): Option.Option<string> =>
  Option.filter(Record.get(headers, "etag"), (tag) => tag.startsWith("\""))

interface ContentRange {
  readonly start: number
  readonly total: number
}

const contentRange = (headers: Readonly<Record<string, string>>): Option.Option<ContentRange> =>
  Option.map(
    Option.fromNullable(/^bytes (\d+)-\d+\/(\d+)$/.exec(headers["content-range"] ?? "")),
    ([, start, total]) => ({ start: Number(start), total: Number(total) })
  )

interface Found {
  readonly size: number
  /** What proves that a later range is of the same file; none if the server has no ranges, or no strong etag. */
  readonly tag: Option.Option<string>
  readonly mediaType: string | undefined
}

const lengthOf = (headers: Readonly<Record<string, string>>): Option.Option<number> =>
  Option.filter(
    Option.map(Record.get(headers, "content-length"), Number),
    (length) => Number.isSafeInteger(length) && headers["content-encoding"] === undefined
  )

const inspect = (file: WebFile): Effect.Effect<Found, UrlRefused, HttpClient.HttpClient> =>
  Effect.scoped(Effect.gen(function*() {
    const refused = (problem: string, status?: number) =>
      new UrlRefused({ url: shown(Redacted.value(file.url)), problem, status })
    const { response: { headers, status } } = yield* Effect.mapError(
      ask(file, { range: "bytes=0-0" }),
      ({ problem, status }) => refused(problem, status)
    )
    const described = { mediaType: headers["content-type"] }
    const range = contentRange(headers)
    if (status === 206 && Option.isSome(range)) {
      return { ...described, size: range.value.total, tag: strongTag(headers) }
    }
    if (status === 416) return { ...described, size: 0, tag: Option.none() }
    if (status !== 200) return yield* refused(`the server answers ${status}`, status)
    const length = lengthOf(headers)
    return Option.isNone(length)
      ? yield* refused("the server does not say how long the file is")
      : { ...described, size: length.value, tag: Option.none() }
  }))

const unreadable = (name: string) => new SourceUnreadable({ fileName: name, reason: "StreamFailed" })

const changed = (name: string) => new SourceChanged({ fileName: name, what: "content" })

const bytesOf = ({ response }: Answer, name: string): Stream.Stream<Uint8Array, SourceError> =>
  Stream.mapError(response.stream, () => unreadable(name)).pipe(
    Stream.timeoutFail(() => unreadable(name), timeLimit)
  )

/** How often a range that breaks off is continued where it did. */
const continuations = 5

interface Ranged {
  readonly client: HttpClient.HttpClient
  readonly file: WebFile
  readonly name: string
  readonly size: number
  readonly tag: string
}

const rangeOf = (
  source: Ranged,
  { length, offset }: ByteRange,
  left = continuations
): Stream.Stream<Uint8Array, SourceError> => {
  const { client, file, name, size, tag } = source
  let arrived = 0
  const answered = Effect.gen(function*() {
    const answer = yield* ask(file, { range: `bytes=${offset}-${offset + length - 1}`, "if-match": tag }).pipe(
      Effect.mapError(() => unreadable(name)),
      Effect.provideService(HttpClient.HttpClient, client)
    )
    const { headers, status } = answer.response
    const isSame = Option.contains(strongTag(headers), tag)
    const isWanted = Option.exists(contentRange(headers), ({ start, total }) => start === offset && total === size)
    if (status === 412 || status === 416 || (status < 300 && !isSame)) return yield* changed(name)
    return status === 206 && isWanted ? bytesOf(answer, name) : yield* unreadable(name)
  })
  return Stream.unwrapScoped(answered).pipe(
    Stream.tap((chunk) =>
      Effect.sync(() => {
        arrived += chunk.byteLength
      })
    ),
    (bytes) => UploadSources.exactly(bytes, { name, size: length }),
    Stream.catchAll((error) =>
      left > 0 && arrived < length && (error._tag === "SourceUnreadable" || isTooShort(error))
        ? rangeOf(source, { offset: offset + arrived, length: length - arrived }, left - 1)
        : Stream.fail(error)
    )
  )
}

const isTooShort = (error: SourceError): boolean => error._tag === "SourceChanged" && error.what === "tooShort"

const ranged = (source: Ranged, mediaType: string, fingerprint: SourceFingerprint): UploadSource => ({
  _tag: "RepeatableSource",
  name: source.name,
  mediaType,
  size: source.size,
  fingerprint,
  held: false,
  open: Effect.succeed({
    section: (range) =>
      Effect.succeed({
        range,
        body: (observe) =>
          Effect.succeed({
            _tag: "StreamBody",
            stream: Stream.tap(rangeOf(source, range), (chunk) => Effect.sync(() => observe(chunk)))
          })
      }),
    readThrough: (range, observe) =>
      Stream.runForEach(rangeOf(source, range), (chunk) => Effect.sync(() => observe(chunk))),
    unchanged: Effect.flatMap(
      inspect(source.file).pipe(
        Effect.mapError(() => unreadable(source.name)),
        Effect.provideService(HttpClient.HttpClient, source.client)
      ),
      ({ size, tag }) =>
        size === source.size && Option.contains(tag, source.tag) ? Effect.void : Effect.fail(changed(source.name))
    )
  })
})

const whole = (
  client: HttpClient.HttpClient,
  file: WebFile,
  name: string
): Stream.Stream<Uint8Array, SourceError> =>
  Stream.unwrapScoped(
    ask(file, {}).pipe(
      Effect.mapError(() => unreadable(name)),
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.flatMap((answer) =>
        answer.response.status === 200 ? Effect.succeed(bytesOf(answer, name)) : Effect.fail(unreadable(name))
      )
    )
  )

/**
 * A URL as a source, by the client in force. If the server has ranges and a strong etag, which one request finds out, it
 * is read by ranges, each with `If-Match`, so that a file that changes meanwhile fails with `SourceChanged` before a byte
 * of another version is sent. Its upload goes on in its middle while the etag is the same, whatever the date says.
 * Otherwise it is a source that is read once, from front to back: its upload does not resume. Requests that fail in
 * passing are repeated as the `RetryPolicy` in force says.
 *
 * The headers go to the origin of the URL only, also after redirects, if the client does not follow those by itself: with
 * `FetchHttpClient`, provide a `RequestInit` of `{ redirect: "manual" }`. A client with a tracer shows the whole URL in its
 * spans: switch that off if URLs are secret.
 *
 * @example
 * import { FetchHttpClient } from "@effect/platform"
 * import { Uploads } from "@stevedore/core"
 * import { HttpSource } from "@stevedore/node"
 * import { Effect, Redacted } from "effect"
 *
 * const file = { url: Redacted.make("https://archive.example.org/interview.wav"), headers: Redacted.make({}) }
 *
 * const program = HttpSource.make(file).pipe(
 *   Effect.flatMap((source) => Uploads.upload(source)),
 *   Effect.provide(FetchHttpClient.layer),
 *   Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  file: WebFile,
  options: Options = {}
): Effect.Effect<UploadSource, UrlRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const { mediaType: told, size, tag } = yield* inspect(file)
    const text = Redacted.value(file.url)
    const name = options.name ?? nameOf(text)
    const mediaType = options.mediaType ?? told ?? "application/octet-stream"
    return Option.match(tag, {
      onNone: () => UploadSources.fromStreamOnce(name, whole(client, file, name), { size, mediaType }),
      onSome: (tag) =>
        // The etag says whether it is the same. Its date does not: the machines of one address differ in that.
        ranged({ client, file, name, size, tag }, mediaType, {
          kind: "url",
          size,
          identity: options.identity ?? shown(text),
          sample: tag
        })
    })
  })
