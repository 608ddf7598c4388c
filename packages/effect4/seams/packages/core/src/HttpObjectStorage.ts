import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"

// on 4, a stream without a type is sent as bytes
const withBody = (body: SourceBody, contentLength: number) => (request: HttpClientRequest.HttpClientRequest) =>
  HttpClientRequest.removeHeader(HttpClientRequest.setBody(request, bodyOf(body, contentLength)), "content-type")

const isAnswered = (error: HttpClientError.HttpClientError): boolean => error.response !== undefined
