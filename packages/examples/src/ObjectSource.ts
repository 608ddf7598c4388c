import { SourceError, type UploadPlan } from "@stevedore/core"
import type { OpenSource, RepeatableSource } from "@stevedore/core/UploadSource"
import { Effect, Stream } from "effect"

/** An object in another storage that can be read by range. */
export interface StoredObject {
  readonly key: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** Changes whenever the bytes do: an etag, or the id of a version. */
  readonly version: string
  /** The current version. */
  readonly current: Effect.Effect<string, Error>
  readonly read: (
    range: UploadPlan.ByteRange
  ) => Stream.Stream<Uint8Array, Error>
}

/** Uploads an object directly from another storage, without a copy on disk. */
export const fromObject = (
  { current, key: name, mediaType, read, size, version }: StoredObject
): RepeatableSource => {
  const unreadable = (cause: unknown) =>
    SourceError.withCause(
      new SourceError.SourceUnreadable({
        fileName: name,
        reason: "StreamFailed"
      }),
      cause
    )

  const chunks = (
    range: UploadPlan.ByteRange,
    observe: (chunk: Uint8Array) => void
  ) =>
    read(range).pipe(
      Stream.mapError(unreadable),
      Stream.tap((chunk) => Effect.sync(() => observe(chunk)))
    )

  const opened: OpenSource = {
    section: (range) =>
      Effect.succeed({
        range,
        body: (observe) =>
          Effect.succeed({ _tag: "StreamBody", stream: chunks(range, observe) })
      }),
    readThrough: (range, observe) => Stream.runDrain(chunks(range, observe)),
    unchanged: Effect.filterOrFail(
      Effect.mapError(current, unreadable),
      (now) => now === version,
      (now) =>
        new SourceError.SourceChanged({
          fileName: name,
          what: "identity",
          expected: version,
          actual: now
        })
    )
  }

  return {
    _tag: "RepeatableSource",
    name,
    mediaType,
    size,
    held: false,
    // the identity by which it is recognized after a crash
    fingerprint: { kind: "object", size, identity: version },
    open: Effect.as(opened.unchanged, opened)
  }
}
