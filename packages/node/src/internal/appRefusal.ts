import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Issue, NotFound, ServiceError } from "@stevedore/core/ServiceError"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A response that is not a success, in the service's own envelope. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: number
  readonly issues: ReadonlyArray<Issue>
  readonly retryAfter?: Duration.Duration | undefined
}> {}

const titles: Readonly<Record<number, readonly [code: string, title: string]>> = {
  400: ["ValidationError", "The request is not valid"],
  401: ["Unauthorized", "Sign in first"],
  403: ["Forbidden", "You are not allowed to do this"],
  404: ["NotFound", "Not found"],
  409: ["InvalidOperation", "The upload failed or was cancelled"],
  413: ["ValidationError", "The request is too large"],
  415: ["ValidationError", "The request body must be JSON"],
  429: ["TooManyRequests", "Too many requests"],
  500: ["InternalError", "Something went wrong"],
  502: ["BadGateway", "The file service failed"],
  503: ["ServiceUnavailable", "The file service cannot be reached"]
}

export const refused = (status: number, changes: Partial<Issue> = {}): Refused => {
  const [code, title] = titles[status] ?? ["InternalError", "Something went wrong"]
  return new Refused({ status, issues: [{ code, title, ...changes }] })
}

/** Without the second, a page of another origin, whom CORS must allow, can read neither of these headers. */
export const headersOfAll = { "cache-control": "no-store", "access-control-expose-headers": "date, retry-after" }

export const answer = ({ issues, retryAfter, status }: Refused): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ errors: issues }, {
    status,
    headers: {
      ...headersOfAll,
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(Duration.toSeconds(retryAfter))) })
    }
  })

const passedOn = (
  status: number,
  issues: ReadonlyArray<Issue>,
  retryAfter?: Duration.Duration
): Refused => {
  const [first, ...others] = issues
  return first === undefined
    ? new Refused({ ...refused(status), retryAfter })
    : new Refused({ status, issues: [first, ...others], retryAfter })
}

// paths that name no file exist for every page, unless this server is configured wrongly
const isAboutAFile = ({ operation }: NotFound): boolean =>
  operation === "completeUpload" || operation === "completeLargeUpload" || operation === "file"

/**
 * What the page is told about a failure of the service. Errors that the page caused are passed on. Errors between this
 * server and the service (above all, of its token) concern only the server and go only to its log.
 */
export const fromService = (error: ServiceError): Effect.Effect<never, Refused> => {
  switch (error._tag) {
    case "NotFound": {
      const answered = Effect.fail(passedOn(404, error.issues))
      return isAboutAFile(error) ? answered : Effect.zipRight(Effect.logWarning(error.message), answered)
    }
    case "UploadConflict":
      return Effect.fail(passedOn(409, error.issues))
    case "RequestRejected":
      return error.status >= 400 && error.status < 500
        ? Effect.fail(passedOn(error.status, error.issues))
        : logged(error, refused(503))
    case "RateLimited":
      return Effect.fail(passedOn(429, error.issues, error.retryAfter))
    case "ServiceUnavailable":
      // a 502 with issues from Complete says that storage refused the parts, and one without, that a gateway failed: the
      // page must be able to distinguish them
      return Effect.fail(
        error.status === 502
          ? new Refused({ status: 502, issues: error.issues, retryAfter: error.retryAfter })
          : passedOn(503, error.issues, error.retryAfter)
      )
    case "ConnectionFailed":
    case "TimedOut":
      return logged(error, refused(503))
    case "Unauthorized":
    case "Forbidden":
    case "InvalidResponse":
      return logged(error, refused(500))
  }
}

/** What the page is told if the application failed. The failure goes to the log. */
export const ofApplication = (error: unknown): Effect.Effect<never, Refused> =>
  Effect.zipRight(
    Effect.logError("The opened hook of StevedoreHttpApp failed", Cause.fail(error)),
    Effect.fail(refused(500))
  )

/** What the page is told if something in front of the app has already read its request. */
export const bodyIsGone: Effect.Effect<never, Refused> = Effect.zipRight(
  Effect.logError(
    "A request body was read before it reached StevedoreHttpApp: mount it before any body parser, such as express.json()"
  ),
  Effect.fail(refused(500))
)

const logged = (error: ServiceError, refusal: Refused): Effect.Effect<never, Refused> =>
  Effect.zipRight(Effect.logError(error.message), Effect.fail(refusal))
