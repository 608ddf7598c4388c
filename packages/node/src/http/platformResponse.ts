import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"

/** What was parsed from the text of a body. */
export type Json = unknown

/** What makes an object a response to the platform, besides what it says and contains. */
export abstract class PlatformResponse extends Inspectable.Class {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId

  constructor(readonly request: HttpClientRequest) {
    super()
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }
}
