/**
 * Reads an uploaded file back and compares it with what was sent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Checksum from "./Checksum.js"
import * as Downloads from "./Downloads.js"
import { ContentDiffers, ContentUnverified } from "./UploadError.js"
import type { UploadSource } from "./UploadSource.js"

/**
 * An uploaded file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Verification {
  readonly fileId: string
  readonly source: UploadSource
  /** The checksum of what was sent, if the algorithm combines those of the parts. */
  readonly checksum: Option.Option<Checksum.Checksum>
}

const unverified = (fileId: string) => (error: { readonly _tag: string; readonly attempts: number }) =>
  new ContentUnverified({ fileId, because: error._tag, attempts: error.attempts })

const ofSource = ({ fileId, source }: Verification): Effect.Effect<string, ContentUnverified> =>
  Effect.scoped(Effect.gen(function*() {
    const running = (yield* Checksum.Algorithm).begin()
    const opened = yield* source.open
    yield* opened.readThrough({ offset: 0, length: source.size }, running.update)
    return running.value()
  })).pipe(Effect.mapError(unverified(fileId)))

const ofStored = (fileId: string): Effect.Effect<string, ContentUnverified, Downloads.Requirements> =>
  Effect.flatMap(Checksum.Algorithm, (algorithm) => {
    const running = algorithm.begin()
    return Stream.runForEach(Downloads.stream(fileId), (chunk) => Effect.sync(() => running.update(chunk))).pipe(
      Effect.map(() => running.value()),
      Effect.mapError(unverified(fileId))
    )
  })

/**
 * Fails with `ContentDiffers` if storage returns other bytes than were sent, and with `ContentUnverified` if they could
 * not be read back.
 *
 * @since 0.1.0
 * @category verification
 */
export const run = (
  verification: Verification
): Effect.Effect<void, ContentDiffers | ContentUnverified, Downloads.Requirements> =>
  Effect.gen(function*() {
    const algorithm = yield* Checksum.Algorithm
    const { checksum, fileId } = verification
    const sent = Option.isSome(checksum) ? checksum.value.value : yield* ofSource(verification)
    const stored = yield* ofStored(fileId)
    if (stored !== sent) return yield* new ContentDiffers({ fileId, algorithm: algorithm.name, sent, stored })
  })
