import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"

// A client may report a response without a body as an error, and one whose body it cannot stream as well.
const hasNoBody = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "ResponseError" && error.reason === "EmptyBody"

/** Where `fetch` has no streams, as in React Native, a body is taken as a whole, up to this many bytes. */
export const longestWhole = 64 * 1024 * 1024

const whole = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Stream.Stream<Uint8Array>, HttpClientError.HttpClientError> =>
  Number(response.headers["content-length"] ?? 0) > longestWhole
    ? Effect.fail(
      new HttpClientError.ResponseError({
        request: response.request,
        response,
        reason: "Decode",
        cause: { code: "NO_STREAM" }
      })
    )
    : Effect.matchEffect(response.arrayBuffer, {
      onSuccess: (bytes) =>
        Effect.succeed(bytes.byteLength === 0 ? Stream.empty : Stream.succeed(new Uint8Array(bytes))),
      onFailure: (error) => hasNoBody(error) ? Effect.succeed(Stream.empty) : Effect.fail(error)
    })

/**
 * The body of a response, piece by piece. The client's error for a body that breaks off names the request, and with it a
 * signed URL, and the fibers that run a stream report their failure to a debug log. So the error is replaced by ours
 * before any of them sees it.
 */
export const answerBytes = <E>(
  response: HttpClientResponse.HttpClientResponse,
  mapError: (error: HttpClientError.HttpClientError) => E
): Stream.Stream<Uint8Array, E> =>
  Stream.catchAll(
    response.stream,
    (error) =>
      hasNoBody(error) ? Stream.unwrap(Effect.mapError(whole(response), mapError)) : Stream.fail(mapError(error))
  )

export const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return only
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0))
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.byteLength
  }
  return whole
}

/** The same as one, which ends with the piece that makes it longer than `longest`. */
export const answerStart = <E>(
  response: HttpClientResponse.HttpClientResponse,
  longest: number,
  mapError: (error: HttpClientError.HttpClientError) => E
): Effect.Effect<Uint8Array, E> =>
  Effect.scoped(Effect.flatMap(Pulls.ofStream(answerBytes(response, mapError)), (pull) => {
    const pieces: Array<Uint8Array> = []
    let length = 0
    const rest: Effect.Effect<Uint8Array, E> = Effect.suspend(() =>
      length > longest ? Effect.sync(() => joined(pieces)) : Effect.matchEffect(pull, {
        onSuccess: (piece) => {
          pieces.push(piece)
          length += piece.byteLength
          return rest
        },
        onFailure: Option.match({ onNone: () => Effect.sync(() => joined(pieces)), onSome: Effect.fail })
      })
    )
    return rest
  }))
