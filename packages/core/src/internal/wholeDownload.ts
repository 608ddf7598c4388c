import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DownloadError } from "../DownloadError.js"
import type { Requirements } from "../Downloads.js"
import type { Asked } from "./downloadAnswer.js"
import { begun, contentOf } from "./downloadAnswer.js"
import { drained } from "./downloadTransfer.js"

const whole: Asked = { start: 0, end: Option.none(), etag: Option.none() }

/**
 * Passes a whole file to a sink, chunk by chunk, without what ranges, sections and Streams need: a page that only reads
 * back what it uploaded does not load that.
 *
 * @internal
 */
export const drainWhole = <E, R>(
  fileId: string,
  sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.Effect<void, DownloadError | E, R | Requirements> =>
  Effect.scoped(Effect.gen(function*() {
    const content = yield* contentOf(fileId)
    const { answer, close } = yield* begun(content, whole)
    yield* drained({ content, asked: { ...whole, etag: answer.etag }, resume: true, close }, answer, sink)
  }))
