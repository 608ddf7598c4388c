import type { HttpClientError } from "effect/http/HttpClientError"

export const clientFailure = ({ reason }: HttpClientError): { readonly kind: string; readonly cause: unknown } => ({
  kind: reason._tag.replace(/Error$/, ""),
  cause: reason.cause
})
