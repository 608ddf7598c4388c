import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Recoverable } from "../Recovery.js"
import * as RetryPolicy from "../RetryPolicy.js"
import { ServiceApi } from "../ServiceApi.js"
import type { ServiceError } from "../ServiceError.js"
import * as TransferGate from "../TransferGate.js"
import type { CheckedOptions } from "../UploadOptions.js"
import * as UploadPlan from "../UploadPlan.js"
import type { UploadSession } from "../UploadSession.js"
import type { UploadSource } from "../UploadSource.js"
import { wasNotCarriedOut } from "./serviceCall.js"
import { tellRepeat } from "./tellRepeat.js"

interface PlannedUpload {
  readonly source: UploadSource
  readonly options: Pick<CheckedOptions, "plan" | "maxSessions">
}

// If the network was measured, it determines the parts. Otherwise there are enough for a network with high latency, and
// for a large file the service chooses. What is held in memory is no larger than the service wants it.
const partsOf = (
  { source }: PlannedUpload,
  asked: Option.Option<number>
): Effect.Effect<Option.Option<number>, never, ServiceApi | TransferGate.TransferGate> =>
  Option.isSome(asked) || source.held ? Effect.succeed(asked) : Effect.gen(function*() {
    const { limits, urlLifetimeSeconds } = (yield* ServiceApi).profile
    const { throughput, width } = yield* (yield* TransferGate.TransferGate).state
    return Option.map(
      throughput,
      (throughput) => UploadPlan.partsFor(source.size, limits, { throughput, width, urlLifetimeSeconds })
    ).pipe(Option.orElse(() => UploadPlan.partsUnmeasured(source.size, limits)))
  })

const openOnce = (
  upload: PlannedUpload
): Effect.Effect<UploadSession, ServiceError, ServiceApi | TransferGate.TransferGate> =>
  Effect.gen(function*() {
    const service = yield* ServiceApi
    const { options: { plan }, source: { mediaType, name, size } } = upload
    return plan._tag === "SinglePlan"
      ? yield* service.initiateUpload({ name, mediaType, size })
      : yield* service.initiateLargeUpload({ name, mediaType, size, parts: yield* partsOf(upload, plan.parts) })
  })

/**
 * Opens a session for a planned upload. After a 5xx it is tried again like any other call. If the response is lost, or is
 * a page of something in between, nobody uses that session and the service cleans it up, so another one may be opened, but
 * it counts as one of `maxSessions`.
 *
 * @internal
 */
export const openSession = (
  upload: PlannedUpload
): Effect.Effect<UploadSession, ServiceError, ServiceApi | TransferGate.TransferGate> =>
  Effect.suspend(() => {
    let lost = 0
    let made = 0
    const asAttempt = (error: ServiceError, attempts: number) => {
      const { recovery, retryAfter }: Recoverable = error
      made += error.attempts
      if (error._tag !== "ServiceUnavailable") lost += 1
      // what was not carried out was repeated by the call itself, which has used up its attempts by then
      const isFinal = wasNotCarriedOut(error) || lost === upload.options.maxSessions
      return {
        error,
        // each call counts its own attempts only, and the waits between sessions are to grow like any others
        attempts,
        recovery: isFinal ? "none" : recovery,
        retryAfter
      } as const
    }
    return RetryPolicy.retry(
      (attempts) => Effect.mapError(openOnce(upload), (error) => asAttempt(error, attempts)),
      {
        onRetry: ({ attempts, error }, wait) =>
          tellRepeat(`to open a session for ${upload.source.name}`, error, wait, attempts)
      }
    ).pipe(Effect.mapError(({ error }): ServiceError =>
      // a copy, because a fake service may fail with one and the same error each time
      made === error.attempts ? error : Reflect.construct(error.constructor, [{ ...error, attempts: made }])
    ))
  })

/** @internal */
export type Opening = Effect.Effect<UploadSession, ServiceError, ServiceApi | TransferGate.TransferGate>

/**
 * The same, as one session: it is opened when it is first needed.
 *
 * @internal
 */
export const openingOf = (upload: PlannedUpload): Opening => {
  let session: UploadSession | undefined
  return Effect.suspend(() =>
    session ? Effect.succeed(session) : Effect.map(openSession(upload), (opened) => session = opened)
  )
}
