/**
 * The port through which bytes come in. A source knows its name, type and size, can be opened, and gives ranges.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { SourceError } from "./SourceError.js"
import type { SourceFingerprint } from "./SourceFingerprint.js"
import type { ByteRange } from "./UploadPlan.js"

/**
 * The bytes of one attempt, in a form that a storage adapter can send: bytes in memory, a Stream, a value of the
 * platform that goes to the socket without a detour (on Node an async iterable, whose chunks are valid until the next
 * one is asked for), or a `Blob`, whose bytes never pass through the program that sends it: to have them seen by the
 * observer the adapter runs `observed` beside the request, and waits for both.
 *
 * @since 0.1.0
 * @category models
 */
export type SourceBody =
  | { readonly _tag: "BytesBody"; readonly bytes: Uint8Array }
  | { readonly _tag: "StreamBody"; readonly stream: Stream.Stream<Uint8Array, SourceError> }
  | { readonly _tag: "NativeBody"; readonly content: unknown }
  | { readonly _tag: "BlobBody"; readonly blob: Blob; readonly observed: Effect.Effect<void, SourceError> }

/**
 * Sees each chunk on its way out, before it is sent: to count and to hash. It must not keep the chunk: its memory may
 * be used again.
 *
 * @since 0.1.0
 * @category models
 */
export type ChunkObserver = (chunk: Uint8Array) => void

/**
 * One range of an open source. Each attempt to send it asks for a body of its own; asked a second time, a range that
 * can be read only once fails with `SourceUnreadable`.
 *
 * @since 0.1.0
 * @category models
 */
export interface SourceSection {
  readonly range: ByteRange
  readonly body: (observe: ChunkObserver) => Effect.Effect<SourceBody, SourceError, Scope.Scope>
}

/**
 * A source that is open, for as long as its scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenSource {
  /**
   * Claims a range. The ranges of a stream must be claimed in ascending order without a gap; a claim waits for the
   * ones before it. What it holds in memory is freed with the scope.
   */
  readonly section: (range: ByteRange) => Effect.Effect<SourceSection, SourceError, Scope.Scope>
  /**
   * Reads a range for its own sake, giving each chunk to the observer: to prove that a part is still what storage
   * has. A source that can be read only from front to back fails with `SourceUnreadable`.
   */
  readonly readThrough: (range: ByteRange, observe: ChunkObserver) => Effect.Effect<void, SourceError>
  /** Fails with `SourceChanged` when the source is no longer what it was when it was made. */
  readonly unchanged: Effect.Effect<void, SourceError>
}

interface Described {
  /** 1 to 1024 characters. */
  readonly name: string
  /** Such as `video/mp4`; up to 255 characters. */
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  readonly fingerprint: SourceFingerprint
  /** Fails with `SourceChanged` when the source is no longer what it was when it was made: nothing is begun for it then. */
  readonly open: Effect.Effect<OpenSource, SourceError, Scope.Scope>
}

/**
 * A source that can be opened again and again, with the same bytes each time: a new session can send everything again.
 *
 * @since 0.1.0
 * @category models
 */
export interface RepeatableSource extends Described {
  readonly _tag: "RepeatableSource"
  /**
   * Whether its sections are held in memory while they are sent (a stream's are): they then count against the
   * `maxBufferedBytes` of the gate.
   */
  readonly held: boolean
}

/**
 * A source that can be opened only once. A part that was read is held until storage has it, so that it can be sent
 * again; a new session is not possible.
 *
 * @since 0.1.0
 * @category models
 */
export interface OneShotSource extends Described {
  readonly _tag: "OneShotSource"
  readonly held: boolean
}

/**
 * What goes up.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadSource = RepeatableSource | OneShotSource
