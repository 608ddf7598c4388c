import type * as HttpClientError from "effect/http/HttpClientError"

const hasNoBody = (error: HttpClientError.HttpClientError): boolean => error.reason._tag === "EmptyBodyError"
