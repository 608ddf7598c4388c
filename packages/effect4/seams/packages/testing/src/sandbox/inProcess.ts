import * as Pipeable from "effect/Pipeable"

class InProcessRequest {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  constructor(
    readonly method: string,
    readonly originalUrl: string,
    readonly url: string,
    readonly headers: Headers.Headers,
    private readonly body: Body,
    private readonly declared: number | undefined,
    private readonly from?: object
  ) {
    super()
  }

  get source(): object {
    return this.from ?? this
  }
  get peerAddress(): Option.Option<string> {
    return Option.none()
  }
  get protocol(): undefined {
    return undefined
  }
  get upgradeWith() {
    return this.web().upgradeWith
  }
  get stream(): Stream.Stream<Uint8Array, HttpServerError.HttpServerError> {
    return Stream.mapError(
      atMost(this.body, this.declared),
      (cause) =>
        new HttpServerError.HttpServerError({ reason: new HttpServerError.RequestParseError({ request: this, cause }) })
    )
  }

  private asWeb<A>(
    read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, HttpServerError.HttpServerError>
  ): Effect.Effect<A, HttpServerError.HttpServerError> {
    return Effect.flatMap(this.text, (body) => read(this.web(body)))
  }
}

class InProcessResponse {
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.mapError(
      this.body,
      (cause) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        })
    )
  }

  readonly pipe = Pipeable.Prototype.pipe
  get url(): string {
    return this.request.url
  }
  get upgrade() {
    return this.asWeb(({ upgrade }) => upgrade)
  }
  private asWeb<A>(
    read: (
      response: HttpClientResponse.HttpClientResponse
    ) => Effect.Effect<A, HttpClientError.HttpClientError>
  ): Effect.Effect<A, HttpClientError.HttpClientError> {
    return Effect.flatMap(
      collect(this.stream),
      (bytes) => read(HttpClientResponse.fromWeb(this.request, new Response(new Uint8Array(bytes))))
    )
  }
}
