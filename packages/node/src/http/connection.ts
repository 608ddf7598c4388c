import type { SourceError } from "@stevedore/core/SourceError"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Tls from "node:tls"
import type { AnswerHead } from "./answerParser.js"
import { AnswerParser } from "./answerParser.js"
import * as PeerSocket from "./peerSocket.js"
import { ReceiveBuffers } from "./receiveBuffers.js"
import type { RequestHead } from "./requestHead.js"
import { written } from "./requestHead.js"
import { refusalOf } from "./tunnel.js"

/** Why an exchange cannot continue. The cause may contain anything: only its code may be used. */
export class Broken {
  readonly _tag = "Broken"
  /** `head` is that of the response, if it had arrived. */
  constructor(readonly cause: unknown, readonly head: AnswerHead | undefined) {}

  get answered(): boolean {
    return this.head !== undefined
  }
}

const small = { count: 2, size: 32_768 }

const large = { count: 2, size: 2_097_152 }

// The pause after bytes that are sent slowly, in milliseconds for each: 16 MiB a second.
const pauseOfByte = 1000 / 16_777_216

// How long to wait for a response after the other side has stopped reading, in milliseconds.
const answerAfterWriteError = 1000

/** The way of a connection to where its requests go. */
export interface Route {
  /** Whom to connect to: where the requests go, or a proxy that forwards them. */
  readonly peer: PeerSocket.Peer
  /** The connection to a proxy, through which the peer is reached. */
  readonly tunnel?: Net.Socket | undefined
  /** What a proxy that forwards the requests wants in each of them, and why it made no tunnel. */
  readonly forwarded?: { readonly fields: ReadonlyArray<string>; readonly refusal: unknown } | undefined
}

interface Whole extends Pick<AnswerHead, "status" | "headers"> {
  readonly body: Uint8Array
}

interface Exchange {
  readonly parser: AnswerParser
  head: AnswerHead | undefined
  /** Whether the other side has asked for the body. */
  invited: boolean
  ended: boolean
  sentAll: boolean
}

/**
 * A connection for one exchange at a time: HTTP/1.1 written directly on a Node socket.
 *
 * There are three reasons not to use Node's client. Bytes come from the kernel into reused buffers. A response is read
 * even if the other side has stopped reading the body; Node's client would discard it along with the connection. And a
 * target is sent exactly as it was signed.
 */
export class Connection {
  readonly #socket: Net.Socket
  readonly #buffers = new ReceiveBuffers(small.count, small.size)
  #exchange: Exchange | undefined
  #broken: Broken | undefined
  #established = false
  #writeError: Error | undefined
  #paused = false
  #wake: (() => void) | undefined
  #endWrite: ((broken: Broken) => void) | undefined
  #onIdleEnd: (() => void) | undefined

