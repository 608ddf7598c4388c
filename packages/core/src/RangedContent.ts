/**
 * Asking for a range of something, and reading which bytes the answer holds: the same for the service and the storage.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"

/**
 * What is asked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Asked {
  /** From `start` to `end`, both included; without `end` to the last byte. Omitted: everything. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined
  /** Only while the content has this etag. */
  readonly ifMatch?: string | undefined
}

/**
 * What an answer holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Held {
  /** Whether it is the range that was asked for; else it is the whole. */
  readonly partial: boolean
  /** The place of its first byte in the whole: 0 when a server does not know ranges and gives everything. */
  readonly start: number
  /** The number of its bytes, where it is told. */
  readonly length: Option.Option<number>
  /** The number of bytes of the whole, where it is told. */
  readonly totalLength: Option.Option<number>
  readonly etag: Option.Option<string>
  /**
   * What `x-amz-checksum-*` tells of the whole, in base64 by algorithm such as `crc32`. Only where the answer is the
   * whole: of a range it may be a part's. One that is composed of the parts' checksums tells nothing of the bytes.
   */
  readonly checksums: Readonly<Record<string, string>>
}

/**
 * The headers that ask for it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const headers = ({ ifMatch, range }: Asked): Readonly<Record<string, string>> => ({
  ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ""}` }),
  ...(ifMatch === undefined ? {} : { "if-match": ifMatch })
})

/**
 * An answer's head, its header names in lower case.
 *
 * @since 0.1.0
 * @category models
 */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * What a 200 or a 206 holds; none when it is neither, or a part that was not asked for.
 *
 * A transport may decode what came with a `Content-Encoding`, as fetch does, and what the headers tell is of the bytes
 * before that. Of such an answer there is no length, no checksum, an etag that proves nothing, and no part but one from
 * the start. `asSent` says that the transport decodes nothing.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const held = (
  answer: Head,
  asked: Asked,
  transport: { readonly asSent?: boolean | undefined } = {}
): Option.Option<Held> => {
  const sent = heldAsSent(answer, asked)
  return transport.asSent === true || !isEncoded(answer.headers["content-encoding"])
    ? sent
    : Option.map(Option.filter(sent, ({ start }) => start === 0), decoded)
}

/**
 * The size of what has no byte in the range that was asked for, where a 416 tells it.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const lengthOutside = ({ headers, status }: Head): number | undefined =>
  status === 416
    ? Option.getOrUndefined(integer(/^bytes \*\/(\d+)$/i.exec(headers["content-range"] ?? "")?.[1]))
    : undefined

const isEncoded = (contentEncoding: string | undefined): boolean =>
  !["", "identity"].includes(contentEncoding?.trim().toLowerCase() ?? "")

const decoded = (sent: Held): Held => ({
  ...sent,
  length: Option.none(),
  totalLength: Option.none(),
  etag: Option.map(sent.etag, (etag) => isStrong(etag) ? `W/${etag}` : etag),
  checksums: {}
})

const heldAsSent = (answer: Head, asked: Asked): Option.Option<Held> => {
  const etag = Option.fromNullable(answer.headers["etag"])
  const length = integer(answer.headers["content-length"])
  const checksums = checksumsOf(answer.headers)
  if (answer.status === 200) {
    return Option.some({ partial: false, start: 0, length, totalLength: length, etag, checksums })
  }
  const part = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(answer.headers["content-range"] ?? "")
  if (answer.status !== 206 || part === null || asked.range === undefined) return Option.none()
  const [, first, last, total] = part
  const start = Number(first)
  // A server may give less than was asked for, but not from another place, nor from behind the end it tells.
  return start === asked.range.start && Number(last) >= start && Number(last) <= (asked.range.end ?? Infinity) &&
      (total === "*" || Number(last) < Number(total))
    ? Option.some({
      partial: true,
      start,
      length: Option.some(Number(last) - start + 1),
      totalLength: integer(total),
      etag,
      checksums: start === 0 && Number(last) + 1 === Number(total) ? checksums : {}
    })
    : Option.none()
}

const checksumHeader = /^x-amz-checksum-(?!type$|algorithm$|mode$)(.+)$/

const checksumsOf = (headers: Readonly<Record<string, string | undefined>>): Held["checksums"] =>
  headers["x-amz-checksum-type"]?.toUpperCase() === "COMPOSITE"
    ? {}
    : Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => {
        const algorithm = checksumHeader.exec(name)?.[1]
        // a composed one ends in the number of its parts
        return algorithm === undefined || value === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)
          ? []
          : [[algorithm, value] as const]
      })
    )

const integer = (text: string | undefined): Option.Option<number> =>
  text === undefined || !/^\d{1,15}$/.test(text) ? Option.none() : Option.some(Number(text))

/**
 * Whether an etag promises equal bytes: a weak one does not, and cannot be asked for with `If-Match`.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isStrong = (etag: string): boolean => etag !== "" && !etag.startsWith("W/")
