/** Object storage over Node's sockets: bytes move between disk and socket in reused buffers. */
import type { PutRequest, Service } from "@stevedore/core/ObjectStorage"
import { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as Transport from "@stevedore/core/parts/transport"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import type { StorageError } from "@stevedore/core/StorageError"
import { Timeouts } from "@stevedore/core/Timeouts"
import type { SourceBody } from "@stevedore/core/UploadSource"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { rootCertificates } from "node:tls"
import { FileRange } from "./file/sourceChunks.js"
import { WritePace } from "./file/writePace.js"
import type { AnswerHead } from "./http/answerParser.js"
import type { Broken, Connection } from "./http/connection.js"
import * as ConnectionPool from "./http/connectionPool.js"
import { requestHead } from "./http/requestHead.js"
import * as SocketSend from "./http/socketSend.js"
import { send } from "./http/sourceBytes.js"
import type { HttpProxy } from "./HttpProxy.js"

/**
 * Which certificates to trust, and the proxy.
 *
 * @category models
 */
export interface Options {
  /**
   * PEM certificates to trust in addition to Node's own, such as a company's. Defaults to those of Node and of
   * `NODE_EXTRA_CA_CERTS`.
   */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** Defaults to none. */
  readonly proxy?: HttpProxy | undefined
}

// A PUT is watched by its caller
const unlimited: Transport.SendLimits = {
  connect: Duration.infinity,
  deadline: Duration.infinity,
  longest: Transport.longestDocument
}

const failed = ({ answered, cause }: Broken, { attempt, url }: Pick<PutRequest, "url" | "attempt">) =>
  Transport.connectionFailure(cause, { attempt, url, answered })

const begin = (
  pool: ConnectionPool.ConnectionPool,
  request: Pick<PutRequest, "url" | "attempt">,
  method: "GET" | "PUT",
  headers: Readonly<Record<string, string>>,
  { length = 0, limit }: { readonly length?: number; readonly limit?: Duration.Duration }
): Effect.Effect<ConnectionPool.Loan & { readonly announces: boolean }, StorageError> =>
  Effect.gen(function*() {
    const href = PresignedUrl.reveal(request.url)
    const head = yield* Effect.try({
      try: () => requestHead(method, href, headers),
      catch: (cause) => Transport.connectionFailure(cause, { ...request, answered: false })
    })
    const loan = yield* Effect.mapError(pool.lend(href, limit), (broken) => failed(broken, request))
    const announces = length > announcedAbove && loan.manner?.announced === true
    loan.connection.slowBytes = loan.manner?.slowBytes ?? 0
    loan.connection.request(announces ? { ...head, fields: [...head.fields, "expect: 100-continue"] } : head)
    return { ...loan, announces }
  })

// As curl: longer bodies are announced, and wait this long for leave to come.
const announcedAbove = 1_048_576
const longestWait = Duration.seconds(1)

const isUnmet = ({ status }: Pick<AnswerHead, "status">): boolean => status === 417

/** The response to the head alone; none if the body is wanted, or nothing is said. */
const announced = (
  connection: Connection,
  manner: ConnectionPool.Manner
): Effect.Effect<Option.Option<AnswerHead>, Broken> =>
  Effect.map(Effect.timeoutOption(connection.invited, longestWait), (said) => {
    const head = Option.flatten(said)
    manner.announced = Option.isSome(said) && !Option.exists(head, isUnmet)
    return head
  })

// The whole body is read so that the connection can be reused, but no more than a document of it is kept.
const readStart = (connection: Connection, headers: AnswerHead["headers"]): Effect.Effect<string, Broken> =>
  Effect.suspend(() => {
    const document = Transport.startDocument(headers)
    const read: Effect.Effect<string, Broken> = Effect.matchEffect(connection.pull, {
      onFailure: Option.match({ onNone: () => document.text, onSome: (broken: Broken) => Effect.fail(broken) }),
      onSuccess: (bytes) => {
        document.add(bytes)
        return read
      }
    })
    return read
  })

const answerOf = (
  connection: Connection,
  { headers, status }: AnswerHead
): Effect.Effect<Transport.StorageAnswer, Broken> =>
  Effect.map(
    status >= 200 && status < 300
      ? readStart(connection, headers)
      : Effect.orElseSucceed(readStart(connection, headers), () => ""),
    (body) => ({ status, headers, body })
  )

const abandon = (connection: Connection, why: Cause.Cause<Broken | SourceError>): Effect.Effect<void> =>
  Effect.sync(() => {
    const failure = Cause.failureOption(why)
    if (Option.isNone(failure)) connection.abandon(why)
    else if (failure.value._tag !== "Broken") connection.abandon(failure.value)
  })

// A response wins over whatever went wrong with the body, because it says why. Sending in a forked fiber costs less
// than racing the two.
const answerWhileSending = (
  connection: Connection,
  body: SourceBody,
  request: PutRequest
): Effect.Effect<AnswerHead, Broken> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.fork(
        Effect.interruptible(Effect.catchAllCause(send(connection, body, request), (why) => abandon(connection, why)))
      ),
      (sending) => Effect.ensuring(restore(connection.answered), Fiber.interrupt(sending))
    )
  )

