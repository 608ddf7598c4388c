/**
 * What a response of the service means: one table from status to typed error, and decoding that names the place in the
 * response but never repeats a value from it.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeKeeping, decodeProblem } from "../base/effect.js"
import * as Time from "../base/time.js"
import { isForNow } from "../errors/errorWords.js"
import * as Json from "../Json.js"
import type { PresignedUrl } from "../PresignedUrl.js"
import { isAllowed } from "../ServiceConfig.js"
import type { ServiceError } from "../ServiceError.js"
import {
  Forbidden,
  InvalidResponse,
  Issue,
  NotFound,
  notJson,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  Unauthorized,
  UploadConflict
} from "../ServiceError.js"
import { excerptOf } from "../storage/answer.js"
import { codingIn } from "../storage/contentCoding.js"
import * as RangedContent from "../storage/range.js"
import { withoutSecrets } from "../storage/withoutSecrets.js"

/** A response, read in full. */
export interface ServiceAnswer {
  readonly operation: string
  readonly status: number
  /** The path of its request, if it is known. */
  readonly path?: string | undefined
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** When its request was sent, in milliseconds of our clock. */
  readonly sentAt: number
  /** When it arrived, in milliseconds of our clock. */
  readonly receivedAt: number
  /** Which attempt it was, from 1. */
  readonly attempts: number
  /** Whether files may be sent over an `http:` URL in the response. Defaults to false. */
  readonly allowInsecureHttp?: boolean | undefined
  /** The token of its request, which no error repeats. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** The URLs that the service has issued lately, whose queries no error repeats. */
  readonly issued?: ReadonlyArray<PresignedUrl> | undefined
}

/** The issues of a response that an error keeps. */
const mostIssues = 100

/** The characters of all issues after which no further issue is kept. */
const longestIssues = 32_768

/** The segments of a path that an issue keeps. */
const longestPath = 20

const decodeIssue = Schema.decodeUnknownOption(Issue)

// An issue is shown in logs, in spans, and by an app to its pages
const cleaned = (answer: ServiceAnswer, { code, message, path, title }: Issue): Issue => {
  const clean = <A>(value: A | string, longest?: number) =>
    typeof value === "string" ? withoutSecrets(value, answer, longest) : value
  const place = Predicate.isString(path) ? [path] : path ?? []
  const places = place.slice(0, longestPath).map((segment) => clean(segment, 200))
  return {
    code: withoutSecrets(code, answer, 200),
    ...(title === undefined ? {} : { title: clean(title, 200) }),
    ...(message === undefined ? {} : { message: clean(message) }),
    ...(path === undefined ? {} : { path: Predicate.isString(path) ? String(places[0]) : path && places })
  }
}

// Each on its own: a malformed issue hides none of the others
const readIssues = (answer: ServiceAnswer): ReadonlyArray<Issue> => {
  const body = Either.getOrUndefined(Json.parse(answer.body))
  if (!Predicate.hasProperty(body, "errors") || !Array.isArray(body.errors)) return []
  let length = 0
  return Arr.filterMap(body.errors.slice(0, mostIssues), (error: unknown) => {
    if (length >= longestIssues) return Option.none()
    const issue = Option.map(decodeIssue(error), (decoded) => cleaned(answer, decoded))
    length += Option.match(issue, { onNone: () => 0, onSome: (kept) => JSON.stringify(kept).length })
    return issue
  })
}

const reported = (answer: ServiceAnswer, issues: ReadonlyArray<Issue>) => {
  const { attempts, headers, operation, status } = answer
  const requestId = headers["x-request-id"] ?? headers["x-amzn-requestid"]
  return {
    operation,
    status,
    requestId: requestId && withoutSecrets(requestId, answer, 200),
    excerpt: status < 400 || issues.length > 0 ? undefined : excerptOf(answer.body, answer),
    attempts,
    issues
  }
}

