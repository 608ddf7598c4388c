/** One request and its response as the sandbox sees them, and the port through which a fault can interfere. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Fault from "./Fault.js"

/**
 * What a request asks for. `initiate`, `put` and `complete` belong to single uploads; `initiateLarge`, `putPart` and
 * `completeLarge` to multipart uploads; `get` reads from storage, `download` from the service.
 *
 * @category models
 */
export const Operation = Schema.Literal(
  "initiate",
  "initiateLarge",
  "put",
  "putPart",
  "complete",
  "completeLarge",
  "file",
  "download",
  "list",
  "get",
  "tokenInfo",
  "importFile"
)

/** @category models */
export type Operation = typeof Operation.Type

/**
 * A request that has just arrived. `attempt` counts from 1 for requests of the same operation on the same file and
 * part; `contentLength` is in bytes, as the request declares it.
 *
 * @category models
 */
export interface Exchange {
  readonly operation: Operation
  readonly fileId: string | undefined
  readonly part: number | undefined
  readonly attempt: number
  /** Whether a list request continues from a cursor. */
  readonly continued: boolean
  readonly contentLength: number | undefined
}

/**
 * Called once for every request before it is handled. `None` lets it pass; a fault says what happens to it before,
 * during or after handling.
 *
 * @category models
 */
export type Interceptor = (exchange: Exchange) => Effect.Effect<Option.Option<Fault.Fault>>

/**
 * Lets everything pass.
 *
 * @category constructors
 */
export const pass: Interceptor = () => Effect.succeed(Option.none())
