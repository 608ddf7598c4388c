import type { Service } from "@stevedore/core/ServiceApi"
import type { Issue, ServiceError } from "@stevedore/core/ServiceError"
import * as LastingFailure from "@stevedore/node/LastingFailure"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * The service, as one command calls it: after a permanent refusal it is not called for the same thing again, and later
 * callers get the same error.
 */
export interface LastingRefusals<E> {
  readonly service: Service
  /** What applies to every file: the token is rejected, nobody is there, or an end of another file says so. */
  readonly ofAll: Effect.Effect<Option.Option<ServiceError | E>>
  /** Hears why a file failed, with the directory that it is in; or that one did not. */
  readonly heard: (error: Option.Option<E>, directory?: string) => Effect.Effect<void>
}

interface OfFile {
  readonly fileId: string
}

// Only the service's own answer, and not about a field: a gateway may forbid a single file just for its name.
const isOfToken = (error: ServiceError): boolean =>
  error._tag === "Forbidden" && error.issues.length > 0 && error.issues.every(({ path }) => (path?.length ?? 0) === 0)

const placeOf = ({ path }: Issue): string => typeof path === "string" ? path : path?.join(".") ?? ""

// Also of a service that has no such call, and of a project that this token may not change
const isOfProject = (error: ServiceError): boolean => {
  if (error._tag === "RequestRejected") return error.issues.length > 0 && error.issues.every(isAboutProject)
  return (error._tag === "NotFound" || (error._tag === "Forbidden" && error.issues.length > 0)) &&
    error.issues.every((issue) => placeOf(issue) === "" || isAboutProject(issue))
}

const isAboutProject = (issue: Issue): boolean => /project/i.test(placeOf(issue))

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

export const make = <E extends LastingFailure.AnyError>(
  service: Service,
  /** What files in a directory fail with that is gone. */
  gone?: (directory: string) => E
): LastingRefusals<E> => {
  let reached = false
  let unauthorized: ServiceError | undefined
  let nobodyThere: ServiceError | undefined

  // An address where nothing was ever found is wrong; a network that is down for now comes back.
  const ofCalls = () => Option.fromNullable(unauthorized ?? (reached ? undefined : nobodyThere))

  let ofFile: E | undefined
  let outages = 0
  const heard: LastingRefusals<E>["heard"] = (failure, directory) =>
    Option.match(failure, {
      onNone: () =>
        Effect.sync(() => {
          outages = 0
        }),
      onSome: (error) =>
        Effect.map(LastingFailure.ofFileIn(error, directory), (reason) => {
          if (LastingFailure.isOutage(error)) outages += 1
          if (Option.isNone(reason) && outages < LastingFailure.outages) return
          const isGone = Option.contains(reason, "directory") && directory !== undefined && gone !== undefined
          ofFile ??= isGone ? gone(directory) : error
        })
    })

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

  const asked = <A>(call: Effect.Effect<A, ServiceError>) => unlessRefused(ofCalls, answered(call))

  // Bytes that may not be completed are not sent, so a refusal of Complete also applies to opening, unless it is about a
  // session that an earlier command opened, perhaps with another token. For bytes that are already there, Complete is
  // worth asking in any case.
  const importing = onceRefused(isOfProject)

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
          () => Option.firstSomeOf([opening.refusal(), completing.refusal(), importing.refusal()]),
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
    ofAll: Effect.sync(() => Option.orElse(ofCalls(), () => Option.fromNullable(ofFile))),
    heard,
    service: {
      ...service,
      initiateUpload: single.initiate,
      completeUpload: single.complete,
      initiateLargeUpload: inParts.initiate,
      completeLargeUpload: inParts.complete,
      importFile: (file) => unlessRefused(importing.refusal, importing.heard(asked(service.importFile(file)))),
      file: (fileId) => asked(service.file(fileId))
    }
  }
}
