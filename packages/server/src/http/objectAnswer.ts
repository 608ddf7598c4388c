/**
 * The response to a read of an object: whole or a range, under conditions. Storage and the service's download give the
 * same one.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Checksum } from "@stevedore/core/Checksum"
import * as Either from "effect/Either"
import type * as ObjectStore from "../ObjectStore.js"
import * as StorageRefused from "../StorageRefused.js"

/** The header with the checksum of a whole, as S3 names it. @internal */
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
  header.split(",").some((candidate) => candidate.trim() === "*" || candidate.trim() === etag)

/**
 * Decides the response to a read from the request's headers and what the store knows about the object: `If-Match`,
 * `If-None-Match`, `If-Range` and `Range`.
 *
 * @category constructors
 */
export const make = (
  headers: RequestHeaders,
  object: ObjectStore.StoredObject,
  store: ObjectStore.ObjectStoreService
): Either.Either<HttpServerResponse.HttpServerResponse, StorageRefused.StorageRefused> =>
  Either.gen(function*() {
    const ifMatch = headers["if-match"]
    const ifNoneMatch = headers["if-none-match"]
    const ifRange = headers["if-range"]
    const answer = {
      etag: object.etag,
      "last-modified": new Date(object.lastModified).toUTCString(),
      "accept-ranges": "bytes"
    }
    if (ifMatch !== undefined && !names(ifMatch, object.etag)) {
      return yield* Either.left(StorageRefused.make("PreconditionFailed", { details: { Condition: "If-Match" } }))
    }
    if (ifNoneMatch !== undefined && names(ifNoneMatch, object.etag)) {
      return HttpServerResponse.empty({ status: 304, headers: answer })
    }
    const isRanged = ifRange === undefined || ifRange === object.etag || ifRange === answer["last-modified"]
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
