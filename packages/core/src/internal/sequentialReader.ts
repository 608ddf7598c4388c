import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SourceError } from "../SourceError.js"
import { SourceChanged, SourceUnreadable } from "../SourceError.js"
import type { ByteRange } from "../UploadPlan.js"
import type { ChunkObserver, OpenSource, SourceBody, SourceSection } from "../UploadSource.js"
import { exactly } from "../UploadSources.js"

interface Sequence {
  readonly name: string
  readonly size: number
  readonly stream: Stream.Stream<Uint8Array, SourceError>
  readonly repeatable: boolean
}

// A whole file up to this size is held, so that a source that can be read only once survives a failed attempt.
const heldWhole = 67_108_864

/** @internal */
export const open = (sequence: Sequence): Effect.Effect<OpenSource, SourceError, Scope.Scope> =>
  Effect.map(Effect.cached(makeReader(sequence)), (reader) => ({
    section: (range) =>
      range.length === sequence.size && range.length > heldWhole
        ? Effect.succeed(passingThrough(sequence, range))
        : Effect.flatMap(reader, (read) => Effect.map(read(range), (bytes) => held(bytes, range))),
    unchanged: Effect.void
  }))

const held = (bytes: Uint8Array, range: ByteRange): SourceSection => ({
  range,
  body: (observe) =>
    Effect.sync((): SourceBody => {
      observe(bytes)
      return { _tag: "BytesBody", bytes }
    })
})

const passingThrough = (sequence: Sequence, range: ByteRange): SourceSection => {
  let read = false
  return {
    range,
    body: (observe) =>
      Effect.suspend(() => {
        if (read && !sequence.repeatable) {
          return Effect.fail(new SourceUnreadable({ name: sequence.name, reason: "ReadOnce" }))
        }
        read = true
        return Effect.succeed<SourceBody>({ _tag: "StreamBody", stream: observed(sequence, observe) })
      })
  }
}

const observed = (sequence: Sequence, observe: ChunkObserver) =>
  Stream.map(exactly(sequence.stream, sequence), (chunk) => {
    observe(chunk)
    return chunk
  })

type Read = (range: ByteRange) => Effect.Effect<Uint8Array, SourceError>

const makeReader = (sequence: Sequence): Effect.Effect<Read, never, Scope.Scope> =>
  Effect.map(Stream.toPull(exactly(sequence.stream, sequence)), (pull) => {
    const turns = new Map<number, Deferred.Deferred<void, SourceError>>()
    let position = 0
    let left: Uint8Array = new Uint8Array(0)

    const next: Effect.Effect<Uint8Array, SourceError> = Effect.suspend(() =>
      left.byteLength > 0
        ? Effect.succeed(left)
        : Effect.mapBoth(pull, {
          onSuccess: concatenate,
          onFailure: Option.getOrElse((): SourceError =>
            new SourceChanged({ name: sequence.name, what: "size", expected: `${sequence.size} bytes` })
          )
        })
    )

    const fill = (bytes: Uint8Array, filled: number): Effect.Effect<Uint8Array, SourceError> =>
      filled === bytes.byteLength
        ? Effect.succeed(bytes)
        : Effect.flatMap(next, (chunk) => {
          const taken = chunk.subarray(0, bytes.byteLength - filled)
          bytes.set(taken, filled)
          left = chunk.subarray(taken.byteLength)
          return fill(bytes, filled + taken.byteLength)
        })

    const expectEnd: Effect.Effect<void, SourceError> = Effect.suspend(() =>
      position < sequence.size
        ? Effect.void
        : Effect.catchAll(
          Effect.forever(pull),
          Option.match({
            onNone: () => Effect.void,
            onSome: (error: SourceError) => Effect.fail(error)
          })
        )
    )

    const turn = (range: ByteRange): Effect.Effect<void, SourceError> =>
      position === range.offset
        ? Effect.void
        : Effect.flatMap(Deferred.make<void, SourceError>(), (deferred) => {
          turns.set(range.offset, deferred)
          return Deferred.await(deferred)
        })

    return (range) =>
      Effect.suspend(() => turn(range)).pipe(
        Effect.zipRight(Effect.suspend(() => fill(new Uint8Array(range.length), 0))),
        Effect.tap(() => {
          position += range.length
          return expectEnd
        }),
        Effect.tap(() => {
          const following = turns.get(position)
          return following === undefined ? Effect.void : Deferred.succeed(following, undefined)
        }),
        Effect.tapError((error) => Effect.forEach(turns.values(), Deferred.fail(error), { discard: true }))
      )
  })

const concatenate = (chunks: Chunk.Chunk<Uint8Array>): Uint8Array => {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const bytes = new Uint8Array(Chunk.reduce(chunks, 0, (length, chunk) => length + chunk.byteLength))
  Chunk.reduce(chunks, 0, (offset, chunk) => {
    bytes.set(chunk, offset)
    return offset + chunk.byteLength
  })
  return bytes
}
