import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "./pull.js"

// A client may report a response without a body as an error.
const hasNoBody = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "ResponseError" && error.reason === "EmptyBody"

/**
 * The body of a response as text, piece by piece. The client's error for a body that breaks off names the request, and
 * with it a signed URL, and the fibers that run a stream report their failure to a debug log. So the error is replaced
 * by ours before any of them sees it.
 *
 * @internal
 */
export const answerText = <E>(
  response: HttpClientResponse.HttpClientResponse,
  mapError: (error: HttpClientError.HttpClientError) => E
): Stream.Stream<string, E> =>
  response.stream.pipe(
    Stream.catchAll((error) => hasNoBody(error) ? Stream.empty : Stream.fail(mapError(error))),
    Stream.decodeText()
  )

/**
 * The same as one text, which ends with the piece that makes it longer than `longest`.
 *
 * @internal
 */
export const answerStart = <E>(
  response: HttpClientResponse.HttpClientResponse,
  longest: number,
  mapError: (error: HttpClientError.HttpClientError) => E
): Effect.Effect<string, E> =>
  Effect.scoped(Effect.flatMap(Pulls.ofStream(answerText(response, mapError)), (pull) => {
    const continued = (text: string): Effect.Effect<string, E> =>
      text.length > longest ? Effect.succeed(text) : Effect.matchEffect(pull, {
        onSuccess: (piece) => continued(text + piece),
        onFailure: Option.match({ onNone: () => Effect.succeed(text), onSome: Effect.fail })
      })
    return continued("")
  }))
