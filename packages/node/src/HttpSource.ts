/** A file on the web as the source of an upload: read by ranges, resumed part by part, with no byte on disk. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Transport from "@stevedore/core/parts/transport"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
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
 * @category models
 */
export interface WebFile {
  readonly url: Redacted.Redacted<string>
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
}

/**
 * What the service is told about the file, instead of what its server says, and what identifies it.
 *
 * @category models
 */
export interface Options {
  /** 1 to 1024 characters. Defaults to what the server says (`Content-Disposition`), or else to the URL's last segment. */
  readonly name?: string | undefined
  /** Up to 255 characters. Defaults to what the server says, or else to `application/octet-stream`. */
  readonly mediaType?: string | undefined
  /** What identifies the file besides its etag. Defaults to {@link shown} of its URL. Not empty. */
  readonly identity?: string | undefined
}

/**
 * The server of a URL did not give the file.
 *
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

// What signs a request changes each time; whatever else a query says may be which file it is
const signing = /^(?:x-(?:amz|goog|oss)-.+|signature|sig|token|access_token)$/

// Each says something about the signature beside it, and in a URL without that one it may say anything
const companions: ReadonlyArray<readonly [signature: RegExp, companion: RegExp]> = [
  [signing, /^expires$/],
  [/^signature$/, /^(?:awsaccesskeyid|googleaccessid|ossaccesskeyid|security-token|key-pair-id|policy)$/],
  [/^sig$/, /^(?:s[eprtv]|s[ip]|sip|spr|srt|ss|sdd|skoid|sktid|skt|ske|sks|skv)$/]
]

const parameterName = (parameter: string): string => {
  const [name = ""] = parameter.split("=", 1)
  return Option.getOrElse(Option.liftThrowable(decodeURIComponent)(name), () => name).toLowerCase()
}

const withoutSignature = (search: string): string => {
  const parameters = search.replace(/^\?/, "").split("&").filter((parameter) => parameter !== "")
  const names = parameters.map(parameterName)
  const signs = (name: string): boolean =>
    signing.test(name) ||
    companions.some(([signature, companion]) => companion.test(name) && names.some((other) => signature.test(other)))
  return parameters.filter((_, index) => !signs(names[index] ?? "")).join("&")
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12)

/**
 * What a URL is called and remembered by: its origin and path, and what its query says besides what signs it. That
 * counts by its hash, since nothing of it may be shown.
 *
 * @category formatting
 */
export const shown = (text: string): string => {
  const { origin, pathname, search } = new URL(text)
  const which = withoutSignature(search)
  return which === "" ? `${origin}${pathname}` : `${origin}${pathname}?${shortHash(which)}`
}

/**
 * The same for a URL that only what signs it tells from another: the whole query counts.
 *
 * @category formatting
 */
export const shownWhole = (text: string): string => {
  const { origin, pathname, search } = new URL(text)
  return `${origin}${pathname}?${shortHash(search)}`
}

const decodeComponent = Option.liftThrowable(decodeURIComponent)

const nameOf = (text: string): string => {
  const { hostname, pathname } = new URL(text)
  const last = pathname.split("/").findLast((segment) => segment !== "") ?? hostname
  return Option.getOrElse(decodeComponent(last), () => last)
}

const extendedName = (header: string): Option.Option<string> =>
  Option.flatMap(
    Option.fromNullable(/;\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^\s;"]+)/i.exec(header)),
    ([, charset = "", encoded = ""]) =>
      /^utf-8$/i.test(charset)
        ? decodeComponent(encoded)
        : Option.some(encoded.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))))
  )

// Servers write UTF-8 into it, of which an HTTP client makes a character for each byte
const asText = (header: string): string =>
  Option.getOrElse(
    Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(header, "latin1")))(),
    () => header
  )

const plainName = (header: string): Option.Option<string> =>
  Option.map(
    Option.fromNullable(/;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(header)),
    ([, quoted, token = ""]) => asText(quoted === undefined ? token : quoted.replace(/\\(.)/g, "$1"))
  )

// The header was written by a stranger: its name is no path, and says nothing if nothing of it is left
const nameIn = (headers: Readonly<Record<string, string>>): Option.Option<string> =>
  Record.get(headers, "content-disposition").pipe(
    Option.map((header) => `;${header.replace(/^[^;]*;/, "")}`),
    Option.flatMap((header) => Option.orElse(extendedName(header), () => plainName(header))),
    Option.map((name) => name.replace(/^.*[\\/]/, "").trim()),
    Option.filter((name) => name !== "")
  )

interface Answer {
  readonly response: HttpClientResponse.HttpClientResponse
  /** Where it came from, after redirects. */
  readonly url: string
}

const maximumRedirects = 10

