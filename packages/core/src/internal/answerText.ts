import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Stream from "effect/Stream"

// A client may tell an answer without a body by an error.
const hasNoBody = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "ResponseError" && error.reason === "EmptyBody"

/**
 * The body of an answer as text, piece by piece. What the client says of a body that breaks off names the request, and
 * with it a signed URL; a stream is run by fibers that tell a debug log how they failed: the error is ours before any of
 * them sees it.
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
