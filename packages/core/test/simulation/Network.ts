import {
  Cookies,
  Headers,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
  HttpIncomingMessage
} from "@effect/platform"
import { Effect, Inspectable, Option, Stream } from "effect"
import { type CallTrouble, isStorageRow, type PutTrouble, storageRows } from "./Faults.js"
import type { Exchange, Operation } from "./History.js"
import type { Process, Wait } from "./Process.js"
import type { Answer, Servers } from "./Servers.js"
import { NativeContent, type SimulatedSource } from "./Sources.js"
import { serviceOrigin, storageOrigin, type World } from "./World.js"

type Response = HttpClientResponse.HttpClientResponse

const encoder = new TextEncoder()

/** An answer as the platform gives it, without a socket. `rest` gives the body, or breaks. */
class SimulatedResponse extends Inspectable.Class implements Response {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly cookies = Cookies.empty
  readonly remoteAddress = Option.none()
  readonly headers: Headers.Headers

  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    readonly answer: Answer,
    private readonly rest: Effect.Effect<string, "broken">
  ) {
    super()
    this.headers = Headers.fromInput(answer.headers)
  }

  get status(): number {
    return this.answer.status
  }

  get text(): Effect.Effect<string, HttpClientError.ResponseError> {
    return Effect.mapError(
      this.rest,
      () =>
        new HttpClientError.ResponseError({
          request: this.request,
          response: this,
          reason: "Decode",
          cause: Object.assign(new Error("aborted"), { code: "ECONNRESET" })
        })
    )
  }

  get stream(): Stream.Stream<Uint8Array, HttpClientError.ResponseError> {
    return Stream.unwrap(
      Effect.map(this.text, (text) => text === "" ? Stream.empty : Stream.succeed(encoder.encode(text)))
    )
  }

  get json(): Effect.Effect<unknown, HttpClientError.ResponseError> {
    return Effect.map(this.text, (text): unknown => JSON.parse(text))
  }

  get urlParamsBody(): Effect.Effect<never> {
    return Effect.dieMessage("nothing asks for this")
  }

  get formData(): Effect.Effect<never> {
    return Effect.dieMessage("nothing asks for this")
  }

  get arrayBuffer(): Effect.Effect<never> {
    return Effect.dieMessage("nothing asks for this")
  }

  toJSON(): unknown {
    return { _id: "SimulatedResponse", status: this.status }
  }
}

const operationOf = (method: string, path: string): Operation => {
  if (method === "POST" && path === "/v2/files/upload") return "initiate"
  if (method === "POST" && path === "/v2/files/large-upload") return "initiateLarge"
  if (method === "POST" && path.endsWith("/large-upload/complete")) return "completeLarge"
  if (method === "POST" && path.endsWith("/upload/complete")) return "complete"
  if (method === "GET" && /^\/v1\/files\/[^/]+\/download$/.test(path)) return "download"
  return method === "GET" && /^\/v1\/files\/[^/]+$/.test(path) ? "file" : "other"
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const textOf = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

const listedIn = (text: string): Exchange["listed"] => {
  if (text === "") return undefined
  const body: unknown = JSON.parse(text)
  return isRecord(body) && Array.isArray(body.parts)
    ? body.parts.filter(isRecord).map((part) => ({ partNumber: Number(part.part_number), etag: String(part.etag) }))
    : undefined
}

const fileIdIn = (path: string): string | undefined => /^\/v[12]\/files\/([^/]{22})(?:\/|$)/.exec(path)?.[1]

const nameIn = (text: string): string | undefined => /"name":"([^"]*)"/.exec(text)?.[1]

interface Begun {
  readonly exchange: Exchange
  readonly call: CallTrouble | undefined
  readonly put: PutTrouble | undefined
}

/** One request on its way. */
class Connection {
  private readonly exchange: Exchange
  private readonly callTrouble: CallTrouble | undefined
  private readonly putTrouble: PutTrouble | undefined
  private readonly waits = new Set<Wait>()
  private readonly sent: Array<Uint8Array> = []
  private bytesSent = 0
  private isOver = false
  fail: (code: string, cause?: unknown) => void = () => {}
  succeed: (answer: Answer, rest: Effect.Effect<string, "broken">) => void = () => {}

  constructor(
    private readonly network: Network,
    private readonly process: Process,
    { call, exchange, put }: Begun
  ) {
    this.exchange = exchange
    this.callTrouble = call
    this.putTrouble = put
  }

  private get world(): World {
    return this.network.world
  }

