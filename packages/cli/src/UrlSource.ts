/**
 * A file on the web as the source of an upload: read by ranges, resumed part by part, with no byte on disk.
 *
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { SourceChanged, type SourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { SourceFingerprint, UploadSource } from "@stevedore/core/UploadSource"
import * as UploadSources from "@stevedore/core/UploadSources"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
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
 * The server of a URL did not give the file.
 *
 * @since 0.1.0
 * @category errors
 */
export class UrlRefused extends Schema.TaggedError<UrlRefused>("@stevedore/cli/UrlRefused")("UrlRefused", {
  kind: ErrorKind.field("refused"),
  /** Without its query. */
  url: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.url}: ${this.problem}. Check the URL and the headers of --source-headers, then run the command again.`
  }
}

/**
 * Whether a row names a URL instead of a path.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

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

class Unanswered extends Schema.TaggedError<Unanswered>("@stevedore/cli/Unanswered")("Unanswered", {
  problem: Schema.String
}) {}

const timeLimit = "1 minute"

const unreachable = () => new Unanswered({ problem: "the server cannot be reached" })

// By hand, so that the headers go to the origin of the URL only
const follow = (
  { headers, url }: WebFile,
  own: Readonly<Record<string, string>>,
  at = Redacted.value(url),
  left = maximumRedirects
): Effect.Effect<Answer, Unanswered, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const isOwn = new URL(at).origin === new URL(Redacted.value(url)).origin
    const client = yield* HttpClient.HttpClient
    const request = HttpClientRequest.get(at, {
      headers: { ...(isOwn ? Redacted.value(headers) : {}), ...own, "accept-encoding": "identity" }
    })
    const response = yield* client.execute(request).pipe(
      Effect.mapError(unreachable),
      Effect.timeoutFail({ duration: timeLimit, onTimeout: unreachable })
    )
    const { location } = response.headers
    if (!isRedirect(response.status) || location === undefined) {
      return isPassing(response.status)
        ? yield* new Unanswered({ problem: `the server answers ${response.status}` })
        : { response, url: at }
    }
    if (left === 0 || !URL.canParse(location, at)) return yield* new Unanswered({ problem: "too many redirects" })
    const next = new URL(location, at)
    if (next.protocol !== "https:" && next.protocol !== new URL(at).protocol) {
      return yield* new Unanswered({ problem: "it is redirected to an unencrypted address" })
    }
    return yield* follow({ headers, url }, own, next.href, left - 1)
  })

const patiently = Schedule.intersect(Schedule.exponential("500 millis"), Schedule.recurs(3))

const client = HttpClient.HttpClient.pipe(
  Effect.map((client) => HttpClient.withTracerDisabledWhen(client, () => true)),
  Effect.provide(FetchHttpClient.layer)
)

const ask = (file: WebFile, headers: Readonly<Record<string, string>>) =>
  Effect.retry(follow(file, headers), patiently).pipe(
    Effect.provideServiceEffect(HttpClient.HttpClient, client),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
  )

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
  readonly modified: number | undefined
  readonly mediaType: string | undefined
}

const lengthOf = (headers: Readonly<Record<string, string>>): Option.Option<number> =>
  Option.filter(
    Option.map(Record.get(headers, "content-length"), Number),
    (length) => Number.isSafeInteger(length) && headers["content-encoding"] === undefined
  )

const inspect = (file: WebFile): Effect.Effect<Found, UrlRefused> =>
  Effect.scoped(Effect.gen(function*() {
    const refused = (problem: string) => new UrlRefused({ url: shown(Redacted.value(file.url)), problem })
    const { response: { headers, status } } = yield* Effect.mapError(
      ask(file, { range: "bytes=0-0" }),
      ({ problem }) => refused(problem)
    )
    const date = Date.parse(headers["last-modified"] ?? "")
    const described = {
      modified: Number.isNaN(date) ? undefined : date,
      mediaType: headers["content-type"]
    }
    const range = contentRange(headers)
    if (status === 206 && Option.isSome(range)) {
      return { ...described, size: range.value.total, tag: strongTag(headers) }
    }
    if (status === 416) return { ...described, size: 0, tag: Option.none() }
    if (status !== 200) return yield* refused(`the server answers ${status}`)
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
  const { file, name, size, tag } = source
  let arrived = 0
  const answered = Effect.gen(function*() {
    const answer = yield* Effect.mapError(
      ask(file, { range: `bytes=${offset}-${offset + length - 1}`, "if-match": tag }),
      () => unreadable(name)
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
    Stream.catchSome((error) =>
      left > 0 && arrived < length && (error._tag === "SourceUnreadable" || isTooShort(error))
        ? Option.some(rangeOf(source, { offset: offset + arrived, length: length - arrived }, left - 1))
        : Option.none()
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
      Effect.mapError(inspect(source.file), () => unreadable(source.name)),
      ({ size, tag }) =>
        size === source.size && Option.contains(tag, source.tag) ? Effect.void : Effect.fail(changed(source.name))
    )
  })
})

const whole = (file: WebFile, name: string): Stream.Stream<Uint8Array, SourceError> =>
  Stream.unwrapScoped(Effect.flatMap(
    Effect.mapError(ask(file, {}), () => unreadable(name)),
    (answer) => answer.response.status === 200 ? Effect.succeed(bytesOf(answer, name)) : Effect.fail(unreadable(name))
  ))

/**
 * A URL as a source. If the server has ranges and a strong etag, it is read by ranges, each with `If-Match`, so that a
 * file that changes meanwhile fails with `SourceChanged`. Otherwise it is a source that is read once, from front to
 * back: its upload does not resume.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  file: WebFile,
  described: { readonly name?: string | undefined; readonly mediaType?: string | undefined }
): Effect.Effect<UploadSource, UrlRefused> =>
  Effect.map(inspect(file), ({ mediaType, modified, size, tag }) => {
    const text = Redacted.value(file.url)
    const name = described.name ?? nameOf(text)
    const type = described.mediaType ?? mediaType ?? "application/octet-stream"
    return Option.match(tag, {
      onNone: () => UploadSources.fromStreamOnce(name, whole(file, name), { size, mediaType: type }),
      onSome: (tag) =>
        ranged({ file, name, size, tag }, type, {
          kind: "url",
          size,
          ...(modified === undefined ? {} : { modified }),
          identity: shown(text),
          sample: tag
        })
    })
  })

/**
 * The headers of `--source-headers`: a line `Name: value` for each. None if a line is something else; nothing of it may
 * be shown.
 *
 * @since 0.1.0
 * @category constructors
 */
export const headersOf = (text: string): Option.Option<WebFile["headers"]> => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"))
  const pairs = Arr.filterMap(lines, (line) =>
    Option.map(
      Option.fromNullable(/^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(line)),
      ([, name = "", value = ""]) => [name.toLowerCase(), value.trim()] as const
    ))
  return pairs.length === lines.length ? Option.some(Redacted.make(Record.fromEntries(pairs))) : Option.none()
}
