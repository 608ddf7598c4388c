import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { ServiceVariation } from "./ServiceVariation.js"
import type { TwoWay } from "./twoWay.js"
import { withHeaders } from "./variedAnswer.js"

const conditions = ["if-match", "if-none-match", "if-range"]

// If-Match compares strongly: a weak etag matches nothing
const conditional = (
  { download }: ServiceVariation,
  etags: TwoWay,
  headers: Headers.Headers
): Headers.Headers => {
  const given = Object.entries(headers).filter(([name]) => conditions.includes(name))
  return download.validator === "etag"
    ? Headers.setAll(headers, Object.fromEntries(given.map(([name, value]) => [name, etags.inside(value)])))
    : headers
}

/** The headers of a request for content, as the sandbox understands them. @internal */
export const asked = (
  variation: ServiceVariation,
  etags: TwoWay,
  { headers }: HttpServerRequest.HttpServerRequest
): Headers.Headers =>
  variation.download.ranges === "ignored"
    ? Headers.remove(headers, ["range", "if-range"])
    : conditional(variation, etags, headers)

const validators = (
  { download }: ServiceVariation,
  etags: TwoWay,
  headers: Headers.Headers
): Headers.Headers => {
  const etag = headers["etag"]
  switch (download.validator) {
    case "etag":
      return etag === undefined ? headers : Headers.set(headers, "etag", etags.outside(etag))
    case "weak etag":
      return Headers.remove(etag === undefined ? headers : Headers.set(headers, "etag", `W/${etag}`), "last-modified")
    case "date":
      return Headers.remove(headers, "etag")
    case "none":
      return Headers.remove(headers, ["etag", "last-modified"])
  }
}

const mediaTypes = ({ download }: ServiceVariation, headers: Headers.Headers): Headers.Headers =>
  download.mediaType === "declared"
    ? headers
    : download.mediaType === "none"
    ? Headers.remove(headers, "content-type")
    : Headers.set(headers, "content-type", download.mediaType)

/** The response of the sandbox that has content, as the service sends it. @internal */
export const sent = (
  variation: ServiceVariation,
  etags: TwoWay,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = response
  if ((status !== 200 && status !== 206) || body._tag !== "Stream") {
    return response
  }
  const { length, ranges } = variation.download
  const sizes = [
    ...(length === "unknown" ? ["content-length"] : []),
    ...(ranges === "ignored" ? ["accept-ranges"] : [])
  ]
  const made = mediaTypes(variation, validators(variation, etags, Headers.remove(headers, sizes)))
  return withHeaders(HttpServerResponse.stream(body.stream, { status }), made)
}