// One that may go away: the connection, or a server that is busy
const isPassing = (status: number): boolean => Transport.isForNow(status) || status === 429

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
    if (!Transport.isRedirect(response.status) || location === undefined) {
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

const longestRefusal = 16_384

// The words of a server may quote what it was sent
const wordsOf = ({ headers, url }: WebFile, { response, url: at }: Answer): Effect.Effect<string> =>
  response.stream.pipe(
    Stream.takeUntil((() => {
      let length = 0
      return (chunk: Uint8Array) => (length += chunk.byteLength) >= longestRefusal
    })()),
    Stream.runCollect,
    Effect.timeout("5 seconds"),
    Effect.map((chunks) => Buffer.concat([...chunks]).toString()),
    Effect.orElseSucceed(() => ""),
    Effect.map((body) => {
      const said = [Redacted.value(url), at].reduce(
        (text, one) => Transport.wordsOf(text, Option.getOrUndefined(PresignedUrl.fromString(one))) ?? "",
        body
      )
      return Object.values(Redacted.value(headers))
        .flatMap((value) => [value, ...value.split(/\s+/)].filter((secret) => secret.length > 3))
        .reduce((text, secret) => text.replaceAll(secret, "<redacted>"), said)
    })
  )

interface Refusal {
  readonly problem: string
  readonly status: number
}

const refusal = (file: WebFile, answer: Answer): Effect.Effect<Refusal> =>
  Effect.map(wordsOf(file, answer), (words) => ({
    problem: `the server answers ${answer.response.status}${words === "" ? "" : `: ${words}`}`,
    status: answer.response.status
  }))

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
  readonly name: Option.Option<string>
}

const lengthOf = (headers: Readonly<Record<string, string>>): Option.Option<number> =>
  Option.filter(
    Option.map(Record.get(headers, "content-length"), Number),
    (length) => Number.isSafeInteger(length) && headers["content-encoding"] === undefined
  )

const inspect = (
  file: WebFile,
  asked: Readonly<Record<string, string>> = { range: "bytes=0-0" }
): Effect.Effect<Found, UrlRefused, HttpClient.HttpClient> =>
  Effect.scoped(Effect.gen(function*() {
    const refused = ({ problem, status }: Pick<Unanswered, "problem" | "status">) =>
      new UrlRefused({ url: shown(Redacted.value(file.url)), problem, status })
    const answer = yield* Effect.mapError(ask(file, asked), refused)
    const { headers, status } = answer.response
    const described = { mediaType: headers["content-type"], name: nameIn(headers) }
    const range = contentRange(headers)
    if (status === 206 && Option.isSome(range)) {
      return { ...described, size: range.value.total, tag: strongTag(headers) }
    }
    // a range without a total, which a whole answer has
    if (status === 206 && asked.range !== undefined) return yield* inspect(file, {})
    if (status === 416 && asked.range !== undefined) return { ...described, size: 0, tag: Option.none() }
    if (status !== 200) return yield* refused(yield* refusal(file, answer))
    const length = lengthOf(headers)
    return Option.isNone(length)
      ? yield* refused({ problem: "the server does not say how long the file is" })
      : { ...described, size: length.value, tag: Option.none() }
  }))

const unreadable = (name: string, why: Partial<Pick<Unanswered, "problem" | "status">> = {}) =>
  new SourceUnreadable({ fileName: name, reason: "StreamFailed", problem: why.problem, status: why.status })

const brokenOff = (name: string) => unreadable(name, { problem: "the connection to its server broke off" })

const changed = (name: string) => new SourceChanged({ fileName: name, what: "content" })

const bytesOf = ({ response }: Answer, name: string): Stream.Stream<Uint8Array, SourceError> =>
  Stream.mapError(response.stream, () => brokenOff(name)).pipe(
    Stream.timeoutFail(() => unreadable(name, { problem: "its server sent nothing for a minute" }), timeLimit)
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
      Effect.mapError((why) => unreadable(name, why)),
      Effect.provideService(HttpClient.HttpClient, client)
    )
    const { headers, status } = answer.response
    const isSame = Option.contains(strongTag(headers), tag)
    const isWanted = Option.exists(contentRange(headers), ({ start, total }) => start === offset && total === size)
    if (status === 412 || status === 416 || (status < 300 && !isSame)) return yield* changed(name)
    if (status === 206 && isWanted) return bytesOf(answer, name)
    return yield* unreadable(
      name,
      status < 300
        ? { problem: "its server sends other bytes than it was asked for", status }
        : yield* refusal(file, answer)
    )
  })
  return Stream.unwrapScoped(answered).pipe(
    Stream.tap((chunk) =>
      Effect.sync(() => {
        arrived += chunk.byteLength
      })
    ),
    (bytes) => UploadSources.exactly(bytes, { name, size: length }),
    Stream.catchAll((error) =>
      left > 0 && arrived < length && (isBrokenOff(error) || isTooShort(error))
        ? rangeOf(source, { offset: offset + arrived, length: length - arrived }, left - 1)
        : Stream.fail(error)
    )
  )
}

const isBrokenOff = (error: SourceError): boolean =>
  error._tag === "SourceUnreadable" && (error.status === undefined || isPassing(error.status))

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
        Effect.mapError((why) => unreadable(source.name, why)),
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
      Effect.mapError((why) => unreadable(name, why)),
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.flatMap((answer) =>
        answer.response.status === 200
          ? Effect.succeed(bytesOf(answer, name))
          : Effect.flatMap(refusal(file, answer), (why) => Effect.fail(unreadable(name, why)))
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
 * @category constructors
 */
export const make = (
  file: WebFile,
  options: Options = {}
): Effect.Effect<UploadSource, UrlRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const { mediaType: told, name: called, size, tag } = yield* inspect(file)
    const text = Redacted.value(file.url)
    const name = options.name ?? Option.getOrElse(called, () => nameOf(text))
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
