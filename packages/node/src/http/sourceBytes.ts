import type { PutRequest } from "@stevedore/core/ObjectStorage"
import * as Transport from "@stevedore/core/parts/transport"
import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceUnreadable, withCause } from "@stevedore/core/SourceError"
import type { SourceBody } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import { WritePace } from "../file/writePace.js"
import type { Connection } from "./connection.js"
import { Broken } from "./connection.js"

/**
 * Sends a body no faster than the kernel accepts it and the limit allows, and not a byte more than was declared. Calls `onSent` once the
 * kernel has the bytes.
 */
export const send = (
  connection: Connection,
  body: SourceBody,
  request: Pick<PutRequest, "attempt" | "name" | "onSent" | "pace" | "section">
): Effect.Effect<void, SourceError | Broken> =>
  Effect.flatMap(waiting, (waited) => sendWith(waited, connection, body, request))

/** Waits where no Effect runs, until the signal comes. */
type Waited = (wait: Effect.Effect<void>, signal: AbortSignal) => Promise<void>

const waiting: Effect.Effect<Waited> = Effect.map(
  Effect.runtime<never>(),
  (runtime): Waited => (wait, signal) => Runtime.runPromise(runtime)(wait, { signal })
)

const sendWith = (
  waited: Waited,
  connection: Connection,
  body: SourceBody,
  request: Parameters<typeof send>[2]
): Effect.Effect<void, SourceError | Broken> => {
  const { length } = request.section.range
  const pace = new WritePace()
  let sent = 0

  const write = async (chunk: Uint8Array, signal: AbortSignal): Promise<void> => {
    if (sent + chunk.byteLength > length) throw Transport.otherLength(request, sent + chunk.byteLength)
    for (const piece of pace.pieces(chunk, request.pace?.piece)) {
      const wait = request.pace?.before(piece.byteLength)
      if (wait !== undefined) await waited(wait, signal)
      await connection.write(piece)
      sent += piece.byteLength
      request.onSent(piece.byteLength)
    }
  }
  const run = (writing: (signal: AbortSignal) => Promise<void>): Effect.Effect<void, SourceError | Broken> =>
    Effect.tryPromise({
      try: writing,
      catch: (error) =>
        isSourceError(error) || error instanceof Broken
          ? error
          : withCause(
            new SourceUnreadable({ fileName: request.name, reason: "StreamFailed", attempts: request.attempt }),
            error
          )
    })
  const each = (chunks: AsyncIterable<unknown>) =>
    run(async (signal) => {
      for await (const chunk of chunks) {
        if (signal.aborted) return
        if (!(chunk instanceof Uint8Array)) throw new TypeError("A chunk is not bytes")
        await write(chunk, signal)
      }
    })

  return Effect.zipRight(
    bodyWith(body, {
      bytes: (bytes) => run((signal) => write(bytes, signal)),
      each,
      stream: (stream) => Stream.runForEach(stream, (chunk) => run((signal) => write(chunk, signal)))
    }),
    Effect.suspend(() =>
      sent === length ? Effect.sync(() => connection.sentAll()) : Effect.fail(Transport.otherLength(request, sent))
    )
  )
}

const bodyWith = <E>(body: SourceBody, to: {
  readonly bytes: (bytes: Uint8Array) => Effect.Effect<void, E>
  readonly each: (chunks: AsyncIterable<unknown>) => Effect.Effect<void, E>
  readonly stream: (stream: Stream.Stream<Uint8Array, SourceError>) => Effect.Effect<void, E>
}): Effect.Effect<void, E> => {
  const native = (content: unknown) => to.each(isAsyncIterable(content) ? content : notOfNode())
  switch (body._tag) {
    case "BytesBody":
      return to.bytes(body.bytes)
    case "StreamBody":
      return to.stream(body.stream)
    case "BlobBody":
      return native(body.blob.stream())
    case "NativeBody":
      return native(body.content)
  }
}

const isAsyncIterable = (content: unknown): content is AsyncIterable<unknown> =>
  Predicate.hasProperty(content, Symbol.asyncIterator)

async function* notOfNode(): AsyncGenerator<never> {
  throw new TypeError("The body is from another platform")
}
