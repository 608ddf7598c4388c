import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

/** Two buffers that are filled in turns. */
export type ReadBuffers = readonly [Uint8Array, Uint8Array]

/**
 * The buffers of one open file, used again by its next range. With new ones for every part, what collects them costs as
 * much as the parts do: they live just long enough to grow old.
 *
 * @internal
 */
export class ReadBufferPool {
  readonly #resting: Array<ReadBuffers> = []

  constructor(readonly size: number) {}

  /**
   * Buffers for as long as a scope. They come back only from one that ends well: after any other end, the disk may still be
   * filling one of them, and the kernel sending from the other.
   */
  readonly take: Effect.Effect<ReadBuffers, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync((): ReadBuffers => this.#resting.pop() ?? [readBuffer(this.size), readBuffer(this.size)]),
    (buffers, exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) this.#resting.push(buffers)
      })
  )
}

// On processors of AMD the kernel copies at a third of its speed to where a large block of malloc begins, which is the
// first 16 bytes of a page. This far behind it begins a line of the cache.
const lead = 48

/**
 * Memory for what is read from a file.
 *
 * @internal
 */
export const readBuffer = (size: number): Uint8Array => Buffer.allocUnsafeSlow(lead + size).subarray(lead)
