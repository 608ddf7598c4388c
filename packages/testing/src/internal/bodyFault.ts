import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConnectionBroken } from "../Connection.js"
import type { Fault } from "../Fault.js"

export type Bytes = Stream.Stream<Uint8Array, ConnectionBroken>

/** What happens to a body on its way: after so many bytes the connection breaks, or nothing more comes. */
export interface BodyFault {
  readonly bytes: number
  readonly happens: "break" | "silence"
}

/** The part of a fault that is about a body; none for a fault of another kind. */
export const of = (fault: Fault | undefined): BodyFault | undefined => {
  if (fault?._tag === "Reset") {
    return fault.afterBytes === undefined ? undefined : { bytes: fault.afterBytes, happens: "break" }
  }
  return fault?._tag === "Stall" && fault.phase === "body"
    ? { bytes: fault.afterBytes ?? 0, happens: "silence" }
    : undefined
}

/** Lets so many bytes through, and then this happens instead of the others. A body of no more goes through whole. */
export const interruptAfter = (
  body: Bytes,
  bytes: number,
  interruption: Effect.Effect<never, ConnectionBroken>
): Bytes =>
  body.pipe(
    Stream.mapAccum(0, (passed, chunk) => {
      const total = passed + chunk.byteLength
      return [total, { chunk: chunk.subarray(0, Math.max(0, bytes - passed)), over: total > bytes }]
    }),
    Stream.flatMap(({ chunk, over }) =>
      // a chunk without bytes is of use too: with it a server over sockets sends the head of its answer
      over ? Stream.concat(Stream.succeed(chunk), Stream.fromEffect(interruption)) : Stream.succeed(chunk)
    )
  )

/** The bytes that an answer has, in a body that can break; 0 where it has none. */
export const answerLength = (
  method: string,
  { body, headers }: HttpServerResponse.HttpServerResponse
): number =>
  method === "HEAD" || (body._tag !== "Uint8Array" && body._tag !== "Stream")
    ? 0
    : body.contentLength ?? Number(headers["content-length"] ?? Number.POSITIVE_INFINITY)
