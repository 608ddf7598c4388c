/**
 * Requests a range of something, and reads which bytes the response holds: the same for the service and for storage.
 */
import * as Option from "effect/Option"
import { wholeNumber } from "../base/number.js"
import { codingIn } from "./contentCoding.js"

/** What to request. */
export interface RequestedRange {
  /** From `start` to `end`, both inclusive; without `end`, to the last byte. Defaults to everything. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined
  /** Only if the content still has this etag. */
  readonly ifMatch?: string | undefined
}

/** What a response holds. */
export interface Held {
  /** Whether it is the requested range; otherwise it is the whole. */
  readonly partial: boolean
  /** The position of its first byte in the whole: 0 if a server does not support ranges and sends everything. */
  readonly start: number
  /** How many bytes it has, if known. */
  readonly length: Option.Option<number>
  /** How many bytes the whole has, if known. */
  readonly totalLength: Option.Option<number>
  readonly etag: Option.Option<string>
  /**
   * The checksums in `x-amz-checksum-*` of the whole, in base64, by algorithm such as `crc32`. Present only if the
   * response is the whole: on a range they may be those of a part. Composite checksums, made from those of the parts,
   * are left out because they say nothing about the bytes.
   */
  readonly checksums: Readonly<Record<string, string>>
  /** The content codings in which the bytes come, in words; absent if they come as they are, or decoded. */
  readonly coding?: string | undefined
}

/** The request headers for it. */
export const headers = ({ ifMatch, range }: RequestedRange): Readonly<Record<string, string>> => ({
  ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ""}` }),
  ...(ifMatch === undefined ? {} : { "if-match": ifMatch })
})

/** The head of a response, header names in lower case. */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * What a 200 or a 206 holds; none for any other status, and for a range that was not requested.
 *
 * A transport may decode a `Content-Encoding`, as fetch does, while the headers describe the bytes before decoding.
 * Such a response has no length and no checksums, its etag proves nothing, and it can hold only a range from the start.
 * `asSent` says that the transport decodes nothing.
 */
export const held = (
  answer: Head,
  asked: RequestedRange,
  transport: { readonly asSent?: boolean | undefined } = {}
): Option.Option<Held> => {
  const sent = heldAsSent(answer, asked)
  const coding = codingIn(answer.headers)
  if (coding === undefined) return sent
  return transport.asSent === true
    ? Option.map(sent, (held) => ({ ...held, coding }))
    : Option.map(Option.filter(sent, ({ start }) => start === 0), decoded)
}

/** The total size, if a 416 reports it: no byte is in the requested range. */
export const lengthOutside = ({ headers, status }: Head): number | undefined =>
  status === 416
    ? Option.getOrUndefined(wholeNumber(/^bytes \*\/(\d+)$/i.exec(headers["content-range"] ?? "")?.[1]))
    : undefined

const decoded = (sent: Held): Held => ({
  ...sent,
  length: Option.none(),
  totalLength: Option.none(),
  etag: Option.map(sent.etag, (etag) => isStrong(etag) ? `W/${etag}` : etag),
  checksums: {}
})

const heldAsSent = (answer: Head, asked: RequestedRange): Option.Option<Held> => {
  const etag = Option.fromNullable(answer.headers["etag"])
  const length = wholeNumber(answer.headers["content-length"])
  const checksums = checksumsOf(answer.headers)
  if (answer.status === 200) {
    return Option.some({ partial: false, start: 0, length, totalLength: length, etag, checksums })
  }
  const part = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(answer.headers["content-range"] ?? "")
  if (answer.status !== 206 || part === null || asked.range === undefined) return Option.none()
  const [, first, last, total] = part
  const start = Number(first)
  // A server may return less than requested, but not from another position, nor from beyond the end that it reports.
  return start === asked.range.start && Number(last) >= start && Number(last) <= (asked.range.end ?? Infinity) &&
      (total === "*" || Number(last) < Number(total))
    ? Option.some({
      partial: true,
      start,
      length: Option.some(Number(last) - start + 1),
      totalLength: wholeNumber(total),
      etag,
      checksums: start === 0 && Number(last) + 1 === Number(total) ? checksums : {}
    })
    : Option.none()
}

const checksumHeader = /^x-amz-checksum-(?!type$|algorithm$|mode$)(.+)$/

/** The checksums of a whole in the headers of storage, in base64, by their algorithms. */
export const checksumsOf = (headers: Readonly<Record<string, string | undefined>>): Held["checksums"] =>
  headers["x-amz-checksum-type"]?.toUpperCase() === "COMPOSITE"
    ? {}
    : Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => {
        const algorithm = checksumHeader.exec(name)?.[1]
        // a composite checksum ends in the number of its parts
        return algorithm === undefined || value === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)
          ? []
          : [[algorithm, value] as const]
      })
    )

/** Whether an etag promises equal bytes. A weak one does not, and cannot be used with `If-Match`. */
export const isStrong = (etag: string): boolean => etag !== "" && !etag.startsWith("W/")
