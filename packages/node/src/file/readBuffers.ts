import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

/** Two buffers that are filled in turn. */
export type ReadBuffers = readonly [Uint8Array, Uint8Array]

/**
 * The buffers of one open file, reused for its next range. With new buffers for every part, garbage collection costs as
 * much as the parts themselves: buffers live just long enough to reach the old generation.
 */
export class ReadBufferPool {
  readonly #resting: Array<ReadBuffers> = []

  constructor(readonly size: number) {}

  /**
   * Buffers for the duration of a scope. They return to the pool only if the scope succeeds: otherwise the disk may
   * still be writing to one of them, and the kernel sending from the other.
   */
  readonly take: Effect.Effect<ReadBuffers, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync((): ReadBuffers => this.#resting.pop() ?? [readBuffer(this.size), readBuffer(this.size)]),
    (buffers, exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) this.#resting.push(buffers)
      })
  )
}

// On AMD processors, the kernel copies at a third of its speed to the start of a large malloc block, which is the first
// 16 bytes of a page. This offset is the start of a cache line.
const lead = 48

/** Memory for reading from a file. */
export const readBuffer = (size: number): Uint8Array => Buffer.allocUnsafeSlow(lead + size).subarray(lead)
