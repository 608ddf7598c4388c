import type { HttpClientError } from "@effect/platform/HttpClientError"

/** How a client of the platform failed. */
export const clientFailure = (error: HttpClientError): { readonly kind: string; readonly cause: unknown } => ({
  kind: error.reason,
  cause: error.cause
})
