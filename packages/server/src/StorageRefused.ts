/** How object storage refuses: one table of codes, statuses and messages, and the XML that carries them. */
import * as Schema from "effect/Schema"
import { errorCode } from "./base/errorCode.js"

/**
 * What storage responds for each code if nothing more specific is known: the HTTP status and the message that S3 sends.
 *
 * @category constants
 */
export const refusals = {
  AccessDenied: { status: 403, message: "Access Denied" },
  AccessForbidden: { status: 403, message: "CORSResponse: This CORS request is not allowed." },
  AuthorizationQueryParametersError: { status: 400, message: "Error parsing the query authorization parameters" },
  BadDigest: { status: 400, message: "What is stored is not what was received." },
  EntityTooLarge: { status: 400, message: "Your proposed upload exceeds the maximum allowed size" },
  EntityTooSmall: { status: 400, message: "Your proposed upload is smaller than the minimum allowed size" },
  ExpiredToken: { status: 400, message: "The provided token has expired." },
  IncompleteBody: {
    status: 400,
    message: "You did not provide the number of bytes specified by the Content-Length HTTP header"
  },
  InsufficientStorage: { status: 507, message: "There is no room left for what is to be stored." },
  InternalError: { status: 500, message: "We encountered an internal error. Please try again." },
  InvalidAccessKeyId: { status: 403, message: "The AWS Access Key Id you provided does not exist in our records." },
  InvalidArgument: { status: 400, message: "Invalid Argument" },
  InvalidPart: {
    status: 400,
    message: "One or more of the specified parts could not be found. The part may not have been uploaded, or the " +
      "specified entity tag may not match the part's entity tag."
  },
  InvalidPartOrder: {
    status: 400,
    message: "The list of parts was not in ascending order. Parts must be ordered by part number."
  },
  InvalidRange: { status: 416, message: "The requested range is not satisfiable" },
  InvalidRequest: { status: 400, message: "Invalid Request" },
  InvalidToken: { status: 400, message: "The provided token is malformed or otherwise invalid." },
  InvalidURI: { status: 400, message: "Couldn't parse the specified URI." },
  MalformedXML: { status: 400, message: "The XML you provided was not well-formed" },
  MethodNotAllowed: { status: 405, message: "The specified method is not allowed against this resource." },
  MissingContentLength: { status: 411, message: "You must provide the Content-Length HTTP header." },
  NoSuchBucket: { status: 404, message: "The specified bucket does not exist" },
  NoSuchKey: { status: 404, message: "The specified key does not exist." },
  NoSuchUpload: {
    status: 404,
    message: "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted " +
      "or completed."
  },
  NotImplemented: { status: 501, message: "A header you provided implies functionality that is not implemented" },
  ObjectUnreadable: { status: 500, message: "What is stored of this object cannot be read." },
  OperationAborted: {
    status: 409,
    message: "A conflicting conditional operation is currently in progress against this resource. Try again."
  },
  PermanentRedirect: {
    status: 301,
    message:
      "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all " +
      "future requests to this endpoint."
  },
  PreconditionFailed: { status: 412, message: "At least one of the pre-conditions you specified did not hold" },
  RequestTimeTooSkewed: {
    status: 403,
    message: "The difference between the request time and the server's time is too large."
  },
  RequestTimeout: {
    status: 400,
    message: "Your socket connection to the server was not read from or written to within the timeout period. Idle " +
      "connections will be closed."
  },
  ServiceUnavailable: { status: 503, message: "Service is unable to handle request." },
  SignatureDoesNotMatch: {
    status: 403,
    message: "The request signature we calculated does not match the signature you provided. Check your key and " +
      "signing method."
  },
  SlowDown: { status: 503, message: "Please reduce your request rate." },
  TemporaryRedirect: { status: 307, message: "Please re-send this request to the specified temporary endpoint." },
  TokenRefreshRequired: { status: 400, message: "The provided token must be refreshed." }
} as const satisfies Record<string, { readonly status: number; readonly message: string }>

/**
 * A code of {@link refusals}.
 *
 * @category models
 */
export type RefusalCode = keyof typeof refusals

/**
 * A refusal of the object store. `code` is open, because another kind of store may send codes that S3 does not have.
 * `details` become elements of the XML beside `<Code>` and `<Message>`; they never contain a signature or a credential.
 * `failure` is for the log of whoever runs the service, and in no answer.
 *
 * @category errors
 */
export class StorageRefused extends Schema.TaggedError<StorageRefused>("@stevedore/server/StorageRefused")(
  "StorageRefused",
  {
    status: Schema.Int,
    code: Schema.String,
    reason: Schema.String,
    details: Schema.Record({ key: Schema.String, value: Schema.String }),
    failure: Schema.optional(Schema.Defect)
  }
) {
  override get message(): string {
    const { failure } = this
    const cause = failure === undefined ? "" : ` (${typeof failure === "string" ? failure : errorCode(failure)})`
    const id = this.details["StoreRequestId"]
    return `Storage answered ${this.status} ${this.code}: ${this.reason}${
      id === undefined ? "" : ` (request ${id})`
    }${cause}`
  }
}

/**
 * A refusal from the table, with the table's message unless another is given.
 *
 * @category constructors
 */
export const make = (
  code: RefusalCode,
  options?: {
    readonly reason?: string | undefined
    readonly details?: Readonly<Record<string, string>> | undefined
    readonly failure?: unknown
  }
): StorageRefused =>
  new StorageRefused({
    status: refusals[code].status,
    code,
    reason: options?.reason ?? refusals[code].message,
    details: options?.details ?? {},
    ...(options?.failure === undefined ? {} : { failure: options.failure })
  })

const isKnown = (code: string): code is RefusalCode => Object.hasOwn(refusals, code)

/**
 * A refusal with any status and code, for faults and for stores with their own codes. A known code has the table's
 * message.
 *
 * @category constructors
 */
export const fromStatus = (status: number, code: string): StorageRefused =>
  new StorageRefused({ status, code, reason: isKnown(code) ? refusals[code].message : code, details: {} })

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&apos;"
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

/**
 * The body of a refusal, as S3 writes it.
 *
 * @category conversions
 */
export const toXml = (refusal: StorageRefused, requestId: string): string => {
  const elements: ReadonlyArray<readonly [string, string]> = [
    ["Code", refusal.code],
    ["Message", refusal.reason],
    ...Object.entries(refusal.details),
    ["RequestId", requestId],
    ["HostId", "stevedore"]
  ]
  const content = elements.map(([name, value]) => `<${name}>${escape(value)}</${name}>`).join("")
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${content}</Error>`
}
