/**
 * The response to a read of an object: whole or a range, under conditions. Storage and the service's download give the
 * same one.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Checksum } from "@stevedore/core/Checksum"
import * as Either from "effect/Either"
import type * as ObjectStore from "../ObjectStore.js"
import * as StorageRefused from "../StorageRefused.js"

/** The header with the checksum of a whole, as S3 names it. */
export const checksumHeader = (checksum: Checksum | undefined): Readonly<Record<string, string>> =>
  checksum === undefined ? {} : { [`x-amz-checksum-${checksum.algorithm}`]: checksum.value }

/** Headers of what others have uploaded: a browser takes it for nothing else, and runs none of it. */
export const inert = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" } as const

/**
 * A section of an object: `length` bytes from `offset`.
 *
 * @category models
 */
export interface Range {
  readonly offset: number
  readonly length: number
}

type RequestHeaders = Readonly<Record<string, string | undefined>>

const RANGE = /^bytes=(\d*)-(\d*)$/

/**
 * Parses a `Range` header for an object of `size` bytes. A header that is not understood, or that names several ranges,
 * is ignored, as in RFC 9110 and S3; one that lies outside the object is refused with 416.
 *
 * @category constructors
 */
export const parseRange = (
  header: string | undefined,
  size: number
): Either.Either<Range | undefined, StorageRefused.StorageRefused> => {
  const [, first, last] = RANGE.exec(header ?? "") ?? []
  if (first === undefined || last === undefined || (first === "" && last === "")) {
    return Either.right(undefined)
  }
  const offset = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1)
  if (first !== "" && last !== "" && Number(last) < Number(first)) {
    return Either.right(undefined)
  }
  return offset < end ? Either.right({ offset, length: end - offset }) : Either.left(
    StorageRefused.make("InvalidRange", {
      details: { RangeRequested: header ?? "", ActualObjectSize: String(size) }
    })
  )
}

const names = (header: string, etag: string): boolean =>
  (header.match(/(?:W\/)?"[^"]*"|\*/g) ?? []).some((candidate) => candidate === "*" || candidate === etag)

/** The time of a date of HTTP, in any of its forms; NaN if it is none, which is neither before nor after any. */
const timeOf = (date = ""): number => Date.parse(date.endsWith("GMT") ? date : `${date} GMT`)

/**
 * Which condition of a read is not met, and with which status it is answered, in the order of RFC 9110, 13.2.2: a date counts only
 * where there is no list of etags.
 */
const unmet = (headers: RequestHeaders, etag: string, modified: number) => {
  const { "if-match": match, "if-none-match": noneMatch } = headers
  if (match === undefined ? modified > timeOf(headers["if-unmodified-since"]) : !names(match, etag)) return 412
  const isSame = noneMatch === undefined
    ? modified <= timeOf(headers["if-modified-since"])
    : names(noneMatch.replaceAll("W/", ""), etag)
  return isSame ? 304 : undefined
}

/**
 * Decides the response to a read from the request's conditional headers, its `Range`, and what the store knows about the object.
 *
 * @category constructors
 */
export const make = (
  headers: RequestHeaders,
  object: ObjectStore.StoredObject,
  store: ObjectStore.ObjectStoreService
): Either.Either<HttpServerResponse.HttpServerResponse, StorageRefused.StorageRefused> =>
  Either.gen(function*() {
    const ifRange = headers["if-range"]
    const modified = Math.floor(object.lastModified / 1000) * 1000
    const answer = {
      etag: object.etag,
      "last-modified": new Date(object.lastModified).toUTCString(),
      "accept-ranges": "bytes"
    }
    const status = unmet(headers, object.etag, modified)
    if (status === 412) {
      const Condition = headers["if-match"] === undefined ? "If-Unmodified-Since" : "If-Match"
      return yield* Either.left(StorageRefused.make("PreconditionFailed", { details: { Condition } }))
    }
    if (status === 304) return HttpServerResponse.empty({ status, headers: answer })
    const isRanged = ifRange === undefined || ifRange === object.etag || timeOf(ifRange) === modified
    const range = isRanged ? yield* parseRange(headers["range"], object.size) : undefined
    const length = range?.length ?? object.size
    return HttpServerResponse.stream(store.get(object.key, range, object), {
      status: range === undefined ? 200 : 206,
      contentType: object.contentType ?? "binary/octet-stream",
      headers: {
        ...answer,
        // set explicitly: the platform omits a length of 0
        "content-length": String(length),
        ...(range === undefined
          ? checksumHeader(object.checksum)
          : { "content-range": `bytes ${range.offset}-${range.offset + range.length - 1}/${object.size}` })
      }
    })
  })
