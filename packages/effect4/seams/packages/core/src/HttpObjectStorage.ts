import type * as HttpClientError from "effect/http/HttpClientError"

const isAnswered = (error: HttpClientError.HttpClientError): boolean => error.response !== undefined
