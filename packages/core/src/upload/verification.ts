/** Reads an uploaded file back and compares it with what was sent. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Checksum from "../Checksum.js"
import { drainWhole } from "../download/whole.js"
import type { ObjectStorage } from "../ObjectStorage.js"
import type { ServiceApi } from "../ServiceApi.js"
import { ContentDiffers, ContentUnverified } from "../UploadError.js"
import type { UploadSource } from "../UploadSource.js"

type Requirements = ServiceApi | ObjectStorage

/** An uploaded file. */
export interface Verification {
  readonly fileId: string
  readonly source: UploadSource
  /** The checksum of what was sent, if the algorithm combines those of the parts. */
  readonly checksum: Option.Option<Checksum.Checksum>
}

const unverified = (fileId: string) => (error: { readonly _tag: string; readonly attempts: number }) =>
  new ContentUnverified({ fileId, because: error._tag, attempts: error.attempts })

const checksumOf = <E extends { readonly _tag: string; readonly attempts: number }, R>(
  fileId: string,
  read: (observe: (chunk: Uint8Array) => void) => Effect.Effect<void, E, R>
): Effect.Effect<string, ContentUnverified, R> =>
  Effect.flatMap(Checksum.Algorithm, (algorithm) => {
    const running = algorithm.begin()
    return Effect.mapBoth(read(running.update), { onSuccess: running.value, onFailure: unverified(fileId) })
  })

const ofSource = ({ fileId, source }: Verification): Effect.Effect<string, ContentUnverified> =>
  checksumOf(fileId, (observe) =>
    Effect.scoped(
      Effect.flatMap(source.open, (opened) => opened.readThrough({ offset: 0, length: source.size }, observe))
    ))

const ofStored = ({ fileId, source }: Verification): Effect.Effect<string, ContentUnverified, Requirements> =>
  checksumOf(fileId, (observe) => drainWhole(fileId, source.size, (chunk) => Effect.sync(() => observe(chunk))))

/**
 * Fails with `ContentDiffers` if storage returns other bytes than were sent, and with `ContentUnverified` if they could
 * not be read back.
 */
export const run = (
  verification: Verification
): Effect.Effect<void, ContentDiffers | ContentUnverified, Requirements> =>
  Effect.gen(function*() {
    const algorithm = yield* Checksum.Algorithm
    const { checksum, fileId } = verification
    const sent = Option.isSome(checksum) ? checksum.value.value : yield* ofSource(verification)
    const stored = yield* ofStored(verification)
    if (stored !== sent) return yield* new ContentDiffers({ fileId, algorithm: algorithm.name, sent, stored })
  })