  private get oneWay(): number {
    const { chance, scenario } = this.world
    return scenario.latency * chance.between(0.5, 1.5)
  }

  private later(millis: number, run: () => void): void {
    if (this.isOver) return
    const wait = this.process.after(millis, () => {
      this.waits.delete(wait)
      if (!this.isOver && this.exchange.isCut !== true) run()
    })
    this.waits.add(wait)
  }

  /** Whatever becomes of the client. */
  private anyway(millis: number, run: () => void): void {
    this.world.timeline.after(millis, run)
  }

  private over(by: "answer" | "break" | "client"): void {
    if (this.isOver) return
    this.isOver = true
    for (const wait of this.waits) this.process.cancel(wait)
    this.waits.clear()
    if (this.process.isAlive) this.world.end(this.exchange, by)
  }

  private break(code: string, cause?: unknown): void {
    if (this.isOver || !this.process.isAlive) return
    this.exchange.broke = { ...this.world.moment(), code }
    this.over("break")
    if (this.process.isAlive) this.fail(code, cause)
  }

  private breakLater(code: string): void {
    this.later(this.oneWay, () => this.break(code))
  }

  /** The client lets go of it. What had arrived may still land. */
  abort(): void {
    this.over("client")
  }

  private deliver(answer: Answer, isCutOff: boolean): void {
    this.later(this.oneWay, () => {
      const tell = () => {
        const moment = this.world.moment()
        if (!this.process.isAlive) return
        const seconds = answer.headers["retry-after"]
        this.exchange.told = {
          ...moment,
          status: answer.status,
          kind: answer.kind,
          meaning: answer.meaning,
          etag: ["stored", "there", "damaged"].includes(answer.meaning ?? "never") ? answer.etag : undefined,
          retryAfter: seconds === undefined ? undefined : Number(seconds) * 1000
        }
        const seemsStored = answer.meaning === "damaged" && !this.world.scenario.answersChecksum
        if (answer.meaning === "stored" || seemsStored) this.network.told(this.exchange, this.bytesSent)
        this.over("answer")
      }
      if (isCutOff) {
        const rest = Effect.async<string, "broken">((resume) => {
          this.later(this.oneWay, () => {
            this.exchange.broke = { ...this.world.moment(), code: "ECONNRESET" }
            this.over("break")
            resume(Effect.fail("broken"))
          })
          return Effect.sync(() => this.abort())
        })
        return this.succeed(answer, rest)
      }
      tell()
      if (this.process.isAlive) this.succeed(answer, Effect.succeed(answer.body))
    })
  }

  // Calls

  call(text: string): void {
    const { chance } = this.world
    const trouble = this.callTrouble
    const carriedOut = () => this.network.servers.call(this.exchange, text, trouble)
    switch (trouble) {
      case "connection refused":
        return this.breakLater("ECONNREFUSED")
      case "name not found":
        return this.breakLater(chance.pick(["ENOTFOUND", "EAI_AGAIN"]))
      case "reset before it arrived":
        return this.breakLater("ECONNRESET")
      case "no answer, not done":
        return
      case "answer lost":
        return this.later(this.oneWay, () => {
          carriedOut()
          this.breakLater(chance.pick(["ECONNRESET", "UND_ERR_SOCKET", "EPIPE"]))
        })
      case "no answer, done":
        return this.anyway(this.oneWay, () => {
          carriedOut()
        })
      default: {
        const slowness = trouble === "slow answer" ? chance.between(1000, 50_000) : this.oneWay
        // Once it is on the wire it is carried out, whoever waits for it.
        return this.anyway(this.oneWay, () => {
          if (!this.process.isAlive && chance.happens(0.5)) return
          const answer = carriedOut()
          this.later(slowness, () => this.deliver(answer, trouble === "answer cut off"))
        })
      }
    }
  }

  // PUTs

