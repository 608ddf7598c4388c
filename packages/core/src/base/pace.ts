import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SourceBody } from "../UploadSource.js"
import type { Pull } from "./pull.js"

/** What is asked before each write. Bytes are not changed by it: whoever writes them asks, waits, and writes. */
export interface Turns {
  /** How many bytes to write at once at most, so that transfers take turns: `Infinity` while there is no limit. */
  readonly piece: () => number
  /** What to wait for before this many bytes are written; `undefined` if they may go at once. */
  readonly before: (bytes: number) => Effect.Effect<void> | undefined
}

/**
 * What an upload asks before each write.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pace extends Turns {
  /** The same bytes for a client whose writes nobody sees: this body asks before it hands out a piece. */
  readonly body: (body: SourceBody) => Effect.Effect<SourceBody, never, Scope.Scope>
}

/**
 * The same bytes in pieces that ask. While there is no limit, chunks pass as they are.
 *
 * @internal
 */
export const pacedPull = <E>(pull: Pull<Uint8Array, E>, { before, piece }: Turns): Pull<Uint8Array, E> => {
  let left: Uint8Array = new Uint8Array()
  const next: Pull<Uint8Array, E> = Effect.suspend(() => {
    if (left.byteLength === 0) {
      return piece() === Number.POSITIVE_INFINITY ? pull : Effect.flatMap(pull, (chunk) => {
        left = chunk
        return next
      })
    }
    const bytes = left.subarray(0, piece())
    left = left.subarray(bytes.byteLength)
    return Effect.as(before(bytes.byteLength) ?? Effect.void, bytes)
  })
  return next
}
