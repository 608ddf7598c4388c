/**
 * One request and its answer, as the sandbox sees it, and the port through which something may interfere with it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Fault from "./Fault.js"

/**
 * What a request asks for. `initiate`, `put` and `complete` belong to the single upload; `initiateLarge`, `putPart` and
 * `completeLarge` to the multipart one; `get` reads at the storage, `download` at the service.
 *
 * @since 0.1.0
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
  "tokenInfo"
)

/**
 * @since 0.1.0
 * @category models
 */
export type Operation = typeof Operation.Type

/**
 * A request that has just arrived. `attempt` counts from 1 for requests of the same operation on the same file and part;
 * `contentLength` is in bytes, as the request declares it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Exchange {
  readonly operation: Operation
  readonly fileId: string | undefined
  readonly part: number | undefined
  readonly attempt: number
  /** Whether a list is asked to go on from a cursor. */
  readonly continued: boolean
  readonly contentLength: number | undefined
}

/**
 * Asked once for every request before it is handled. `None` lets it pass; a fault says what happens to it, before, while
 * or after it is handled.
 *
 * @since 0.1.0
 * @category models
 */
export type Interceptor = (exchange: Exchange) => Effect.Effect<Option.Option<Fault.Fault>>

/**
 * Lets everything pass.
 *
 * @since 0.1.0
 * @category constructors
 */
export const pass: Interceptor = () => Effect.succeed(Option.none())
