import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { untilTimer } from "../base/fibers.js"
import { TimedOut } from "../ConnectionError.js"
import type { DownloadError } from "../DownloadError.js"
import { DownloadIncomplete } from "../DownloadError.js"
import { changedError } from "../errors/errorWords.js"
import type { ObjectStorage } from "../ObjectStorage.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type { ServiceApi } from "../ServiceApi.js"
import * as Timeouts from "../Timeouts.js"
import type { Answer, Content, RequestedBytes } from "./answer.js"
import { contentOf, pause, request } from "./answer.js"

const asked: RequestedBytes = { start: 0, end: Option.some(1), etag: Option.none() }

// A server without ranges sends the whole file; a range of one byte has one
const isFirst = ({ length, partial }: Answer, bytes: number): boolean =>
  bytes > 0 && !(partial && Option.exists(length, (told) => bytes > told))

const received = ({ fileId }: Content, answer: Answer): Effect.Effect<void, DownloadError> =>
  Effect.flatMap(Timeouts.Timeouts, ({ stall }) =>
    untilTimer(
      Effect.flatMap(Stream.runHead(Stream.filter(answer.bytes, ({ byteLength }) => byteLength > 0)), (chunk) => {
        const bytes = Option.match(chunk, { onNone: () => 0, onSome: ({ byteLength }) => byteLength })
        return isFirst(answer, bytes)
          ? Effect.void
          : new DownloadIncomplete({ fileId, expected: 1, received: bytes, attempts: answer.attempt })
      }),
      stall,
      Effect.suspend(() => new TimedOut({ peer: answer.peer, phase: "body", after: stall, attempts: answer.attempt }))
    ))

const attempted = (content: Content, attempt: number): Effect.Effect<void, DownloadError> =>
  request(content, asked, attempt).pipe(
    // the request itself has been retried
    Effect.flatMap((answer) =>
      Effect.either(
        Effect.mapError(received(content, answer), (error) => changedError(error, { attempts: answer.attempt }))
      )
    ),
    Effect.scoped,
    Effect.flatMap((end) =>
      end._tag === "Right" ?
        Effect.void :
        Effect.flatMap(RetryPolicy.RetryPolicy, (policy) =>
          RetryPolicy.repeats(policy, end.left)
            ? Effect.zipRight(pause(content, policy, end.left), attempted(content, end.left.attempts + 1))
            : Effect.fail(end.left))
    )
  )

/**
 * Reads the first byte of a file: whoever can has proof that the content is there. It loads nothing of what continues a
 * download that breaks off, because one byte does not.
 */
export const readFirstByte = (fileId: string): Effect.Effect<void, DownloadError, ServiceApi | ObjectStorage> =>
  Effect.flatMap(contentOf(fileId, undefined), (content) => attempted(content, 1))
