import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConnectionBroken } from "../Connection.js"
import type { Fault } from "../Fault.js"

export type Bytes = Stream.Stream<Uint8Array, ConnectionBroken>

/** What happens to a body in transit: after this many bytes the connection breaks, or nothing more arrives. */
export interface BodyFault {
  readonly bytes: number
  readonly happens: "break" | "silence"
}

/** The part of a fault that concerns a body; `undefined` for other kinds of fault. */
export const of = (fault: Fault | undefined): BodyFault | undefined => {
  if (fault?._tag === "Reset") {
    return fault.afterBytes === undefined ? undefined : { bytes: fault.afterBytes, happens: "break" }
  }
  return fault?._tag === "Stall" && fault.phase === "body"
    ? { bytes: fault.afterBytes ?? 0, happens: "silence" }
    : undefined
}

/**
 * Lets this many bytes through, and then runs the interruption instead of the rest. A body that is not longer passes
 * completely.
 */
export const interruptAfter = (
  body: Bytes,
  bytes: number,
  interruption: Effect.Effect<never, ConnectionBroken>
): Bytes =>
  Stream.suspend(() => {
    let passed = 0
    return Stream.flatMap(body, (chunk) => {
      const left = Stream.succeed(chunk.subarray(0, Math.max(0, bytes - passed)))
      passed += chunk.byteLength
      // even an empty chunk matters: it makes a server over sockets send the head of its response
      return passed > bytes ? Stream.concat(left, Stream.fromEffect(interruption)) : left
    })
  })

/** The number of bytes of a response whose body can break; 0 if it has none. */
export const answerLength = (
  method: string,
  { body, headers }: HttpServerResponse.HttpServerResponse
): number =>
  method === "HEAD" || (body._tag !== "Uint8Array" && body._tag !== "Stream")
    ? 0
    : body.contentLength ?? Number(headers["content-length"] ?? Number.POSITIVE_INFINITY)
