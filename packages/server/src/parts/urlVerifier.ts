/**
 * Checks whether a request at storage is what a pre-signed URL allows. The signature is recomputed from what was
 * received and compared; nothing is remembered between signing and verifying.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as StorageRefused from "../StorageRefused.js"
import * as UrlSigner from "./urlSigner.js"

/**
 * A request as it arrived. `target` is path and query as in the request line; header names are in lower case.
 *
 * @category models
 */
export interface ReceivedRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * What a valid request may do: the path it was signed for, and the query parameters besides the signature's own.
 *
 * @category models
 */
export interface VerifiedRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

// a URL signed further in the future than this is refused; S3 allows this much skew of the signer's clock
const TOLERATED_SKEW_MILLIS = 15 * 60 * 1000
const LONGEST_LIFETIME_SECONDS = 7 * 24 * 60 * 60

const SIGNATURE_PARAMETERS = [
  "X-Amz-Algorithm",
  "X-Amz-Credential",
  "X-Amz-Date",
  "X-Amz-Expires",
  "X-Amz-SignedHeaders",
  "X-Amz-Signature"
]

interface Target {
  readonly path: string
  readonly query: Map<string, ReadonlyArray<string>>
}

const parseTarget = (target: string): Either.Either<Target, StorageRefused.StorageRefused> =>
  Either.try({
    try: () => {
      const mark = target.indexOf("?")
      const path = mark === -1 ? target : target.slice(0, mark)
      const query = new Map<string, ReadonlyArray<string>>()
      for (const pair of mark === -1 ? [] : target.slice(mark + 1).split("&")) {
        const equals = pair.indexOf("=")
        const name = decodeURIComponent(equals === -1 ? pair : pair.slice(0, equals))
        const value = equals === -1 ? "" : decodeURIComponent(pair.slice(equals + 1))
        query.set(name, [...(query.get(name) ?? []), value])
      }
      decodeURIComponent(path)
      return { path, query }
    },
    catch: () => StorageRefused.make("InvalidURI")
  })

const single = ({ query }: Target, name: string): string | undefined => {
  const values = query.get(name)
  return values?.length === 1 ? values[0] : undefined
}

interface SignatureParameters {
  readonly credential: string
  readonly signedAt: number
  readonly expiresIn: number
  readonly signedHeaders: ReadonlyArray<string>
  readonly signature: string
}

const badParameters = (reason: string) =>
  Either.left(StorageRefused.make("AuthorizationQueryParametersError", { reason }))

const DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/

