import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"
import type { Turns } from "../base/pace.js"
import { pacedPull } from "../base/pace.js"
import type { SourceError } from "../SourceError.js"
import type { SourceBody } from "../UploadSource.js"

/** What an upload asks before each write. */
export interface Pace extends Turns {
  /** The same bytes for a client whose writes nobody sees: this body asks before it hands out a piece. */
  readonly body: (body: SourceBody) => Effect.Effect<SourceBody, never, Scope.Scope>
}

const isAsyncIterable = (content: unknown): content is AsyncIterable<unknown> =>
  Predicate.hasProperty(content, Symbol.asyncIterator)

// A platform's own body may reuse the memory of a chunk once a transport has drained it. Transports do not wait for small
// pieces to drain, so those are of a copy.
async function* pacedChunks(
  content: AsyncIterable<unknown>,
  { before, piece }: Turns,
  waited: (wait: Effect.Effect<void>) => Promise<void>
): AsyncGenerator<unknown, void, undefined> {
  for await (const chunk of content) {
    if (piece() === Number.POSITIVE_INFINITY || !(chunk instanceof Uint8Array)) {
      yield chunk
      continue
    }
    for (let left = new Uint8Array(chunk); left.byteLength > 0;) {
      const bytes = left.subarray(0, piece())
      left = left.subarray(bytes.byteLength)
      const wait = before(bytes.byteLength)
      if (wait !== undefined) await waited(wait)
      yield bytes
    }
  }
}

// Its waits end with the scope
const pacedNative = (
  content: AsyncIterable<unknown>,
  pace: Turns
): Effect.Effect<SourceBody, never, Scope.Scope> =>
  Effect.flatMap(Effect.runtime<never>(), (runtime) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      ),
      ({ signal }): SourceBody => ({
        _tag: "NativeBody",
        content: pacedChunks(content, pace, (wait) => Runtime.runPromise(runtime)(wait, { signal }))
      })
    ))

const pacedStream = (stream: Stream.Stream<Uint8Array, SourceError>, pace: Turns): SourceBody => ({
  _tag: "StreamBody",
  stream: Stream.unwrapScoped(
    Effect.map(Pulls.ofStream(stream), (pull) => Pulls.toStream(pacedPull(pull, pace)))
  )
})

/**
 * A body for a client whose writes nobody sees: it asks the pace before it hands out a piece. What is sent as a whole,
 * such as a Blob, waits as a whole. A body keeps its kind; only bytes in memory that are longer than a piece become a
 * Stream.
 */
export const paced = (body: SourceBody, pace: Turns): Effect.Effect<SourceBody, never, Scope.Scope> =>
  Effect.suspend(() => {
    const whole = (bytes: number) => Effect.as(pace.before(bytes) ?? Effect.void, body)
    switch (body._tag) {
      case "BlobBody":
        return whole(body.blob.size)
      case "BytesBody":
        return body.bytes.byteLength <= pace.piece()
          ? whole(body.bytes.byteLength)
          : Effect.succeed(pacedStream(Stream.make(body.bytes), pace))
      case "StreamBody":
        return Effect.succeed(pacedStream(body.stream, pace))
      case "NativeBody":
        return isAsyncIterable(body.content) ? pacedNative(body.content, pace) : Effect.succeed(body)
    }
  })
