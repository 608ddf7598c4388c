/**
 * A pre-signed URL is a value that parses itself: when it expires, which headers are signed, which part it is for. Its
 * query is a secret. However it is printed, it shows only its origin and path; only {@link reveal} returns the whole
 * string.
 */
import * as Equal from "effect/Equal"
import { dual } from "effect/Function"
import * as Hash from "effect/Hash"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { wholeNumber } from "./base/number.js"
import { validDate } from "./base/time.js"
import type { Query } from "./storage/urlDialects.js"
import { signedHeadersOf, validityOf } from "./storage/urlDialects.js"

const TypeId: unique symbol = Symbol.for("@stevedore/core/PresignedUrl")

/**
 * A pre-signed http or https URL. What is safe to print is public; only {@link reveal} gives access to the signed
 * query. Two are equal if their strings are. Create one with {@link fromString}: the constructor throws if its argument
 * is not a URL.
 *
 * @category models
 */
export class PresignedUrl implements Equal.Equal {
  readonly [TypeId]: typeof TypeId = TypeId
  /** Such as `https://bucket.host:443`; safe to print. */
  readonly origin: string
  /** The path as given; safe to print. */
  readonly path: string
  /** When the URL was signed, or begins to be valid, by the signer's clock. */
  readonly signedAt: Option.Option<Date>
  /** When the URL expires, by the signer's clock; none if the URL does not say and nothing is assumed. */
  readonly deadline: Option.Option<Date>
  /** Whether the deadline is assumed: the URL does not say when it expires. */
  readonly isAssumed: boolean
  /** The headers that must be sent as they were signed, in lower case, without `host`. */
  readonly signedHeaders: ReadonlyArray<string>
  /** The number of the part that the URL is for, from 1. */
  readonly partNumber: Option.Option<number>
  /** The whole string, only for {@link reveal}. */
  readonly #href: Redacted.Redacted<string>

  constructor(href: string, assumedDeadline: Option.Option<Date> = Option.none()) {
    const url = new URL(href)
    const query = lowerCaseQuery(url)
    const validity = validityOf(query)
    this.origin = url.origin
    this.path = url.pathname
    this.signedAt = Option.flatMap(Option.fromNullable(validity.start), validDate)
    const deadline = Option.flatMap(Option.fromNullable(validity.end), validDate)
    this.deadline = Option.orElse(deadline, () => assumedDeadline)
    this.isAssumed = Option.isNone(deadline) && Option.isSome(assumedDeadline)
    this.signedHeaders = signedHeadersOf(query)
    this.partNumber = Option.filter(
      Option.flatMap(Option.fromNullable(query.get("partnumber")), wholeNumber),
      (number) => number >= 1
    )
    this.#href = Redacted.make(href)
  }

