import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"

const hostOf = (origin: string): string | undefined => URL.canParse(origin) ? new URL(origin).host : undefined

/**
 * Whether another site's page makes a request in the name of a user, whose cookies the browser sends with it. A browser
 * says where a request comes from: in `Sec-Fetch-Site`, which no page can set, or else in `Origin`. A sibling subdomain
 * is another site's page too. A program that is no browser sends neither, and no cookies of a user.
 */
export const isForeign = ({ headers }: HttpServerRequest, allowedOrigins: ReadonlyArray<string>): boolean => {
  const { host, origin } = headers
  if (origin !== undefined && allowedOrigins.includes(origin)) return false
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && (host === undefined || hostOf(origin) !== host.toLowerCase())
}
