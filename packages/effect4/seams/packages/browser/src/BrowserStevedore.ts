import type * as HttpClientError from "effect/http/HttpClientError"

const isUnanswered = (error: HttpClientError.HttpClientError): boolean => error.response === undefined
