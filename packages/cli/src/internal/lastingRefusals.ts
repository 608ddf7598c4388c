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

interface OfFile {
  readonly fileId: string
}

// Only the service's own answer, and not about a field: a gateway may forbid a single file just for its name.
const isOfToken = (error: ServiceError): boolean =>
  error._tag === "Forbidden" && error.issues.length > 0 && error.issues.every(({ path }) => (path?.length ?? 0) === 0)

const isOfOpening = (error: ServiceError): boolean => error._tag === "NotFound" || isOfToken(error)

/** A call whose refusal applies to the next one too, as long as the same call was never granted. */
const onceRefused = (isLasting: (error: ServiceError) => boolean) => {
  let refusal: ServiceError | undefined
  let isGranted = false
  return {
    refusal: () => Option.fromNullable(isGranted ? undefined : refusal),
    heard: <A>(call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
      Effect.mapBoth(call, {
        onFailure: (error) => isGranted || !isLasting(error) ? error : refusal ??= error,
        onSuccess: (answer) => {
          isGranted = true
          return answer
        }
      })
  }
}

/** @internal */
export const make = (service: Service): LastingRefusals => {
  let reached = false
  let unauthorized: ServiceError | undefined
  let nobodyThere: ServiceError | undefined

  // An address where nothing was ever found is wrong; a network that is down for now comes back.
  const ofAll = () => Option.fromNullable(unauthorized ?? (reached ? undefined : nobodyThere))

  const told = (error: ServiceError): ServiceError => {
    reached ||= error._tag !== "ConnectionFailed" && error._tag !== "TimedOut"
    if (error._tag === "Unauthorized") return unauthorized ??= error
    return reached || error._tag !== "ConnectionFailed" || error.arrived !== "no" ? error : nobodyThere ??= error
  }

  const answered = <A>(call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.mapBoth(call, {
      onFailure: told,
      onSuccess: (answer) => {
        reached = true
        return answer
      }
    })

  const unlessRefused = <A>(
    refusal: () => Option.Option<ServiceError>,
    call: Effect.Effect<A, ServiceError>
  ): Effect.Effect<A, ServiceError> =>
    Effect.suspend(() => Option.match(refusal(), { onNone: () => call, onSome: (refusal) => Effect.fail(refusal) }))

  const asked = <A>(call: Effect.Effect<A, ServiceError>) => unlessRefused(ofAll, answered(call))

  // Bytes that may not be completed are not sent, so a refusal of Complete also applies to opening, unless it is about a
  // session that an earlier command opened, perhaps with another token. For bytes that are already there, Complete is
  // worth asking in any case.
  const way = <Description, Session extends OfFile, Finished extends OfFile, Record>(
    initiate: (file: Description) => Effect.Effect<Session, ServiceError>,
    complete: (session: Finished) => Effect.Effect<Record, ServiceError>
  ) => {
    const opened = new Set<string>()
    const opening = onceRefused(isOfOpening)
    const completing = onceRefused(isOfToken)
    return {
      initiate: (file: Description) =>
        unlessRefused(
          () => Option.orElse(opening.refusal(), completing.refusal),
          Effect.map(opening.heard(asked(initiate(file))), (session) => {
            opened.add(session.fileId)
            return session
          })
        ),
      complete: (session: Finished) =>
        Effect.suspend(() => {
          const call = answered(complete(session))
          return opened.has(session.fileId) ? completing.heard(call) : call
        })
    }
  }

  const single = way(service.initiateUpload, service.completeUpload)
  const inParts = way(service.initiateLargeUpload, service.completeLargeUpload)
  return {
    ofAll: Effect.sync(ofAll),
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