const parseDate = (text: string): number => {
  const [, year, month, day, hour, minute, second] = DATE.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

const signatureParameters = (
  target: Target
): Either.Either<SignatureParameters, StorageRefused.StorageRefused> => {
  const [algorithm, credential, date, expires, headers, signature] = SIGNATURE_PARAMETERS.map((name) =>
    single(target, name)
  )
  if (
    algorithm === undefined || credential === undefined || date === undefined || expires === undefined ||
    headers === undefined || signature === undefined
  ) {
    return badParameters(
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, " +
        "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."
    )
  }
  if (algorithm !== "AWS4-HMAC-SHA256") {
    return badParameters("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"")
  }
  const signedAt = parseDate(date)
  if (Number.isNaN(signedAt)) {
    return badParameters("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
  }
  const expiresIn = /^\d+$/.test(expires) ? Number(expires) : Number.NaN
  if (Number.isNaN(expiresIn)) {
    return badParameters("X-Amz-Expires should be a number")
  }
  if (expiresIn > LONGEST_LIFETIME_SECONDS) {
    return badParameters(
      "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 " +
        "seconds"
    )
  }
  return Either.right({ credential, signedAt, expiresIn, signedHeaders: headers.split(";"), signature })
}

const checkCredential = (
  credential: UrlSigner.Credential,
  parameters: SignatureParameters
): Either.Either<void, StorageRefused.StorageRefused> => {
  const day = new Date(parameters.signedAt).toISOString().slice(0, 10).replaceAll("-", "")
  const [accessKeyId, ...scope] = parameters.credential.split("/")
  if (accessKeyId !== credential.accessKeyId) {
    return Either.left(StorageRefused.make("InvalidAccessKeyId"))
  }
  return scope.join("/") === `${day}/${credential.region}/s3/aws4_request`
    ? Either.void
    : badParameters("Error parsing the X-Amz-Credential parameter: the credential scope does not fit")
}

/**
 * How storage refuses an expired URL.
 *
 * @category constructors
 */
export const expired = (options: { readonly expires: number; readonly serverTime: number }) =>
  StorageRefused.make("AccessDenied", {
    reason: "Request has expired",
    details: {
      Expires: new Date(options.expires).toISOString(),
      ServerTime: new Date(options.serverTime).toISOString()
    }
  })

const checkTime = (
  parameters: SignatureParameters,
  serverTime: number
): Either.Either<void, StorageRefused.StorageRefused> => {
  if (parameters.signedAt > serverTime + TOLERATED_SKEW_MILLIS) {
    return Either.left(StorageRefused.make("AccessDenied", { reason: "Request is not valid yet" }))
  }
  const expires = parameters.signedAt + parameters.expiresIn * 1000
  return serverTime > expires ? Either.left(expired({ expires, serverTime })) : Either.void
}

const ENCRYPTION_HEADER = "x-amz-server-side-encryption"

const checkUnsignedHeaders = (
  request: ReceivedRequest,
  target: Target,
  signed: ReadonlyArray<string>
): Either.Either<void, StorageRefused.StorageRefused> => {
  const unsigned = Object.keys(request.headers).filter((name) =>
    (name.startsWith("x-amz-") || name === "content-md5") && !signed.includes(name)
  )
  const encryption = unsigned.find((name) => name.startsWith(ENCRYPTION_HEADER))
  if (encryption !== undefined && target.query.has("partNumber")) {
    return Either.left(StorageRefused.make("InvalidArgument", {
      reason: `${encryption} header is not supported for this operation.`,
      details: { ArgumentName: encryption, ArgumentValue: request.headers[encryption] ?? "" }
    }))
  }
  return unsigned.length === 0 ? Either.void : Either.left(StorageRefused.make("AccessDenied", {
    reason: "There were headers present in the request which were not signed",
    details: { HeadersNotSigned: unsigned.join(", ") }
  }))
}

/** Takes as long wherever the two differ. */
const isSame = (left: string, right: string): boolean => {
  let difference = left.length ^ right.length
  for (let index = 0; index < left.length; index++) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index % right.length)
  }
  return difference === 0
}

const mismatch = (credential: UrlSigner.Credential) =>
  StorageRefused.make("SignatureDoesNotMatch", { details: { AWSAccessKeyId: credential.accessKeyId } })

const checkSignature = (
  credential: UrlSigner.Credential,
  request: ReceivedRequest,
  target: Target,
  parameters: SignatureParameters
): Effect.Effect<void, StorageRefused.StorageRefused> =>
  Effect.gen(function*() {
    const headers: Record<string, string> = {}
    for (const name of parameters.signedHeaders) {
      const value = request.headers[name]
      if (value === undefined) {
        return yield* mismatch(credential)
      }
      headers[name] = value
    }
    const { host, ...others } = headers
    if (host === undefined || !URL.canParse(`http://${host}`)) {
      return yield* mismatch(credential)
    }
    const query = [...target.query].filter(([name]) => !SIGNATURE_PARAMETERS.includes(name))
    const expected = new Map(
      yield* UrlSigner.signedQuery(credential, {
        method: request.method,
        origin: `http://${host}`,
        path: target.path,
        query: Object.fromEntries(query),
        headers: others,
        at: parameters.signedAt,
        expiresIn: parameters.expiresIn
      })
    )
    const differing = SIGNATURE_PARAMETERS.filter((name) =>
      !isSame(expected.get(name) ?? "", single(target, name) ?? "")
    )
    if (differing.length > 0) {
      return yield* mismatch(credential)
    }
  })

const ONE_MECHANISM =
  "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string " +
  "parameter or the Authorization header should be specified"

const checkMechanism = (
  request: ReceivedRequest,
  target: Target
): Either.Either<void, StorageRefused.StorageRefused> => {
  const signed = SIGNATURE_PARAMETERS.some((name) => target.query.has(name))
  if (request.headers["authorization"] !== undefined) {
    return Either.left(StorageRefused.make("InvalidArgument", {
      reason: signed ? ONE_MECHANISM : "Unsupported Authorization Type",
      details: { ArgumentName: "Authorization" }
    }))
  }
  return signed ? Either.void : Either.left(StorageRefused.make("AccessDenied"))
}

/**
 * Checks a request against its own signature, in the same order as S3: a single authorization mechanism, all parameters
 * present, the credential and its scope, the time, unsigned headers, and the signature last. `serverTime` is in
 * milliseconds of the Unix epoch.
 *
 * @category combinators
 */
export const verify = (
  credential: UrlSigner.Credential,
  request: ReceivedRequest,
  serverTime: number
): Effect.Effect<VerifiedRequest, StorageRefused.StorageRefused> =>
  Effect.gen(function*() {
    const target = yield* parseTarget(request.target)
    yield* checkMechanism(request, target)
    const parameters = yield* signatureParameters(target)
    yield* checkCredential(credential, parameters)
    yield* checkTime(parameters, serverTime)
    yield* checkUnsignedHeaders(request, target, parameters.signedHeaders)
    yield* checkSignature(credential, request, target, parameters)
    const query = [...target.query].filter(([name]) => !SIGNATURE_PARAMETERS.includes(name))
    return {
      path: target.path,
      query: Object.fromEntries(query.map(([name, values]) => [name, values[0] ?? ""]))
    }
  })
