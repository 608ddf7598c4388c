import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DownloadError } from "../DownloadError.js"
import { DownloadIncomplete } from "../DownloadError.js"
import type { ObjectStorage } from "../ObjectStorage.js"
import type { ServiceApi } from "../ServiceApi.js"
import type { Asked } from "./answer.js"
import { begun, contentOf } from "./answer.js"
import { drained } from "./transfer.js"

type Requirements = ServiceApi | ObjectStorage

const whole: Asked = { start: 0, end: Option.none(), etag: Option.none() }

const drain = <E, R>(
  fileId: string,
  size: number | undefined,
  asked: Asked,
  sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.Effect<void, DownloadError | E, R | Requirements> =>
  Effect.scoped(Effect.gen(function*() {
    const content = yield* contentOf(fileId, size)
    const { answer, close } = yield* begun(content, asked)
    yield* drained({ content, asked: { ...asked, etag: answer.etag }, resume: true, close }, answer, sink)
  }))

/**
 * Passes a whole file, of this many bytes, to a sink, chunk by chunk, without what ranges, sections and Streams need: a
 * page that only reads back what it uploaded does not load that.
 *
 * @internal
 */
export const drainWhole = <E, R>(
  fileId: string,
  size: number,
  sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.Effect<void, DownloadError | E, R | Requirements> => drain(fileId, size, whole, sink)

/**
 * Reads the first byte of a file: whoever can has proof that the content is there.
 *
 * @internal
 */
export const readFirstByte = (fileId: string): Effect.Effect<void, DownloadError, Requirements> =>
  Effect.suspend(() => {
    let received = 0
    const counted = (chunk: Uint8Array) =>
      Effect.sync(() => {
        received += chunk.byteLength
      })
    return Effect.zipRight(
      drain(fileId, undefined, { ...whole, end: Option.some(1) }, counted),
      Effect.suspend(() => received > 0 ? Effect.void : new DownloadIncomplete({ fileId, expected: 1, received }))
    )
  })
