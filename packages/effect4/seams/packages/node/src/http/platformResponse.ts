import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import { type HttpClientRequest, toUrl } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Pipeable from "effect/Pipeable"
import type * as Schema from "effect/Schema"
import type * as Socket from "effect/socket/Socket"

export type Json = Schema.Json

export abstract class PlatformResponse extends Inspectable.Class {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId

  readonly pipe: Pipeable.Pipeable["pipe"] = Pipeable.Prototype.pipe

  constructor(readonly request: HttpClientRequest) {
    super()
  }

  get url(): string {
    return Option.match(toUrl(this.request), {
      onNone: () => this.request.url,
      onSome: ({ href }) => href.replace(/#.*$/, "")
    })
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  get upgrade(): Effect.Effect<Socket.Socket, HttpClientError.HttpClientError> {
    return Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({
          request: this.request,
          description: "a connection of this client is not handed over"
        })
      })
    )
  }
}