  /** Sends the bytes of a body, piece by piece; `next` gives them. */
  put(url: URL, next: (piece: (bytes: Uint8Array) => void, end: () => void, failed: (cause: unknown) => void) => void) {
    const trouble = this.putTrouble
    const { chance } = this.world
    const length = Number(this.exchange.headers["content-length"] ?? 0)
    switch (trouble) {
      case "connection refused":
        return this.breakLater("ECONNREFUSED")
      case "name not found":
        return this.breakLater("ENOTFOUND")
      case "name service down":
        return this.breakLater("EAI_AGAIN")
      case "connect timed out":
        return this.later(10_000, () => this.break("ETIMEDOUT"))
      case "reset before the body":
        return this.breakLater("ECONNRESET")
      case "stall before the body":
        return
      default:
    }
    const stopsAt = trouble === "reset in the body" || trouble === "stall in the body" || trouble === "partial body"
      ? chance.whole(0, Math.max(0, length - 1))
      : undefined
    const early = trouble !== undefined && isStorageRow(trouble) && chance.happens(0.25)
    const send = (): void =>
      next(
        (bytes) => {
          this.network.sending++
          const millis = bytes.length * 1000 * this.network.sending / this.world.scenario.bandwidth
          this.anyway(millis, () => {
            this.network.sending--
          })
          this.later(millis, () => {
            this.world.moment()
            this.sent.push(bytes)
            this.bytesSent += bytes.length
            if (stopsAt !== undefined && this.bytesSent > stopsAt) return this.stopped(trouble)
            if (early && isStorageRow(trouble)) {
              return this.deliver(this.network.servers.row(storageRows[trouble], trouble, this.exchange), false)
            }
            send()
          })
        },
        () => this.sentAll(url, trouble),
        (cause) => this.break("UND_ERR_ABORTED", cause)
      )
    this.later(2 * this.oneWay, send)
  }

  private stopped(trouble: PutTrouble | undefined): void {
    if (trouble === "reset in the body") return this.break("ECONNRESET")
    if (trouble === "partial body") {
      return this.later(
        5000,
        () =>
          this.deliver(
            this.network.servers.row(storageRows["400 RequestTimeout"], "400 RequestTimeout", this.exchange),
            false
          )
      )
    }
  }

  private bytes(trouble: PutTrouble | undefined): Uint8Array {
    const bytes = new Uint8Array(this.bytesSent)
    let offset = 0
    for (const piece of this.sent) {
      bytes.set(piece, offset)
      offset += piece.length
    }
    if (trouble === "bytes damaged") bytes[0] = (bytes[0] ?? 0) ^ 0xff
    return bytes
  }

  /** From here on storage has everything, whether the client waits or not. */
  private sentAll(url: URL, trouble: PutTrouble | undefined): void {
    const { exchange, network, world } = this
    const { chance } = world
    const { servers } = network
    const bytes = this.bytes(trouble)
    const length = Number(exchange.headers["content-length"] ?? bytes.length)
    if (bytes.length < length) return
    const delay = chance.weighed([[0, 3], [chance.between(100, 4000), 3], [chance.between(4000, 400_000), 4]])
    const landLate = () =>
      this.anyway(delay + this.oneWay, () => {
        if (servers.refusal(url, exchange.headers) === undefined) servers.store(exchange, url, bytes, true)
      })

    switch (trouble) {
      case "reset after the body, not stored":
        return this.breakLater(chance.pick(["ECONNRESET", "EPIPE", "ETIMEDOUT"]))
      case "stall before the answer, not stored":
        return
      case "lands late":
        return landLate()
      case "lands late after a reset":
        landLate()
        return this.breakLater("ECONNRESET")
      default:
    }
    this.anyway(this.oneWay, () => {
      if (!this.process.isAlive && chance.happens(0.3)) return
      exchange.arrived = world.moment()
      if (trouble !== undefined && isStorageRow(trouble)) {
        return this.deliver(servers.row(storageRows[trouble], trouble, exchange), false)
      }
      const refusal = servers.refusal(url, exchange.headers)
      if (refusal !== undefined) return this.deliver(refusal, false)
      const etag = servers.store(exchange, url, bytes, false)
      if (etag === undefined) return this.deliver(servers.row(storageRows["404 NoSuchUpload"], "404", exchange), false)
      const answer = servers.stored(bytes, etag, trouble !== "etag missing")
      switch (trouble) {
        case "reset after the body, stored":
          return this.breakLater("ECONNRESET")
        case "keep-alive closed":
          return this.breakLater("UND_ERR_SOCKET")
        case "stall before the answer, stored":
          return
        case "bytes damaged":
          return this.deliver({ ...answer, kind: "damaged", meaning: "damaged" }, false)
        case "duplicated":
          landLate()
          return this.deliver(answer, false)
        case "slow answer":
          return this.later(chance.between(1000, 100_000), () => this.deliver(answer, false))
        default:
          return this.later(this.oneWay, () => this.deliver(answer, trouble === "answer cut off"))
      }
    })
  }
}

/** The network: everything that a client sends goes through it, and meets its troubles there. */
export class Network {
  /** How many pieces are on the line: they share its bandwidth. */
  sending = 0

