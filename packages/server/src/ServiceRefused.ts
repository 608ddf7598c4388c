/** How the service refuses: one table of codes, and the envelope that carries them. */
import * as Schema from "effect/Schema"
import * as DiskFailure from "./storage/disk.js"

/**
 * The codes of the service's errors, with their titles (service contract: errors).
 *
 * @category constants
 */
export const titles = {
  ValidationError: "The request is not valid",
  InvalidOperation: "The operation is not possible in this state",
  Unauthorized: "The token is missing or unknown",
  Forbidden: "The token does not allow this",
  NotFound: "Not found",
  RequestTimeout: "The request took too long",
  Conflict: "The upload has failed or was cancelled",
  ContentTooLarge: "The request is too large",
  UnprocessableContent: "The request cannot be carried out",
  TooManyRequests: "Too many requests",
  InternalError: "Something went wrong",
  BadGateway: "The storage refused the finalization",
  InsufficientStorage: "There is no room left"
} as const satisfies Record<string, string>

/**
 * A code of {@link titles}.
 *
 * @category models
 */
export type ServiceCode = keyof typeof titles

const isKnown = (code: string): code is ServiceCode => Object.hasOwn(titles, code)

/**
 * One error of the envelope. `path` names the place in the request: fields joined by dots.
 *
 * @category models
 */
export const Issue = Schema.Struct({
  code: Schema.String,
  title: Schema.String,
  message: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String)
})

/**
 * A refusal of the service. `retryAfter` is sent as the header of that name, `reason` is for the log alone.
 *
 * @category errors
 */
export class ServiceRefused extends Schema.TaggedError<ServiceRefused>("@stevedore/server/ServiceRefused")(
  "ServiceRefused",
  {
    status: Schema.Int,
    errors: Schema.NonEmptyArray(Issue),
    retryAfter: Schema.optional(Schema.String),
    /** What the log says of it, and no client is told. */
    reason: Schema.optional(Schema.String)
  }
) {
  override get message(): string {
    const [first] = this.errors
    return `The service answered ${this.status} ${first.code}: ${first.message ?? first.title}`
  }
}

/**
 * A refusal with one error, whose title comes from the table.
 *
 * @category constructors
 */
export const make = (
  status: number,
  code: ServiceCode,
  options?: {
    readonly message?: string | undefined
    readonly path?: string | undefined
    readonly retryAfter?: string | undefined
    readonly reason?: string | undefined
  }
): ServiceRefused =>
  new ServiceRefused({
    status,
    errors: [{
      code,
      title: titles[code],
      ...(options?.message === undefined ? {} : { message: options.message }),
      ...(options?.path === undefined ? {} : { path: options.path })
    }],
    ...(options?.retryAfter === undefined ? {} : { retryAfter: options.retryAfter }),
    ...(options?.reason === undefined ? {} : { reason: options.reason })
  })

/**
 * The request's `path` is not valid: 400 `ValidationError`.
 *
 * @category constructors
 */
export const invalid = (path: string, message: string): ServiceRefused =>
  make(400, "ValidationError", { path, message })

/**
 * `what` does not exist, or no longer does: 404 `NotFound`.
 *
 * @category constructors
 */
export const notFound = (what: string): ServiceRefused => make(404, "NotFound", { message: `${what} is unknown` })

/**
 * The service itself has no answer: 503, to be asked again in two seconds, such as when its database is away; 507 where there is
 * no room for what it is to keep; 500 where what is stored of one file cannot be read. What has failed is for the log.
 *
 * @category constructors
 */
export const unavailable = (
  failure?: { readonly message: string; readonly code?: string | undefined; readonly cause?: unknown }
): ServiceRefused => {
  const reason = failure?.message
  if (failure?.code === "ObjectUnreadable") {
    return make(500, "InternalError", { message: "What is stored of this file cannot be read", reason })
  }
  return failure?.code === "InsufficientStorage" || DiskFailure.isFull(failure?.cause)
    ? make(507, "InsufficientStorage", {
      message: "There is no room left: whoever runs the service can make some",
      reason
    })
    : make(503, "InternalError", { message: "The service cannot answer just now", retryAfter: "2", reason })
}

const usualCodes: Readonly<Record<number, ServiceCode>> = {
  400: "ValidationError",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  408: "RequestTimeout",
  409: "Conflict",
  413: "ContentTooLarge",
  422: "UnprocessableContent",
  429: "TooManyRequests",
  502: "BadGateway",
  507: "InsufficientStorage"
}

/**
 * A refusal with any status; without a code, the status's usual one.
 *
 * @category constructors
 */
export const fromStatus = (
  status: number,
  code?: string | undefined,
  retryAfter?: string | undefined
): ServiceRefused => {
  const chosen = code ?? usualCodes[status] ?? "InternalError"
  return new ServiceRefused({
    status,
    errors: [{ code: chosen, title: isKnown(chosen) ? titles[chosen] : chosen }],
    ...(retryAfter === undefined ? {} : { retryAfter })
  })
}
