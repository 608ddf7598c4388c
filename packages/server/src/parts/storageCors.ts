/** The CORS rules of a bucket: what a page of another origin may send, and what it may read. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/**
 * Whether pages of other origins may use the bucket, and whether they may read etags.
 *
 * @category models
 */
export interface Settings {
  readonly cors: false | { readonly exposeEtag: boolean }
}

/**
 * The methods that a page may use.
 *
 * @category constants
 */
export const METHODS: ReadonlyArray<string> = ["GET", "HEAD", "PUT"]

/**
 * The headers that a page may send: only what an upload or a download needs. A page that sends a bearer token or trace
 * headers is stopped by its own preflight. `x-amz-*` is any header with that prefix.
 *
 * @category constants
 */
export const ALLOWED_HEADERS: ReadonlyArray<string> = [
  "content-type",
  "content-md5",
  "range",
  "if-match",
  "if-range",
  "if-none-match",
  "x-amz-*"
]

const isAllowedHeader = (name: string): boolean => ALLOWED_HEADERS.includes(name) || name.startsWith("x-amz-")

/**
 * The headers that a page may read besides `ETag`.
 *
 * @category constants
 */
export const EXPOSED: ReadonlyArray<string> = [
  "x-amz-request-id",
  "x-amz-server-side-encryption",
  "x-amz-checksum-crc32",
  "Content-Range",
  "Accept-Ranges",
  "Date"
]

/**
 * The response to a preflight, or `undefined` if the bucket does not allow what the page asks for.
 *
 * @category constructors
 */
export const preflight = (
  settings: Settings,
  headers: Readonly<Record<string, string | undefined>>
): HttpServerResponse.HttpServerResponse | undefined => {
  const method = headers["access-control-request-method"]
  const asked = (headers["access-control-request-headers"] ?? "").split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "")
  if (
    settings.cors === false || headers["origin"] === undefined || method === undefined || !METHODS.includes(method) ||
    !asked.every(isAllowedHeader)
  ) {
    return undefined
  }
  return HttpServerResponse.empty({
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": METHODS.join(", "),
      "access-control-allow-headers": asked.join(", "),
      "access-control-max-age": "3000",
      vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"
    }
  })
}

/**
 * The CORS headers of a response; none if the request did not come from a page, or the bucket has no CORS.
 *
 * @category constructors
 */
export const answerHeaders = (settings: Settings, origin: string | undefined): Readonly<Record<string, string>> => {
  if (settings.cors === false || origin === undefined) {
    return {}
  }
  const exposed = settings.cors.exposeEtag ? ["ETag", ...EXPOSED] : EXPOSED
  return {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": exposed.join(", "),
    vary: "Origin"
  }
}
