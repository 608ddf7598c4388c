/**
 * The port through which bytes come in. A source knows its name, type and size, can be opened, and is read by ranges.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { SourceFingerprint } from "./source/fingerprint.js"
import type { SourceError } from "./SourceError.js"
import type { ByteRange } from "./UploadPlan.js"

/**
 * The bytes of one attempt, in a form that a storage adapter can send: bytes in memory, a Stream, a platform value that
 * goes to the socket directly (on Node, an async iterable whose chunks are valid until the next one is requested), or a
 * `Blob`, whose bytes never pass through the program that sends it. To let the observer see the bytes of a Blob, the
 * adapter runs `observed` beside the request and waits for both.
 *
 * @category models
 */
export type SourceBody =
  | { readonly _tag: "BytesBody"; readonly bytes: Uint8Array }
  | { readonly _tag: "StreamBody"; readonly stream: Stream.Stream<Uint8Array, SourceError> }
  | { readonly _tag: "NativeBody"; readonly content: unknown }
  | { readonly _tag: "BlobBody"; readonly blob: Blob; readonly observed: Effect.Effect<void, SourceError> }

/**
 * Sees each chunk before it is sent, to count and to hash it. It must not keep the chunk, because its memory may be
 * reused.
 *
 * @category models
 */
export type ChunkObserver = (chunk: Uint8Array) => void

/**
 * One range of an open source. Each attempt to send it asks for a new body. For a range that can be read only once, a
 * second body fails with `SourceUnreadable`.
 *
 * @category models
 */
export interface SourceSection {
  readonly range: ByteRange
  readonly body: (observe: ChunkObserver) => Effect.Effect<SourceBody, SourceError, Scope.Scope>
}

/**
 * An open source, valid for the lifetime of its scope.
 *
 * @category models
 */
export interface OpenSource {
  /**
   * Claims a range. The ranges of a stream must be claimed in ascending order without gaps; a claim waits for those
   * before it. What it holds in memory is freed with the scope.
   */
  readonly section: (range: ByteRange) => Effect.Effect<SourceSection, SourceError, Scope.Scope>
  /**
   * Reads a range without sending it, passing each chunk to the observer, to prove that a part is still what storage
   * has. A source that can only be read from front to back fails with `SourceUnreadable`.
   */
  readonly readThrough: (range: ByteRange, observe: ChunkObserver) => Effect.Effect<void, SourceError>
  /** Fails with `SourceChanged` if the source is no longer what it was when it was made. */
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
  /**
   * Fails with `SourceChanged` if the source is no longer what it was when it was made: nothing is started for it then.
   */
  readonly open: Effect.Effect<OpenSource, SourceError, Scope.Scope>
}

/**
 * A source that can be opened repeatedly, with the same bytes each time: a new session can send everything again.
 *
 * @category models
 */
export interface RepeatableSource extends Described {
  readonly _tag: "RepeatableSource"
  /**
   * Whether its sections are held in memory while they are sent, as those of a stream are. They then count against the
   * `maxBufferedBytes` of the gate.
   */
  readonly held: boolean
}

/**
 * A source that can be opened only once. A part that was read is held until storage has it, so that it can be retried;
 * a new session is not possible.
 *
 * @category models
 */
export interface OneShotSource extends Described {
  readonly _tag: "OneShotSource"
  readonly held: boolean
}

/**
 * A source to upload.
 *
 * @category models
 */
export type UploadSource = RepeatableSource | OneShotSource

export {
  /**
   * What identifies the contents of a source: its size, and when it was last modified where that is known.
   *
   * @category models
   */
  SourceFingerprint
} from "./source/fingerprint.js"

export {
  /**
   * How many characters a name has, as the service counts them: an emoji such as the ship is one, where JavaScript's
   * `length` says two.
   *
   * @example
   * import * as UploadSource from "@stevedore/core/UploadSource"
   *
   * UploadSource.charactersIn("🚢.mp4") // 5
   *
   * @internal
   */
  charactersIn,
  /**
   * Checks what the service will be told about a source. For sources of your own: a name that is empty or too long, or a
   * media type that cannot be sent, then fails where the source is made, not when its upload starts. The limits default
   * to those of the standard profile.
   *
   * @example
   * import * as UploadSource from "@stevedore/core/UploadSource"
   * import { Either } from "effect"
   *
   * UploadSource.checkDescription("interview.mp4", "video/mp4") // passes
   * Either.mapLeft(UploadSource.checkDescription("", "video/mp4"), (error) => error.field) // "name"
   *
   * @internal
   */
  checkDescription,
  /**
   * The largest file of an upload by the standard profile, in bytes: 10 GB.
   *
   * @internal
   */
  size as largestSize
} from "./source/limits.js"
