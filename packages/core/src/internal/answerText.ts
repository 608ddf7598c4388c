import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Stream from "effect/Stream"

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
