import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ServiceVariation } from "./ServiceVariation.js"
import * as StoredCoding from "./storedCoding.js"

type Response = HttpServerResponse.HttpServerResponse

const HOURS_MILLIS = 5 * 3_600_000

/** `Date` as a server whose clock is wrong sends it. The clock that its URLs are signed by is another. @internal */
export const dated = (kind: ServiceVariation["answers"]["date"], response: Response): Response => {
  const date = Date.parse(response.headers["date"] ?? "")
  switch (kind) {
    case "right":
      return response
    case "absent":
      return withHeaders(response, Headers.remove(response.headers, "date"))
    case "unreadable":
      return HttpServerResponse.setHeader(response, "date", "yesterday")
    default: {
      const shift = kind === "hours ahead" ? HOURS_MILLIS : -HOURS_MILLIS
      return HttpServerResponse.setHeader(response, "date", new Date(date + shift).toUTCString())
    }
  }
}

/** The same response with these headers and no others. @internal */
export const withHeaders = (response: Response, headers: Headers.Headers): Response =>
  HttpServerResponse.setBody(
    HttpServerResponse.empty({ status: response.status, headers }),
    response.body
  ).pipe(HttpServerResponse.setHeaders(headers))

const WINDOW_SECONDS = 60
const LIMIT = 500
const LEFT = 400

const rateLimit = (kind: ServiceVariation["answers"]["rateLimit"], now: number): Readonly<Record<string, string>> => {
  switch (kind) {
    case "none":
      return {}
    case "X-RateLimit":
      return {
        "x-ratelimit-limit": String(LIMIT),
        "x-ratelimit-remaining": String(LEFT),
        "x-ratelimit-reset": String(Math.round(now / 1000) + WINDOW_SECONDS)
      }
    case "RateLimit":
      return {
        "ratelimit-limit": String(LIMIT),
        "ratelimit-remaining": String(LEFT),
        "ratelimit-reset": String(WINDOW_SECONDS)
      }
    case "RateLimit-Policy":
      return {
        "ratelimit-policy": `"default";q=${LIMIT};w=${WINDOW_SECONDS}`,
        "ratelimit": `"default";r=${LEFT};t=${WINDOW_SECONDS}`
      }
    case "unreadable":
      return { "x-ratelimit-limit": "some", "x-ratelimit-remaining": "", "ratelimit": "???" }
  }
}

const PIECES = 4
const PAUSE = "20 millis"

const inPieces = (bytes: Uint8Array): Chunk.Chunk<Uint8Array> => {
  const size = Math.max(1, Math.ceil(bytes.byteLength / PIECES))
  return Chunk.map(Chunk.range(0, PIECES - 1), (index) => bytes.subarray(index * size, (index + 1) * size))
}

const BYTE_ORDER_MARK = "\uFEFF"

const encoded = ({ answers }: ServiceVariation, text: string): Uint8Array => {
  const bytes = new TextEncoder().encode(answers.byteOrderMark ? `${BYTE_ORDER_MARK}${text}` : text)
  return answers.coding === "none" ? bytes : StoredCoding.encode(answers.coding, bytes)
}

/**
 * A response of the service with this text, sent as the service sends everything; its other headers are those of the
 * response that it replaces.
 */
export const sent = (
  variation: ServiceVariation,
  instead: Response,
  answer: { readonly status: number; readonly text: string; readonly mediaType?: string | undefined }
): Response => {
  const { answers } = variation
  const now = Date.parse(instead.headers["date"] ?? "")
  const kept = Headers.remove(instead.headers, ["content-type", "content-length", "content-encoding"])
  const headers = Headers.setAll(kept, {
    ...rateLimit(answers.rateLimit, now),
    ...(answers.connection === "closed" ? { connection: "close" } : {})
  })
  if (answer.text === "" || answer.status === 204) {
    return dated(answers.date, HttpServerResponse.empty({ status: answer.status, headers }))
  }
  const mediaType = answer.mediaType ?? answers.mediaType
  const bytes = encoded(variation, answer.text)
  const options = {
    status: answer.status,
    headers: Headers.setAll(headers, {
      ...(mediaType === "none" ? {} : { "content-type": mediaType }),
      ...(answers.coding === "none" ? {} : { "content-encoding": answers.coding }),
      ...(answers.length === "declared" ? { "content-length": String(bytes.byteLength) } : {})
    })
  }
  const pieces = Stream.fromChunk(answers.drips ? inPieces(bytes) : Chunk.of(bytes))
  return dated(
    answers.date,
    HttpServerResponse.stream(
      answers.drips ? Stream.mapEffect(pieces, (piece) => Effect.delay(Effect.succeed(piece), PAUSE)) : pieces,
      options
    )
  )
}
