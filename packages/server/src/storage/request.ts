/** What storage asks of a request that brings bytes. */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as StorageRefused from "../StorageRefused.js"

const LARGEST_PUT_BYTES = 5 * 1024 * 1024 * 1024
const LARGEST_PART_NUMBER = 10_000

/**
 * The length that a request declares, in bytes: up to 5 GiB. Without one, or with chunks instead, it is refused.
 *
 * @category constructors
 */
export const declaredLength = (
  headers: Readonly<Record<string, string | undefined>>
): Effect.Effect<number, StorageRefused.StorageRefused> =>
  Effect.suspend(() => {
    if (headers["transfer-encoding"] !== undefined) {
      return StorageRefused.make("NotImplemented", { details: { Header: "Transfer-Encoding" } })
    }
    const length = headers["content-length"]
    if (length === undefined || !/^\d+$/.test(length)) {
      return StorageRefused.make("MissingContentLength")
    }
    return Number(length) > LARGEST_PUT_BYTES
      ? StorageRefused.make("EntityTooLarge", {
        details: { ProposedSize: length, MaxSizeAllowed: String(LARGEST_PUT_BYTES) }
      })
      : Effect.succeed(Number(length))
  })

const incomplete = (expected: number, provided: number) =>
  StorageRefused.make("IncompleteBody", {
    details: { NumberBytesExpected: String(expected), NumberBytesProvided: String(provided) }
  })

/**
 * A body that fails at its end unless it had as many bytes as were declared.
 *
 * @category combinators
 */
export const ofLength = <E, R>(
  body: Stream.Stream<Uint8Array, E, R>,
  length: number
): Stream.Stream<Uint8Array, E | StorageRefused.StorageRefused, R> =>
  Stream.suspend(() => {
    let received = 0
    const counted = Stream.map(body, (chunk) => {
      received += chunk.byteLength
      return chunk
    })
    const checked = Effect.suspend(() => received === length ? Effect.void : Effect.fail(incomplete(length, received)))
    return Stream.concat(counted, Stream.drain(Stream.fromEffect(checked)))
  })

/**
 * The few bytes of a whole body, as many as were declared.
 *
 * @category constructors
 */
export const bytesOf = (
  request: HttpServerRequest,
  length: number
): Effect.Effect<Uint8Array, StorageRefused.StorageRefused> =>
  request.arrayBuffer.pipe(
    Effect.mapBoth({
      onFailure: () => StorageRefused.make("IncompleteBody"),
      onSuccess: (buffer) => new Uint8Array(buffer)
    }),
    Effect.filterOrFail(
      ({ byteLength }) => byteLength === length,
      ({ byteLength }) => incomplete(length, byteLength)
    )
  )

/**
 * The number of a part: an integer from 1 to 10000.
 *
 * @category constructors
 */
export const partNumber = (text: string): Effect.Effect<number, StorageRefused.StorageRefused> => {
  const number = /^\d+$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= LARGEST_PART_NUMBER
    ? Effect.succeed(number)
    : StorageRefused.make("InvalidArgument", {
      reason: `Part number must be an integer between 1 and ${LARGEST_PART_NUMBER}, inclusive`,
      details: { ArgumentName: "partNumber", ArgumentValue: text }
    })
}

/**
 * The key in a path-style path, `/bucket/key`.
 *
 * @category constructors
 */
export const keyIn = (bucket: string, path: string): Effect.Effect<string, StorageRefused.StorageRefused> => {
  const decoded = decodeURIComponent(path)
  const prefix = `/${bucket}/`
  return decoded.startsWith(prefix)
    ? Effect.succeed(decoded.slice(prefix.length))
    : StorageRefused.make("NoSuchBucket", { details: { BucketName: decoded.split("/")[1] ?? "" } })
}
