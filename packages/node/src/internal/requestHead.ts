import type { HttpMethod } from "@effect/platform/HttpMethod"
import { validateHeaderName, validateHeaderValue } from "node:http"

/**
 * Path and query exactly as they were signed: nothing is resolved, and only what cannot be sent is encoded.
 *
 * @internal
 */
export const targetOf = (href: string): string => {
  const target = href
    .replace(/^https?:[/\\]*[^/\\?#]*/i, "")
    .replace(/#.*$/s, "")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[^\x21-\x7e]/gu, encodeURIComponent)
  return target.startsWith("/") ? target : `/${target}`
}

/**
 * The head of a request as sent on the wire. Throws on a header that would be read as something else there.
 *
 * @internal
 */
export const requestHead = (
  method: HttpMethod,
  href: string,
  headers: Readonly<Record<string, string>>
): string => {
  const lines = [`${method} ${targetOf(href)} HTTP/1.1`, `host: ${new URL(href).host}`, "connection: keep-alive"]
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    lines.push(`${name}: ${value}`)
  }
  return `${lines.join("\r\n")}\r\n\r\n`
}