const waiting = (answer: ServiceAnswer, issues: ReadonlyArray<Issue>) => ({
  ...reported(answer, issues),
  retryAfter: Time.retryAfterIn(answer.headers, answer.receivedAt)
})

/** The typed error for a status that is not a success. */
export const errorOf = (answer: ServiceAnswer): ServiceError => {
  const issues = answer.status < 400 ? [] : readIssues(answer)
  const fields = reported(answer, issues)
  switch (answer.status) {
    case 401:
      return new Unauthorized(fields)
    case 403:
      return new Forbidden(fields)
    case 404:
      return new NotFound({
        ...fields,
        ...(answer.path === undefined ? {} : { path: withoutSecrets(answer.path, answer, 200) })
      })
    case 409:
      return new UploadConflict(fields)
    case 429:
      return new RateLimited(waiting(answer, issues))
    default:
      return isForNow(answer.status)
        ? new ServiceUnavailable(waiting(answer, issues))
        : new RequestRejected({ ...fields, totalLength: RangedContent.lengthOutside(answer) })
  }
}

/**
 * The error for a response of the wrong shape, with the place of the first problem. `advice` is the profile's entry to
 * change, and the names of the fields that came instead.
 */
export const invalid = (
  answer: ServiceAnswer,
  path: string,
  problem: string,
  advice: { readonly profile?: string | undefined; readonly received?: ReadonlyArray<string> | undefined } = {}
): InvalidResponse =>
  new InvalidResponse({
    ...reported(answer, []),
    path,
    problem,
    profile: advice.profile,
    received: advice.received?.map((name) => withoutSecrets(name, answer, 100))
  })

/** A pre-signed URL from a response, refused if the file would be sent in clear text. */
export const encrypted =
  (answer: ServiceAnswer, path: string) => (url: PresignedUrl): Either.Either<PresignedUrl, ServiceError> =>
    isAllowed(url, answer.allowInsecureHttp)
      ? Either.right(url)
      : Either.left(
        invalid(
          answer,
          path,
          "expected https: http sends the file in clear text; allowInsecureHttp allows it"
        )
      )

/** Decodes the JSON body of a success. Fields that the Schema does not name are kept. */
export const decode = <A, I>(answer: ServiceAnswer, schema: Schema.Schema<A, I>): Either.Either<A, ServiceError> =>
  Either.flatMap(
    parse(answer),
    (json) =>
      Either.mapLeft(
        decodeKeeping(schema)(json),
        (error) =>
          Option.getOrElse(errorInside(answer), () => {
            const { path, problem } = decodeProblem(error)
            return invalid(answer, path, problem)
          })
      )
  )

/** The JSON of a success, with numbers as in `Json.parse`. What is not JSON is an error. */
export const parse = (answer: ServiceAnswer): Either.Either<unknown, ServiceError> =>
  answer.status < 200 || answer.status >= 300
    ? Either.left(errorOf(answer))
    : Either.mapLeft(
      Json.parse(answer.body),
      (problem) =>
        invalid(
          answer,
          "",
          problem === "depth"
            ? "nested too deeply"
            : answer.body.trim() === ""
            ? "nothing"
            : codingIn(answer.headers) ?? notJson
        )
    )

/**
 * The error that a success reports in its body, if it does: a server that sent its status before the work was done can
 * report a failure only there. It counts as a 5xx.
 */
export const errorInside = (answer: ServiceAnswer): Option.Option<ServiceError> => {
  const issues = readIssues(answer)
  return issues.length > 0 ? Option.some(new ServiceUnavailable(waiting(answer, issues))) : Option.none()
}

/**
 * The server's clock minus ours, in milliseconds, from the response's `Date`; 0 if it has none. The header has whole
 * seconds, so half a second is added. When exactly the server dated the response is unknown, so the earliest moment is
 * assumed: after a slow response, deadlines seem to come sooner than they do, but never later.
 */
export const clockOffset = (answer: ServiceAnswer): number => {
  const date = Time.httpDate(answer.headers["date"])
  return date === undefined ? 0 : date + 500 - answer.sentAt
}
