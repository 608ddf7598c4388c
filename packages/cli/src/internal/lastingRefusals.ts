import type { Service } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * The service as one command asks it: what it refused for good it is not asked again, and whoever would have asked has
 * the same error.
 *
 * @internal
 */
export interface LastingRefusals {
  readonly service: Service
  /** What holds for whatever is asked: the token is not accepted, or nobody is there. */
  readonly ofAll: Effect.Effect<Option.Option<ServiceError>>
}

// The service's own word, and on no field: a gateway may forbid one file for its name alone.
const isOfToken = (error: ServiceError): boolean =>
  error._tag === "Forbidden" && error.issues.length > 0 && error.issues.every(({ path }) => (path?.length ?? 0) === 0)

const isOfOpening = (error: ServiceError): boolean => error._tag === "NotFound" || isOfToken(error)

/** @internal */
export const make = (service: Service): LastingRefusals => {
  let reached = false
  let ofAll = Option.none<ServiceError>()

  // An address where nobody was ever found is a wrong one; a line that is down for now comes back.
  const isOfAll = (error: ServiceError): boolean =>
    error._tag === "Unauthorized" || (error._tag === "ConnectionFailed" && error.arrived === "no" && !reached)

  const told = (error: ServiceError): ServiceError => {
    if (!isOfAll(error)) {
      reached ||= error._tag !== "ConnectionFailed" && error._tag !== "TimedOut"
      return error
    }
    const first = Option.getOrElse(ofAll, () => error)
    ofAll = Option.some(first)
    return first
  }

  const answered = <A>(call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.mapBoth(call, {
      onFailure: told,
      onSuccess: (answer) => {
        reached = true
        return answer
      }
    })

  const asked = <A>(call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.suspend(() =>
      Option.match(ofAll, { onNone: () => answered(call), onSome: (refusal) => Effect.fail(refusal) })
    )

  // Bytes that nobody may complete are not sent, so what is said of Complete holds for opening too. Those that are there
  // are worth the question in any case.
  const way = <Description, Session, Finished, Record>(
    initiate: (file: Description) => Effect.Effect<Session, ServiceError>,
    complete: (session: Finished) => Effect.Effect<Record, ServiceError>
  ) => {
    let refused = Option.none<ServiceError>()
    const heard = (isLasting: (error: ServiceError) => boolean) => (error: ServiceError): ServiceError => {
      if (!isLasting(error)) return error
      const first = Option.getOrElse(refused, () => error)
      refused = Option.some(first)
      return first
    }
    return {
      initiate: (file: Description) =>
        Effect.suspend(() =>
          Option.match(refused, {
            onSome: (refusal) => Effect.fail(refusal),
            onNone: () => Effect.mapError(asked(initiate(file)), heard(isOfOpening))
          })
        ),
      complete: (session: Finished) => Effect.mapError(answered(complete(session)), heard(isOfToken))
    }
  }

  const single = way(service.initiateUpload, service.completeUpload)
  const inParts = way(service.initiateLargeUpload, service.completeLargeUpload)
  return {
    ofAll: Effect.sync(() => ofAll),
    service: {
      ...service,
      initiateUpload: single.initiate,
      completeUpload: single.complete,
      initiateLargeUpload: inParts.initiate,
      completeLargeUpload: inParts.complete,
      file: (fileId) => asked(service.file(fileId))
    }
  }
}
