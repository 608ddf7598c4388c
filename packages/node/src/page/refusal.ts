import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type { Issue, NotFound, ServiceError } from "@stevedore/core/ServiceError"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A response that is not a success, in the service's own envelope. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: number
  readonly issues: ReadonlyArray<Issue>
  readonly retryAfter?: Duration.Duration | undefined
}> {}

/**
 * Why a user may not do something, for the page to tell: `words` are for visitors, in their language, and stand in
 * the row of the file. `code` is for the page's own script.
 */
export class Refusal extends Schema.TaggedError<Refusal>("@stevedore/node/Refusal")("Refusal", {
  kind: ErrorKind.field("input"),
  words: Schema.NonEmptyString,
  code: Schema.optional(Schema.String),
  /** From 400 to 499. Defaults to 401 of `authorize`, and to 403 of `permit`. */
  status: Schema.optional(Schema.Number)
}) {
  override get message(): string {
    return this.words
  }
}

const titles: Readonly<Record<number, readonly [code: string, title: string]>> = {
  400: ["ValidationError", "The request is not valid"],
  401: ["Unauthorized", "Sign in first"],
  403: ["Forbidden", "You are not allowed to do this"],
  404: ["NotFound", "Not found"],
  409: ["InvalidOperation", "The upload failed or was cancelled"],
  413: ["ValidationError", "The request is too large"],
  415: ["ValidationError", "The request body must be JSON"],
  422: ["ValidationError", "The file is not accepted"],
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

const isOfVisitor = (status: number): boolean => Number.isInteger(status) && status >= 400 && status < 500

/** What the page is told of a user who is not let in, or may not do this: the application's words, if it has any. */
export const ofUser = (status: 401 | 403) => (error: unknown): Refused => {
  if (!(error instanceof Refusal)) return refused(status)
  const { code, message } = error
  const told = error.status !== undefined && isOfVisitor(error.status) ? error.status : status
  const [known, title] = titles[told] ?? titles[status] ?? []
  return new Refused({ status: told, issues: [{ code: code ?? known ?? "Forbidden", title, message }] })
}

const passedOn = (status: number, issues: ReadonlyArray<Issue>): Refused =>
  issues.length === 0 ? refused(status) : new Refused({ status, issues })

const completes = ({ operation }: { readonly operation: string }): boolean =>
  operation === "completeUpload" || operation === "completeLargeUpload"

// paths that name no file exist for every page, unless this server is configured wrongly: no visitor's fault
const isAboutAFile = (error: NotFound): boolean => completes(error) || error.operation === "file"

/** What the service says of the file, its name or its parts, or of a list's filters. */
const concernsTheVisitor: ReadonlySet<number> = new Set([400, 410, 413, 415, 416, 422])

/** So long does a page wait at most because of one response: a service that errs would stop every user for longer. */
const longestWait = Duration.minutes(1)

const waiting = (refusal: Refused, { retryAfter }: { readonly retryAfter?: Duration.Duration | undefined }): Refused =>
  new Refused({ ...refusal, retryAfter: retryAfter && Duration.min(retryAfter, longestWait) })

/**
 * What the page is told about a failure of the service. What concerns the visitor's file is passed on, with the service's
 * words. What is between this server and the service (above all, the token, and the names in an operator's error) goes
 * only to the log.
 */
export const fromService = (error: ServiceError): Effect.Effect<never, Refused> => {
  switch (error._tag) {
    case "NotFound":
      return isAboutAFile(error)
        ? Effect.fail(passedOn(404, error.issues))
        : logged(error, refused(502))
    case "UploadConflict":
      return Effect.fail(passedOn(409, error.issues))
    case "RequestRejected":
      return concernsTheVisitor.has(error.status)
        ? Effect.fail(passedOn(error.status, error.issues))
        : logged(error, refused(503))
    case "RateLimited":
      return Effect.fail(waiting(refused(429), error))
    case "ServiceUnavailable":
      // A 502 with issues from Complete says that storage refused the parts, and one without, that a gateway failed: the
      // page must be able to distinguish them
      return error.status === 502 && completes(error)
        ? Effect.fail(waiting(new Refused({ status: 502, issues: error.issues }), error))
        : logged(error, waiting(refused(503), error))
    case "ConnectionFailed":
    case "TimedOut":
      return logged(error, refused(503))
    case "Unauthorized":
    case "Forbidden":
    case "InvalidResponse":
      return logged(error, refused(502))
  }
}

/** What the page is told if the application failed. The failure goes to the log. */
export const ofApplication = (error: unknown): Effect.Effect<never, Refused> =>
  Effect.zipRight(
    Effect.logError("The opened hook of StevedoreHttpApp failed", Cause.fail(error)),
    Effect.fail(refused(500))
  )

/** The same if a hook that is told how an upload ended has failed, or the outbox that remembers it. */
export const ofHook = (cause: Cause.Cause<unknown>): Effect.Effect<never, Refused> =>
  Effect.zipRight(
    Effect.logError("A hook of StevedoreHttpApp, or its outbox, failed: it is called again", cause),
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