  /** @internal */
  static reveal(self: PresignedUrl): string {
    return Redacted.value(self.#href)
  }

  toString(): string {
    return `${this.origin}${this.path}?<redacted>`
  }
  toJSON(): unknown {
    return { _id: "PresignedUrl", url: this.toString() }
  }
  [NodeInspectSymbol](): unknown {
    return this.toJSON()
  }
  [Equal.symbol](that: unknown): boolean {
    return that instanceof PresignedUrl && PresignedUrl.reveal(that) === Redacted.value(this.#href)
  }
  [Hash.symbol](): number {
    return Hash.cached(this, Hash.string(Redacted.value(this.#href)))
  }
}

const lowerCaseQuery = (url: URL): Query =>
  new Map(Array.from(url.searchParams, ([name, value]) => [name.toLowerCase(), value]))

/**
 * An http or https URL from its string, kept byte for byte; none if it is not one. When it is valid is read from
 * `X-Amz-Date` and `X-Amz-Expires`, from those of others (`X-Goog-*`, `X-Oss-*`, `X-Tos-*`), from `Expires` (SigV2,
 * CloudFront), from CloudFront's `Policy`, from `st` and `se` (Azure) and from `q-sign-time` (COS). Any other URL has an
 * unknown deadline.
 *
 * @example
 * import { PresignedUrl } from "@stevedore/core"
 * import { Option } from "effect"
 *
 * const url = PresignedUrl.fromString(
 *   "https://bucket.test/key?X-Amz-Date=20300101T000000Z&X-Amz-Expires=10800&X-Amz-Signature=secret"
 * )
 * Option.map(url, String) // Option.some("https://bucket.test/key?<redacted>")
 * Option.flatMap(url, (one) => one.deadline) // Option.some(2030-01-01T03:00:00Z)
 *
 * @category constructors
 */
export const fromString = (href: string): Option.Option<PresignedUrl> => {
  if (!/^https?:\/\/[^\s]+$/i.test(href)) return Option.none()
  return URL.canParse(href) ? Option.some(new PresignedUrl(href)) : Option.none()
}

/**
 * What the header `Location` of a response to a request leads to, kept byte for byte: only a location that is neither a
 * whole URL nor a whole path is resolved (RFC 9110, 10.2.2).
 *
 * @internal
 */
export const located = (location: string, requestUrl: string): Option.Option<PresignedUrl> => {
  if (location === "" || !URL.canParse(location, requestUrl)) return Option.none()
  if (/^https?:\/\//i.test(location)) return fromString(location)
  return fromString(
    /^\/(?![/\\])/.test(location)
      ? `${new URL(requestUrl).origin}${location}`
      : new URL(location, requestUrl).href
  )
}

/**
 * The same URL, assumed to expire at a time of the server's clock, unless it says itself when it expires. A date that is
 * none assumes nothing.
 *
 * @example
 * import { PresignedUrl } from "@stevedore/core"
 * import { Option } from "effect"
 *
 * const url = PresignedUrl.fromString("https://bucket.test/key?token=secret")
 * Option.map(url, PresignedUrl.endingBy(new Date("2030-01-01T03:00:00Z")))
 *
 * @category combinators
 */
export const endingBy: {
  (assumedDeadline: Date): (self: PresignedUrl) => PresignedUrl
  (self: PresignedUrl, assumedDeadline: Date): PresignedUrl
} = /* #__PURE__ */ dual(
  2,
  (self: PresignedUrl, assumedDeadline: Date): PresignedUrl =>
    Option.isSome(self.deadline) ? self : new PresignedUrl(reveal(self), validDate(assumedDeadline))
)

/**
 * The whole string with its signature. Call this where the request is made, and nowhere else.
 *
 * @category destructors
 */
export const reveal: (self: PresignedUrl) => string = PresignedUrl.reveal

/**
 * Whether the URL has expired at a time of the server's clock, in milliseconds. A URL that does not say when it expires
 * has not.
 *
 * @category predicates
 */
export const hasEnded: {
  (serverNow: number): (self: PresignedUrl) => boolean
  (self: PresignedUrl, serverNow: number): boolean
} = /* #__PURE__ */ dual(
  2,
  (self: PresignedUrl, serverNow: number): boolean =>
    Option.exists(self.deadline, (deadline) => deadline.getTime() <= serverNow)
)

/**
 * The Schema of a value that already is a {@link PresignedUrl}.
 *
 * @internal
 */
export const PresignedUrlFromSelf: Schema.Schema<PresignedUrl> = Schema.instanceOf(PresignedUrl, {
  identifier: "PresignedUrlFromSelf",
  arbitrary: () => (fc) => fc.webUrl({ withQueryParameters: true }).map((href) => new PresignedUrl(href))
})

/**
 * Decodes a string. The error for a string that is not a URL does not repeat it. The encoded form is the secret, so
 * keep it only in a private store.
 *
 * @category schemas
 */
export const PresignedUrlFromString: Schema.Schema<PresignedUrl, string> = Schema.transformOrFail(
  Schema.String,
  PresignedUrlFromSelf,
  {
    strict: true,
    decode: (href, _, ast) =>
      Option.match(fromString(href), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, href)),
        onSome: ParseResult.succeed
      }),
    encode: (url) => ParseResult.succeed(reveal(url))
  }
).annotations({
  identifier: "PresignedUrl",
  message: () => ({ message: "expected an http or https URL", override: true })
})