const exchange = (
  { announces, connection, manner }: ConnectionPool.Loan & { readonly announces: boolean },
  body: SourceBody,
  request: PutRequest
): Effect.Effect<Transport.StorageAnswer, Broken | SourceError> =>
  (announces && manner !== undefined ? announced(connection, manner) : Effect.succeedNone).pipe(
    Effect.flatMap(Option.match({
      onNone: () => answerWhileSending(connection, body, request),
      onSome: Effect.succeed
    })),
    Effect.flatMap((head) => answerOf(connection, head)),
    (answering) => body._tag === "BlobBody" ? Effect.zipLeft(answering, body.observed, { concurrent: true }) : answering
  )

const learn = ({ manner }: ConnectionPool.Loan, succeeded: boolean): Effect.Effect<void> =>
  Effect.sync(() => {
    if (manner !== undefined) manner.slowBytes = succeeded ? 0 : Infinity
  })

// If storage says that bytes are missing that were sent, others that are sent on that connection may be missing too
const meansBrokenConnection = (error: StorageError | SourceError): boolean =>
  error._tag === "ConnectionFailed" || error.recovery === "retryOnce" ||
  (error._tag === "StorageUnavailable" && error.code === "RequestTimeout")

const putHeaders = (request: PutRequest): Readonly<Record<string, string>> => ({
  ...Transport.uncoded,
  ...request.headers,
  "content-length": String(request.section.range.length)
})

// Without a fiber that sends: the kernel takes it in one piece, also if it were sent as a stream
const putAtOnce = (
  pool: ConnectionPool.ConnectionPool,
  body: Uint8Array,
  request: PutRequest
): Effect.Effect<Transport.StorageAnswer, StorageError> =>
  Effect.suspend(() => {
    const href = PresignedUrl.reveal(request.url)
    const broken = (cause: unknown, answered: boolean) => Transport.connectionFailure(cause, { ...request, answered })
    const document = ({ body, headers, status }: Transport.Answered) => {
      const started = Transport.startDocument(headers)
      started.add(body)
      return Effect.map(started.text, (body): Transport.StorageAnswer => ({ status, headers, body }))
    }
    return Effect.flatMap(
      Effect.try({
        try: () => requestHead("PUT", href, putHeaders(request)),
        catch: (cause) => broken(cause, false)
      }),
      (head) =>
        Effect.matchEffect(
          SocketSend.exchange(pool, { href, head, body, onSent: () => request.onSent(body.byteLength) }, unlimited),
          {
            onSuccess: document,
            onFailure: ({ cause, head }) =>
              head === undefined || head.status < 300
                ? Effect.fail(broken(cause, head !== undefined))
                // what it was about to say is in its status
                : Effect.succeed({ status: head.status, headers: head.headers, body: "" })
          }
        )
    )
  })

const putAsStream = (
  pool: ConnectionPool.ConnectionPool,
  body: SourceBody,
  request: PutRequest
): Effect.Effect<Transport.StorageAnswer, StorageError | SourceError> =>
  Effect.acquireUseRelease(
    begin(pool, request, "PUT", putHeaders(request), { length: request.section.range.length }),
    (loan) =>
      exchange(loan, body, request).pipe(
        Effect.tap(({ status }) => learn(loan, status < 300)),
        Effect.tapError(() => learn(loan, false)),
        Effect.catchTag(
          "Broken",
          ({ answered, cause }): Effect.Effect<never, StorageError | SourceError> =>
            Cause.isCause(cause)
              ? Effect.die(Cause.squash(cause))
              : Effect.fail(Transport.failure(cause, { ...request, answered }))
        )
      ),
    ConnectionPool.giveBack
  )

