import type * as HttpClientError from "effect/http/HttpClientError"

export const unanswered = (error: HttpClientError.HttpClientError): Pick<Unanswered, "cause" | "head"> => ({
  cause: error,
  head: error.response
})
