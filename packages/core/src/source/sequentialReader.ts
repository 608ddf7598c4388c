import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"
import { leastProgress, unstalled } from "../base/fibers.js"
import type { SourceError } from "../SourceError.js"
import { SourceChanged, SourceUnreadable } from "../SourceError.js"
import * as Timeouts from "../Timeouts.js"
import type { ByteRange } from "../UploadPlan.js"
import type { ChunkObserver, OpenSource, SourceBody, SourceSection } from "../UploadSource.js"
import { exactly } from "./exactLength.js"

interface Sequence {
  readonly name: string
  readonly size: number
  readonly stream: Stream.Stream<Uint8Array, SourceError>
  readonly repeatable: boolean
}

// A whole file up to this size is held, so that a source that can be read only once survives a failed attempt.
export const longestHeldWhole = 67_108_864

export const open = (sequence: Sequence): Effect.Effect<OpenSource, SourceError, Scope.Scope> =>
  Effect.map(makeReader(sequence), (read) => ({
    section: (range) =>
      range.length === sequence.size && range.length > longestHeldWhole
        ? Effect.succeed(passingThrough(sequence, range))
        : Effect.map(read(range), (bytes) => held(bytes, range)),
    readThrough: () => Effect.fail(new SourceUnreadable({ fileName: sequence.name, reason: "ReadOnce" })),
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
          return Effect.fail(new SourceUnreadable({ fileName: sequence.name, reason: "ReadOnce" }))
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

// Nothing else watches this stream: its output is held before any attempt starts, and only attempts have timers.
const steadyPull = (sequence: Sequence) =>
  Effect.gen(function*() {
    const { stall } = yield* Timeouts.Timeouts
    const pull = yield* Pulls.severalOf(exactly(sequence.stream, sequence))
    return yield* unstalled(
      pull,
      stall,
      () => new SourceUnreadable({ fileName: sequence.name, reason: "Stalled" }),
      (chunks) => chunks.some(({ byteLength }) => byteLength > 0) ? leastProgress : 0
    )
  })

// The stream is opened by the first claim and closed with the scope of the source, not with that of a section.
const makeReader = (sequence: Sequence): Effect.Effect<Read, never, Scope.Scope> =>
  Effect.map(steadyPull(sequence), (pull) => {
    const turns = makeTurns(sequence.name)
    let left: Uint8Array = new Uint8Array(0)

    const next: Effect.Effect<Uint8Array, SourceError> = Effect.suspend(() =>
      left.byteLength > 0
        ? Effect.succeed(left)
        : Effect.mapBoth(pull, {
          onSuccess: concatenate,
          onFailure: Option.getOrElse((): SourceError =>
            new SourceChanged({ fileName: sequence.name, what: "tooShort", expected: String(sequence.size) })
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

    const expectEnd: Effect.Effect<void, SourceError> = Effect.catchAll(
      Effect.forever(pull),
      Option.match({ onNone: () => Effect.void, onSome: (error: SourceError) => Effect.fail(error) })
    )

    return (range) =>
      turns.take(
        range,
        Effect.suspend(() => fill(new Uint8Array(range.length), 0)).pipe(
          Effect.zipLeft(range.offset + range.length < sequence.size ? Effect.void : expectEnd)
        )
      )
  })

interface Turns {
  /** Runs a read once all bytes before its range have been read. */
  readonly take: <A>(range: ByteRange, read: Effect.Effect<A, SourceError>) => Effect.Effect<A, SourceError>
}

// A read that fails or is interrupted leaves a gap that nothing fills: all other claims then fail instead of waiting
// forever.
const makeTurns = (name: string): Turns => {
  const gone = new SourceUnreadable({ fileName: name, reason: "ReadOnce" })
  const claimed = new Set<number>()
  const turns = new Map<number, Deferred.Deferred<void, SourceError>>()
  let broken: SourceError | undefined

  const turn = (offset: number): Deferred.Deferred<void, SourceError> => {
    const existing = turns.get(offset)
    if (existing !== undefined) return existing
    const made = Deferred.unsafeMake<void, SourceError>(FiberId.none)
    turns.set(offset, made)
    return made
  }
  const pass = (offset: number) => Deferred.unsafeDone(turn(offset), Effect.void)
  const close = (error: SourceError) => {
    broken ??= error
    for (const waiting of turns.values()) Deferred.unsafeDone(waiting, Effect.fail(error))
  }

  pass(0)
  return {
    take: (range, read) =>
      Effect.suspend(() => {
        if (broken !== undefined) return Effect.fail(broken)
        if (claimed.has(range.offset)) return Effect.fail(gone)
        claimed.add(range.offset)
        return Effect.zipRight(Deferred.await(turn(range.offset)), read).pipe(
          Effect.tap(() => Effect.sync(() => pass(range.offset + range.length))),
          Effect.onError((cause) => Effect.sync(() => close(Option.getOrElse(Cause.failureOption(cause), () => gone))))
        )
      })
  }
}

const concatenate = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0))
  chunks.reduce((offset, chunk) => {
    bytes.set(chunk, offset)
    return offset + chunk.byteLength
  }, 0)
  return bytes
}
