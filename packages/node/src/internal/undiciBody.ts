import { ResponseError } from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { Readable } from "node:stream"

/** How much of a body may have come before it is asked for, in bytes. What has come is taken at once. */
export const highWaterMark = 524_288

const bodyOf = (response: HttpClientResponse.HttpClientResponse): Readable | undefined => {
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  const body = Predicate.hasProperty(source, "body") ? source.body : undefined
  return body instanceof Readable ? body : undefined
}

const cut = (): Error => Object.assign(new Error("The body has been cut off"), { code: "ECONNRESET" })

type Chunk = Effect.Effect<Uint8Array, Option.Option<unknown>>

const ended: Chunk = Effect.fail(Option.none())

const broken = (cause: unknown): Chunk => Effect.fail(Option.some(cause))

const readNow = (body: Readable): Chunk | undefined => {
  const chunk: unknown = body.read()
  if (chunk instanceof Uint8Array) return Effect.succeed(chunk)
  if (body.readableEnded) return ended
  if (body.errored !== null) return broken(body.errored)
  return body.destroyed ? broken(cut()) : undefined
}

const untilReadable = (body: Readable): Chunk =>
  Effect.async((resume) => {
    const look = () => {
      const now = readNow(body)
      if (now === undefined) return
      stop()
      resume(now)
    }
    const stop = () => {
      for (const event of ["readable", "end", "error", "close"]) body.off(event, look)
    }
    for (const event of ["readable", "end", "error", "close"]) body.on(event, look)
    return Effect.sync(stop)
  })

/**
 * The body of an answer of undici, as it comes, without a Stream: a Stream costs more than the transfer. None for the
 * answer of another client.
 *
 * @internal
 */
export const pull = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Uint8Array, Option.Option<ResponseError>> | undefined => {
  const body = bodyOf(response)
  return body === undefined ? undefined : Effect.suspend(() => readNow(body) ?? untilReadable(body)).pipe(
    Effect.mapError(
      Option.map((cause) => new ResponseError({ request: response.request, response, reason: "Decode", cause }))
    )
  )
}
