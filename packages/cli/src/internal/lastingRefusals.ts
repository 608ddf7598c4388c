import type { Service } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * The service, as one command calls it: after a permanent refusal it is not called for the same thing again, and later
 * callers get the same error.
 *
 * @internal
 */
export interface LastingRefusals {
  readonly service: Service
  /** What applies to every call: the token is rejected, or nobody is there. */
  readonly ofAll: Effect.Effect<Option.Option<ServiceError>>
}

// Only the service's own answer, and not about a field: a gateway may forbid a single file just for its name.
const isOfToken = (error: ServiceError): boolean =>
  error._tag === "Forbidden" && error.issues.length > 0 && error.issues.every(({ path }) => (path?.length ?? 0) === 0)

const isOfOpening = (error: ServiceError): boolean => error._tag === "NotFound" || isOfToken(error)

/** @internal */
export const make = (service: Service): LastingRefusals => {
  let reached = false
  let ofAll = Option.none<ServiceError>()

  // An address where nothing was ever found is wrong; a network that is down for now comes back.
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

  // Bytes that may not be completed are not sent, so a refusal of Complete also applies to opening. For bytes that are
  // already there, Complete is worth asking in any case.
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
