import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DownloadError } from "../DownloadError.js"
import type { ObjectStorage } from "../ObjectStorage.js"
import type { ServiceApi } from "../ServiceApi.js"
import type { RequestedBytes } from "./answer.js"
import { begun, contentOf } from "./answer.js"
import { drained } from "./transfer.js"

type Requirements = ServiceApi | ObjectStorage

const whole: RequestedBytes = { start: 0, end: Option.none(), etag: Option.none() }

/**
 * Passes a whole file, of this many bytes, to a sink, chunk by chunk, without what ranges, sections and Streams need.
 */
export const drainWhole = <E, R>(
  fileId: string,
  size: number,
  sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.Effect<void, DownloadError | E, R | Requirements> =>
  Effect.scoped(Effect.gen(function*() {
    const content = yield* contentOf(fileId, size)
    const { answer, close } = yield* begun(content, whole)
    yield* drained({ content, asked: { ...whole, etag: answer.etag }, resume: true, close }, answer, sink)
  }))