// What the kernel takes in one piece; undefined for what is larger, or comes in pieces
const pieceOf = (
  body: SourceBody,
  { attempt, name, pace, section: { range } }: PutRequest
): Effect.Effect<Uint8Array, SourceError> | undefined => {
  if (range.length > Math.min(WritePace.least, pace?.piece() ?? Infinity)) return undefined
  if (body._tag === "BytesBody") return body.bytes.byteLength === range.length ? Effect.succeed(body.bytes) : undefined
  const { content } = body._tag === "NativeBody" ? body : { content: undefined }
  return content instanceof FileRange
    ? Effect.tryPromise({
      try: () => content.whole(),
      catch: (error) =>
        isSourceError(error) ? error : new SourceUnreadable({ fileName: name, reason: "Failed", attempts: attempt })
    })
    : undefined
}

const put = (pool: ConnectionPool.ConnectionPool, { proxy }: Options): Transport.StorageTransport["put"] => (request) =>
  Effect.gen(function*() {
    const body = yield* request.section.body(() => undefined)
    // what goes through a proxy is sent as slowly as that needs
    const piece = proxy === undefined ? pieceOf(body, request) : undefined
    if (piece !== undefined) {
      yield* request.pace?.before(request.section.range.length) ?? Effect.void
      return yield* putAtOnce(pool, yield* piece, request)
    }
    let isSent = false
    const onSent = (bytes: number) => {
      isSent = true
      request.onSent(bytes)
    }
    const answered = putAsStream(pool, body, { ...request, onSent })
    const first = yield* answered
    // it does not want the body announced: nothing of it was sent
    return isUnmet(first) && !isSent ? yield* answered : first
  })

const get = (pool: ConnectionPool.ConnectionPool): Transport.StorageTransport["get"] => (request, headers) =>
  Effect.gen(function*() {
    // a PUT is watched by its caller, from the connection on
    const { connect } = yield* Timeouts
    const { connection } = yield* Effect.acquireRelease(
      begin(pool, request, "GET", { ...Transport.uncoded, ...headers }, { limit: connect }),
      ConnectionPool.giveBack
    )
    connection.sentAll()
    const head = yield* Effect.mapError(connection.answered, (broken) => failed(broken, request))
    if (head.status < 300) connection.expectMuch()
    const pull = Effect.mapError(connection.pull, Option.map((broken) => failed(broken, request)))
    return {
      status: head.status,
      headers: head.headers,
      pull,
      // chunks of a Stream may be kept, so they must not share the reused buffers
      bytes: Stream.repeatEffectOption(Effect.map(pull, (bytes) => new Uint8Array(bytes))),
      document: Effect.orElseSucceed(readStart(connection, head.headers), () => "")
    }
  })

/**
 * Storage over HTTP/1.1 on Node's own sockets. Each request has its own connection, which is reused afterwards. After a
 * connection fails, or loses bytes, it is closed together with the idle ones to the same origin. A response that
 * arrives before the whole body has been sent is read, even if storage closes the connection right after it.
 * A proxy may lose it: through one, a body above 1 MiB is announced first (`Expect: 100-continue`), and 16 MiB a second are
 * sent of one that follows a failure, and of the first 16 MiB of the first one.
 * Interruption closes the connection at once. Only what the request specifies is sent: no trace headers, no encodings but
 * `identity`, and the URL as it was signed, also through a proxy.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.map(
    ConnectionPool.make({
      proxy: options.proxy,
      tls: options.ca === undefined ? {} : { ca: [...rootCertificates, ...[options.ca].flat()] }
    }),
    (pool) =>
      Transport.storageOver({
        put: put(pool, options),
        get: get(pool),
        isExact: true,
        isPaced: true,
        redirects: Transport.followed,
        onFailure: (error, { url }) =>
          meansBrokenConnection(error) ? pool.distrust(PresignedUrl.reveal(url)) : Effect.void
      })
  )

/**
 * {@link make} as a layer. `NodeStevedore.layer` already includes it.
 *
 * @example
 * import { NodeObjectStorage } from "@stevedore/node"
 * import { Effect, Layer } from "effect"
 * import { readFile } from "node:fs/promises"
 *
 * const withOwnCertificates = Layer.unwrapEffect(
 *   Effect.map(
 *     Effect.promise(() => readFile("/etc/ssl/storage.pem", "utf8")),
 *     (ca) => NodeObjectStorage.layer({ ca })
 *   )
 * )
 *
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<ObjectStorage> => Layer.scoped(ObjectStorage, make(options))