  constructor(
    readonly world: World,
    readonly servers: Servers,
    private readonly sourceOf: (name: string) => SimulatedSource | undefined
  ) {}

  told(exchange: Exchange, bytes: number): void {
    const session = this.world.history.sessions.get(exchange.fileId ?? "")
    if (session === undefined) return
    this.sourceOf(session.name)?.confirm(exchange.life, `${session.fileId}/${exchange.part}`, bytes)
  }

  /** The computer sleeps, or a life of it is frozen: the other ends give up, and nobody tells this one. */
  cut(life?: number): void {
    for (const exchange of this.world.open) if (life === undefined || exchange.life === life) exchange.isCut = true
  }

  private begin(request: HttpClientRequest.HttpClientRequest, url: URL, text: string): Begun | undefined {
    const { world } = this
    if (!world.process.isAlive) return undefined
    const isPut = url.origin === storageOrigin
    const started = world.moment()
    if (!world.process.isAlive) return undefined
    const path = url.pathname.replace(/^\/api/, "")
    const grant = isPut ? this.servers.grantOf(url) : undefined
    const drawn = isPut && path !== "" ? world.putTrouble() : undefined
    const put = this.servers.meets(drawn, grant) ? drawn : undefined
    const operation = isPut ? "put" : url.origin === serviceOrigin ? operationOf(request.method, path) : "other"
    const call = isPut ? undefined : world.callTrouble(operation)
    const fileId = isPut ? grant?.session.known.fileId : fileIdIn(path)
    const exchange: Exchange = {
      id: world.history.exchanges.length,
      life: world.life,
      operation,
      url: url.href,
      headers: {
        ...request.headers,
        ...(request.body.contentLength === undefined ? {} : { "content-length": String(request.body.contentLength) })
      },
      name: nameIn(text) ?? world.history.sessions.get(fileId ?? "")?.name,
      fileId,
      part: grant?.part,
      listed: isPut ? undefined : listedIn(text),
      started,
      trouble: put ?? call
    }
    if (exchange.trouble !== undefined) world.met(`${isPut ? "PUT" : "call"}: ${exchange.trouble}`)
    world.history.exchanges.push(exchange)
    world.open.add(exchange)
    return { exchange, call, put }
  }

  private execute(
    request: HttpClientRequest.HttpClientRequest,
    url: URL
  ): Effect.Effect<Response, HttpClientError.HttpClientError> {
    const { world } = this
    const { process } = world
    const isPut = url.origin === storageOrigin
    const text = isPut ? "" : textOf(request)
    const begun = this.begin(request, url, text)
    if (begun === undefined) return Effect.async<never>(() => {})
    const connection = new Connection(this, process, begun)
    const failure = (code: string, cause?: unknown) =>
      new HttpClientError.RequestError({
        request,
        reason: "Transport",
        cause: cause ?? Object.assign(new Error(`${code} at ${url.href}`), { code })
      })
    const answered = (run: () => void) =>
      Effect.async<Response, HttpClientError.HttpClientError>((resume) => {
        connection.fail = (code, cause) => resume(Effect.fail(failure(code, cause)))
        connection.succeed = (answer, rest) => resume(Effect.succeed(new SimulatedResponse(request, answer, rest)))
        run()
        return Effect.sync(() => connection.abort())
      })
    if (!isPut) return answered(() => connection.call(text))
    const { body } = request
    if (body._tag === "Stream") return Effect.dieMessage("no source of the simulation is sent as a Stream")
    const content = body._tag === "Raw" ? body.body : body._tag === "Uint8Array" ? body.body : new Uint8Array()
    const pieces = content instanceof NativeContent ? content : once(content)
    return answered(() =>
      connection.put(url, (piece, end, failed) => {
        const next = pieces.next()
        if (next === undefined) end()
        else if (next instanceof Uint8Array) piece(next)
        else failed(next)
      })
    )
  }

  /** The platform's own client where spans and trace headers are looked at; elsewhere one that costs less. */
  get client(): HttpClient.HttpClient {
    return this.world.scenario.isPrinted
      ? HttpClient.make((request, url) => Effect.suspend(() => this.execute(request, url)))
      : HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
        Effect.flatMap((request) => this.execute(request, new URL(request.url))),
        Effect.succeed
      )
  }
}

const once = (content: unknown): NativeContent => {
  let left = content instanceof Uint8Array ? content : undefined
  return new NativeContent(() => {
    const bytes = left
    left = undefined
    return bytes
  })
}
