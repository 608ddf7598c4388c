import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Connection from "../../src/Connection.js"
import * as InProcess from "../../src/sandbox/inProcess.js"
import type { Settings } from "../../src/SandboxOptions.js"
import type { ServiceVariation } from "./ServiceVariation.js"
import type { TwoWay } from "./twoWay.js"
import { dated, withHeaders } from "./variedAnswer.js"
import * as Content from "./variedContent.js"
import type { Urls } from "./variedUrls.js"

type Response = HttpServerResponse.HttpServerResponse

export interface Parts {
  readonly variation: ServiceVariation
  readonly settings: Settings
  readonly etags: TwoWay
  readonly urls: Urls
}

const bodies = {
  nothing: undefined,
  text: { text: "stored\n", contentType: "text/plain" },
  XML: { text: "<?xml version=\"1.0\"?><Stored><Fine>true</Fine></Stored>", contentType: "application/xml" }
} as const

const stored = ({ etags, settings, variation }: Parts, response: Response): Response => {
  const { body, repeatsEncryption, status } = variation.storage
  const etag = response.headers["etag"]
  const kept = repeatsEncryption
    ? response.headers
    : Headers.remove(response.headers, Object.keys(settings.encryptionHeaders))
  const headers = etag === undefined ? kept : Headers.set(kept, "etag", etags.outside(etag))
  const said = status === 204 ? undefined : bodies[body]
  const made = said === undefined
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(said.text, { status, contentType: said.contentType })
  return withHeaders(made, Headers.merge(headers, made.headers))
}

const error = (code: string, message: string, details = ""): Response =>
  HttpServerResponse.text(
    `<?xml version="1.0" encoding="utf-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${details}</Error>`,
    { status: 403, contentType: "application/xml" }
  )

const textOf = ({ body }: Response): string => body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

// S3's own words for an expired URL would be odd in another dialect
const expired = (dialect: ServiceVariation["storage"]["urls"], response: Response): Response => {
  const [, expires] = /<Expires>([^<]*)</.exec(textOf(response)) ?? []
  if (response.status !== 403 || expires === undefined) return response
  switch (dialect) {
    case "SigV4":
    case "SigV2":
      return response
    case "CloudFront":
      return error("AccessDenied", "Access denied")
    case "Azure":
      return error(
        "AuthenticationFailed",
        "Server failed to authenticate the request.",
        `<AuthenticationErrorDetail>Signature not valid in the specified time frame: Expiry [${
          new Date(expires).toUTCString()
        }]</AuthenticationErrorDetail>`
      )
    default:
      return HttpServerResponse.text("This link has expired", { status: 403 })
  }
}

const moved = ({ settings, variation }: Parts, to: string): Response => {
  const { redirectStatus, relative } = variation.download
  return HttpServerResponse.empty({
    status: redirectStatus,
    headers: { location: relative ? to.slice(settings.storageOrigin.length) : to }
  })
}

/** Storage, as the variation says it is. @internal */
export const make = (
  parts: Parts,
  app: HttpApp.Default<Connection.ConnectionBroken>
): HttpApp.Default<Connection.ConnectionBroken> =>
  Effect.gen(function*() {
    const { etags, urls, variation } = parts
    const request = yield* HttpServerRequest.HttpServerRequest
    const redirect = urls.redirectOf(request.url)
    if (redirect !== undefined && request.method === "GET") return moved(parts, redirect)
    const isReading = request.method === "GET" || request.method === "HEAD"
    const response = yield* Effect.provideService(
      app,
      HttpServerRequest.HttpServerRequest,
      InProcess.replaced(request, {
        target: urls.inside(request.url, Connection.isOverSocket(request)),
        headers: isReading ? Content.asked(variation, etags, request) : request.headers
      })
    )
    const made = isReading
      ? Content.sent(variation, etags, response)
      : request.method === "PUT" && response.status === 200
      ? stored(parts, response)
      : response
    return dated(variation.storage.date, expired(variation.storage.urls, made))
  })
