import * as Pipeable from "effect/Pipeable"

class InProcessRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
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
  get cookies() {
    return this.web().cookies
  }
  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }
  get peerAddress(): Option.Option<string> {
    return Option.none()
  }
  get protocol(): undefined {
    return undefined
  }
  get multipart() {
    return this.web().multipart
  }
  get multipartStream() {
    return this.web().multipartStream
  }
  get upgrade() {
    return this.web().upgrade
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
  get text() {
    return Stream.mkString(Stream.decodeText(this.stream))
  }
  get json() {
    return this.asWeb(({ json }) => json)
  }
  get urlParamsBody() {
    return this.asWeb(({ urlParamsBody }) => urlParamsBody)
  }
  get arrayBuffer() {
    return this.asWeb(({ arrayBuffer }) => arrayBuffer)
  }
  modify(options: {
    readonly url?: string | undefined
    readonly headers?: Headers.Headers | undefined
  }): HttpServerRequest.HttpServerRequest {
    return new InProcessRequest(
      this.method,
      this.originalUrl,
      options.url ?? this.url,
      options.headers ?? this.headers,
      this.body,
      this.declared,
      this.from
    )
  }
  toJSON(): unknown {
    return { _id: "@stevedore/testing/InProcessRequest", method: this.method }
  }

  private asWeb<A>(
    read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, HttpServerError.HttpServerError>
  ): Effect.Effect<A, HttpServerError.HttpServerError> {
    return Effect.flatMap(this.text, (body) => read(this.web(body)))
  }

  // the platform's own request covers what no handler of the sandbox uses
  private web(body?: string): HttpServerRequest.HttpServerRequest {
    return HttpServerRequest.fromWeb(
      new Request("http://in-process", { method: "POST", ...(body === undefined ? {} : { body }) })
    )
      .modify({ headers: this.headers })
  }
}

class InProcessResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    private readonly response: HttpServerResponse.HttpServerResponse,
    private readonly body: Body
  ) {
    super()
  }

  get status(): number {
    return this.response.status
  }
  get headers(): Headers.Headers {
    return this.response.headers
  }
  get cookies(): Cookies.Cookies {
    return this.response.cookies
  }
  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }
  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.mapError(
      this.body,
      (cause) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        })
    )
  }
  get text() {
    return this.asWeb(({ text }) => text)
  }
  get json() {
    return this.asWeb(({ json }) => json)
  }
  get urlParamsBody() {
    return this.asWeb(({ urlParamsBody }) => urlParamsBody)
  }
  readonly pipe = Pipeable.Prototype.pipe
  get url(): string {
    return this.request.url
  }
  get upgrade() {
    return this.asWeb(({ upgrade }) => upgrade)
  }
  get formData() {
    return this.asWeb(({ formData }) => formData)
  }
  get arrayBuffer() {
    return this.asWeb(({ arrayBuffer }) => arrayBuffer)
  }
  toJSON(): unknown {
    return { _id: "@stevedore/testing/InProcessResponse", status: this.status }
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
