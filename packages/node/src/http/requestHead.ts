import { validateHeaderName, validateHeaderValue } from "node:http"

/** Path and query exactly as they were signed: nothing is resolved, and only what cannot be sent is encoded. */
export const targetOf = (href: string): string => {
  const target = href
    .replace(/^https?:[/\\]*[^/\\?#]*/i, "")
    .replace(/#.*$/s, "")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[^\x21-\x7e]/gu, encodeURIComponent)
  return target.startsWith("/") ? target : `/${target}`
}

/** The head of a request, but for the form of its target, which depends on who reads it. */
export interface RequestHead {
  readonly method: string
  readonly origin: string
  readonly target: string
  /** One line each, without what ends it. */
  readonly fields: ReadonlyArray<string>
}

/** The head of a request. Throws on a header that would be read as something else on the wire. */
export const requestHead = (
  method: string,
  href: string,
  headers: Readonly<Record<string, string>>
): RequestHead => {
  const { host, origin } = new URL(href)
  const fields = [`host: ${host}`, "connection: keep-alive"]
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    fields.push(`${name}: ${value}`)
  }
  return { method, origin, target: targetOf(href), fields }
}

export const written = (method: string, target: string, fields: ReadonlyArray<string>): Buffer =>
  // as bytes: with mixed text and bytes, Node assembles the system call piece by piece
  Buffer.from(`${[`${method} ${target} HTTP/1.1`, ...fields].join("\r\n")}\r\n\r\n`, "latin1")