  constructor(readonly road: Route, session: { tls: Buffer | undefined }, limit = Duration.infinity) {
    const onread = { buffer: () => this.#buffers.room, callback: (length: number) => this.#onRead(length) }
    const { peer, tunnel } = road
    const socket = PeerSocket.open(peer, session, onread, tunnel)
    this.#socket = socket
    if (tunnel !== undefined) socket.on("data", (bytes: Buffer) => this.#onData(bytes))
    PeerSocket.holdWriteErrors(socket, (error) => {
      this.#writeError ??= error
      setTimeout(() => socket.destroy(), answerAfterWriteError).unref()
    })
    if (socket === tunnel) this.#established = true
    else {
      socket.once(PeerSocket.established(socket), () => this.#established = true)
      PeerSocket.endUnlessConnected(socket, limit)
    }
    socket.on("error", (error) => this.#end(error))
    socket.on("end", () => {
      this.#exchange?.parser.close()
      this.#end(hangUp())
      socket.destroy()
    })
    socket.on("close", () => this.#end(hangUp()))
    // a socket that nobody reads does not report its end
    socket.resume()
  }

  /** Starts an exchange by sending the head of a request. */
  request({ fields, method, origin, target }: RequestHead): void {
    const { forwarded } = this.road
    const exchange: Exchange = {
      parser: new AnswerParser({
        onContinue: () => {
          exchange.invited = true
        },
        onHead: (head) => {
          const refusal = forwarded && refusalOf(head, forwarded.refusal)
          if (refusal !== undefined) throw refusal
          exchange.head = head
        },
        onBody: (bytes) => this.#buffers.hold(bytes),
        onEnd: () => {
          exchange.ended = true
        }
      }, method === "HEAD"),
      head: undefined,
      invited: false,
      ended: false,
      sentAll: false
    }
    this.#exchange = exchange
    this.#pause = 0
    // leaves with the first bytes of the body: otherwise it would take its own packet and system call
    this.#socket.cork()
    this.#socket.write(
      forwarded === undefined
        ? written(method, target, fields)
        : written(method, `${origin}${target}`, [...fields, ...forwarded.fields])
    )
  }

  /** Hands bytes to the kernel. Once it has them, or the connection has ended, the buffer may be reused. */
  write(bytes: Uint8Array): Promise<void> {
    const pause = this.#pause
    this.slowBytes -= bytes.byteLength
    this.#pause = this.slowBytes > 0 ? bytes.byteLength * pauseOfByte : 0
    return pause === 0 ? this.#write(bytes) : sleep(pause).then(() => this.#write(bytes))
  }

  #write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken)
      // TLS may report a write after the response to it: then the response says what has become of the bytes
      this.#endWrite = (broken) => broken.answered ? resolve() : reject(broken)
      this.#socket.write(bytes, (error) => {
        // the end of the connection reports what went wrong
        if (error !== undefined && error !== null) return
        this.#endWrite = undefined
        resolve()
      })
      this.#socket.uncork()
    })
  }

  /** Sends a complete body without waiting for the kernel to accept it; once it has, calls back. */
  sendAll(body: Uint8Array, onSent: () => void): void {
    if (body.byteLength > 0) {
      this.#socket.write(body, (error) => {
        if (error === undefined || error === null) onSent()
      })
    }
    this.sentAll()
  }

  /** Marks the body of the request as complete: after the response, the connection can be reused. */
  sentAll(): void {
    this.#socket.uncork()
    if (this.#exchange !== undefined) this.#exchange.sentAll = true
  }

  /** The source of the body has failed, or died, or the time is up: stops waiting for a response that has not arrived. */
  abandon(cause: SourceError | Cause.Cause<unknown> | "late"): void {
    this.#break(cause)
  }

  /** Sends the head alone. Gives nothing once the other side asks for the body, or the head of a response that comes instead. */
  readonly invited: Effect.Effect<Option.Option<AnswerHead>, Broken> = Effect.suspend(() => {
    this.#socket.uncork()
    return this.#when(() => {
      const { head, invited = false } = this.#exchange ?? {}
      return head !== undefined ? Option.some(head) : invited ? Option.none() : undefined
    })
  })

  /** The head of the response. */
  readonly answered: Effect.Effect<AnswerHead, Broken> = this.#when(() => this.#exchange?.head)

  /** The next bytes of the response's body, valid until the next pull; fails with none at its end. */
  readonly pull: Effect.Effect<Uint8Array, Option.Option<Broken>> = Effect.suspend(() => {
    this.#buffers.giveBack()
    this.#resume()
    return Effect.mapError(
      this.#when(() => this.#buffers.isEmpty ? this.#exchange?.ended === true ? false : undefined : true),
      Option.some
    )
  }).pipe(
    Effect.flatMap((more) => {
      const bytes = more ? this.#buffers.take() : undefined
      return bytes === undefined ? Effect.fail(Option.none()) : Effect.succeed(bytes)
    })
  )

  /** The whole response. It ends early once its body is longer than `longest`. */
  whole(longest: number): Effect.Effect<Whole, Broken> {
    return Effect.suspend(() => {
      const pieces: Array<Uint8Array> = []
      let length = 0
      const head = this.#when(() => {
        for (let bytes = this.#buffers.take(); bytes !== undefined; bytes = this.#buffers.take()) {
          pieces.push(new Uint8Array(bytes))
          length += bytes.byteLength
        }
        this.#resume()
        return length > longest || this.#exchange?.ended === true ? this.#exchange?.head : undefined
      })
      return Effect.map(head, ({ headers, status }) => ({ status, headers, body: joined(pieces) }))
    })
  }

  /** How many bytes of the body are sent with a pause after each piece, in which a response may arrive. */
  slowBytes = 0

  #pause = 0

  /** Switches to larger buffers, for a large body. */
  expectMuch(): void {
    this.#buffers.resize(large.count, large.size)
  }

  /** How long the other side keeps the connection open while it is idle, in milliseconds, if it said so. */
  patience = Infinity

  /** Of the response, once its head is there. */
  get status(): number | undefined {
    return this.#exchange?.head?.status
  }

  /** Ends the exchange. Returns whether the connection can be reused. */
  release(): boolean {
    const exchange = this.#exchange
    this.#exchange = undefined
    const [, seconds] = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(exchange?.head?.headers["keep-alive"] ?? "") ?? []
    // a second less: the other side counts from when it responded, this side from when the response arrived
    if (seconds !== undefined) this.patience = Math.max(0, Number(seconds) * 1000 - 1000)
    this.#buffers.clear()
    this.#resume()
    // what still waits to be sent would come before the next request
    const isSent = exchange?.sentAll === true && this.#socket.writableLength === 0
    return this.#broken === undefined && isSent && exchange.ended && exchange.head?.persistent === true
  }

  /** Becomes idle until its next exchange, without keeping the process alive. */
  rest(onEnd: () => void): void {
    this.#onIdleEnd = onEnd
    this.#socket.unref()
  }

  /** Prepares an idle connection for reuse. */
  wakeUp(): void {
    this.#onIdleEnd = undefined
    this.#socket.ref()
  }

  /** Closes it at once, whatever is in transit: what the kernel has not sent yet is discarded. */
  readonly close: Effect.Effect<void> = Effect.async((resume) => {
    const socket = this.#socket
    if (socket.closed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
    if (socket.connecting || socket instanceof Tls.TLSSocket) socket.destroy()
    else socket.resetAndDestroy()
  })

  #onRead(length: number): boolean {
    const bytes = this.#buffers.read(length)
    try {
      if (this.#exchange === undefined) throw hangUp()
      this.#exchange.parser.push(bytes)
    } catch (error) {
      this.#break(error)
      this.#socket.destroy()
    }
    // TLS may deliver more after being paused: that must not resume it.
    if (!this.#buffers.advance()) this.#paused = true
    this.#notify()
    return !this.#paused
  }

  // A tunnel's bytes come in memory of their own
  #onData(bytes: Buffer): void {
    for (let position = 0; position < bytes.byteLength && this.#broken === undefined;) {
      const length = bytes.copy(this.#buffers.room, 0, position)
      position += length
      if (!this.#onRead(length)) this.#socket.pause()
    }
  }

  #resume(): void {
    if (!this.#paused || !this.#buffers.hasFree) return
    this.#paused = false
    this.#socket.resume()
  }

  #end(error: Error): void {
    const cause = this.#writeError ?? error
    // whatever the code of the error is, nothing was sent
    if (!this.#established) Object.assign(cause, { arrived: "no" })
    this.#break(cause)
  }

  #break(cause: unknown): void {
    this.#broken ??= new Broken(cause, this.#exchange?.head)
    this.#endWrite?.(this.#broken)
    this.#endWrite = undefined
    this.#onIdleEnd?.()
    this.#notify()
  }

  #notify(): void {
    this.#wake?.()
  }

  #when<A>(state: () => A | undefined): Effect.Effect<A, Broken> {
    const settled = (): Effect.Effect<A, Broken> | undefined => {
      const now = state()
      if (now !== undefined) return Effect.succeed(now)
      return this.#broken === undefined ? undefined : Effect.fail(this.#broken)
    }
    return Effect.suspend(() =>
      settled() ?? Effect.async<A, Broken>((resume) => {
        // Everything that arrives in the same turn of the event loop is taken together. Whoever was interrupted meanwhile is
        // not resumed, and so needs no canceler, which would take four times the steps.
        const exchange = this.#exchange
        const settledHere = () => exchange === this.#exchange ? settled() : undefined
        this.#wake = () => {
          if (settledHere() === undefined) return
          this.#wake = undefined
          setImmediate(() => resume(settledHere() ?? Effect.never))
        }
      })
    )
  }
}

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array =>
  pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)

const hangUp = (): Error => Object.assign(new Error("The peer closed the connection"), { code: "ECONNRESET" })
