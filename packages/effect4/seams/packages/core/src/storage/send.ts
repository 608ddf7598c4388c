import type * as HttpClientError from "effect/http/HttpClientError"

const headOf = (error: HttpClientError.HttpClientError): Head | undefined => error.response
