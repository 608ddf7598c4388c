/**
 * An object storage over a transport: what every attempt has in common stands here once. A URL that has ended is refused
 * before anything is sent, bytes are counted, an answer is interpreted, and the attempt is traced.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { GetAnswer, GetRequest, PutRequest, Service } from "../ObjectStorage.js"
import { refuseExpired } from "../ObjectStorage.js"
import type { SourceError } from "../SourceError.js"
import type { StorageError } from "../StorageError.js"
import { StorageUnavailable } from "../StorageError.js"
import type { SourceSection } from "../UploadSource.js"
import type { StorageAnswer } from "./answer.js"
import type { followed, Redirected } from "./attempt.js"
import { otherLength, refusal, spelling, tracedGet, tracedPut } from "./attempt.js"
import * as RangedContent from "./range.js"
import { interpretPut } from "./response.js"

/** The answer to a PUT, and what only the transport knows of it. */
export interface PutAnswered extends StorageAnswer {
  /** How many bytes were handed to the network. Defaults to what `onSent` was told. */
  readonly sent?: number | undefined
  /** Whether the request may have been sent twice, as a browser does without saying so. Defaults to false. */
  readonly perhapsRepeated?: boolean | undefined
}

/** The answer to a GET: its head, and its bytes for whoever wants them. */
export interface GetAnswered extends Pick<StorageAnswer, "status" | "headers">, Pick<GetAnswer, "bytes" | "pull"> {
  /** The start of the body as text, in place of its bytes: what could be read of it. */
  readonly document: Effect.Effect<string>
}

/**
 * What differs between the ways to reach an object storage: how a request is sent, once, and how its answer is read.
 */
export interface StorageTransport {
  readonly put: (request: PutRequest) => Effect.Effect<PutAnswered, StorageError | SourceError, Scope.Scope>
  /** The request ends with the scope. The headers are those of the range. */
  readonly get: (
    request: GetRequest,
    headers: Readonly<Record<string, string>>
  ) => Effect.Effect<GetAnswered, StorageError, Scope.Scope>
  /** Whether it leaves URLs and bytes as they are: fetch parses a URL, and undoes the content coding of an answer. */
  readonly isExact: boolean
  /** Whether it asks the `pace` of a request before each write. Defaults to false: then bodies ask it themselves. */
  readonly isPaced?: boolean | undefined
  /** What becomes of the redirect of a GET: `followed`, or `refused` if it follows redirects by itself. */
  readonly redirects: typeof followed
  /** Runs after each attempt that failed, also by its answer. Defaults to nothing. */
  readonly onFailure?:
    | ((error: StorageError | SourceError, request: Pick<GetRequest, "url">) => Effect.Effect<void>)
    | undefined
}

// What reports a success before all bytes were sent does not store what it receives
const earlySuccess = ({ attempt, url }: PutRequest, status: number, sentBytes: number): StorageUnavailable =>
  new StorageUnavailable({ part: Option.getOrUndefined(url.partNumber), status, sentBytes, attempts: attempt })

const asking = ({ pace, section }: PutRequest): SourceSection =>
  pace === undefined ? section : {
    range: section.range,
    body: (observe) => Effect.flatMap(section.body(observe), pace.body)
  }

/** The object storage over a transport. */
export const storageOver = (
  { get, isExact, isPaced = false, onFailure, put, redirects }: StorageTransport
): Service => {
  const told = (request: Pick<GetRequest, "url">) => (error: StorageError | SourceError | Redirected) =>
    onFailure === undefined || error._tag === "Redirected" ? Effect.void : onFailure(error, request)

  const getOnce = (request: GetRequest) =>
    Effect.gen(function*() {
      if (!isExact) yield* spelling(request)
      const { bytes, document, pull, ...head } = yield* get(request, RangedContent.headers(request))
      const held = RangedContent.held(head, request, { asSent: isExact })
      if (Option.isSome(held)) return { ...held.value, bytes, pull }
      // content other than the requested may be as large as the file
      const body = head.status < 300 ? "" : yield* document
      return yield* Effect.fail(refusal(request, { ...head, body }, yield* Clock.currentTimeMillis))
    }).pipe(Effect.tapError(told(request)))

  return {
    put: (request) =>
      Effect.gen(function*() {
        yield* refuseExpired(request, yield* Clock.currentTimeMillis)
        const respelled = isExact ? undefined : (yield* spelling(request)).respelled
        let counted = 0
        const onSent = (bytes: number) => {
          counted += bytes
          request.onSent(bytes)
        }
        const section = isPaced ? request.section : asking(request)
        const { perhapsRepeated, sent = counted, ...answer } = yield* put({ ...request, section, onSent })
        const receipt = yield* interpretPut(answer, {
          url: request.url,
          sentHeaders: [...Object.keys(request.headers), "content-length"],
          serverNow: (yield* Clock.currentTimeMillis) + request.clockOffset,
          attempts: request.attempt,
          respelled
        })
        const { length } = request.section.range
        if (sent > length) return yield* otherLength(request, sent)
        if (sent < length) return yield* earlySuccess(request, answer.status, sent)
        return perhapsRepeated === undefined ? receipt : { ...receipt, perhapsRepeated }
      }).pipe(Effect.scoped, Effect.tapError(told(request)), tracedPut(request)),
    get: (request) => tracedGet(request)(redirects(getOnce)(request))
  }
}
