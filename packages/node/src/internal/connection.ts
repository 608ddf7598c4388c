import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { SourceError } from "@stevedore/core/SourceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Net from "node:net"
import * as Tls from "node:tls"
import type { AnswerHead } from "./answerParser.js"
import { AnswerParser } from "./answerParser.js"
import { ReceiveBuffers } from "./receiveBuffers.js"

/** Where a connection leads. */
export interface Peer {
  readonly host: string
  readonly port: number
  /** Absent without TLS. */
  readonly tls: Tls.ConnectionOptions | undefined
}

/** Why an exchange cannot go on. What it was caused by may hold anything: only its code is to be looked at. */
export class Broken {
  readonly _tag = "Broken"
  constructor(readonly cause: unknown, readonly answered: boolean) {}
}

const small = { count: 2, size: 32_768 }

const large = { count: 2, size: 2_097_152 }

// How long an answer may still come after the other side has stopped to take bytes.
const answerAfterWriteError = 1000

// A timer of Node that is longer ends at once.
const longestTimer = 2 ** 31 - 1

interface Exchange {
  readonly parser: AnswerParser
  head: AnswerHead | undefined
  ended: boolean
  sentAll: boolean
}

/**
 * One connection for one exchange at a time, HTTP/1.1 by hand over a socket of Node.
 *
 * By hand for three reasons. Bytes come from the kernel into buffers that are used again. An answer is read also when
 * the other side has stopped to take the body, where Node's client would throw it away with the connection. And a
 * target is sent as it was signed.
 *
 * @internal
 */
export class Connection {
  readonly #socket: Net.Socket
  readonly #buffers = new ReceiveBuffers(small.count, small.size)
  #exchange: Exchange | undefined
  #broken: Broken | undefined
  #writeError: unknown
  #paused = false
  #wake: (() => void) | undefined
  #failWrite: ((broken: Broken) => void) | undefined
  #onIdleEnd: (() => void) | undefined

  constructor(peer: Peer, session: { tls: Buffer | undefined }, limit = Duration.infinity) {
    const { host, port } = peer
    const onread = { buffer: () => this.#buffers.room, callback: (length: number) => this.#onRead(length) }
    const socket = peer.tls === undefined
      ? Net.connect({ host, port, noDelay: true, onread })
      : connectSecurely(peer.tls, { host, port, onread, session: session.tls })
    this.#socket = socket
    if (socket instanceof Tls.TLSSocket) socket.on("session", (ticket) => session.tls = ticket)
    holdWriteErrors(socket, (error) => {
      this.#writeError ??= error
      setTimeout(() => socket.destroy(), answerAfterWriteError).unref()
    })
    socket.setNoDelay(true)
    endUnlessConnected(socket, limit)
    socket.on("error", (error) => this.#break(this.#writeError ?? error))
    socket.on("end", () => {
      this.#exchange?.parser.close()
      this.#break(this.#writeError ?? hangUp())
      socket.destroy()
    })
    socket.on("close", () => this.#break(this.#writeError ?? hangUp()))
    // without anybody to read from it a socket does not tell its end
    socket.resume()
  }

  /** Begins an exchange by sending the head of a request. */
  request(head: string, method: HttpMethod): void {
    const exchange: Exchange = {
      parser: new AnswerParser({
        onHead: (head) => {
          exchange.head = head
        },
        onBody: (bytes) => this.#buffers.hold(bytes),
        onEnd: () => {
          exchange.ended = true
        }
      }, method === "HEAD"),
      head: undefined,
      ended: false,
      sentAll: false
    }
    this.#exchange = exchange
    // goes with the first bytes of the body: without this it would be a packet and a system call of its own
    this.#socket.cork()
    // as bytes: for text beside bytes the kernel's call is made ready piece by piece
    this.#socket.write(Buffer.from(head, "latin1"))
  }

  /** Hands bytes to the kernel. They may be changed when it has them. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken)
      this.#failWrite = reject
      this.#socket.write(bytes, (error) => {
        // what is wrong with the connection is told by its end
        if (error !== undefined && error !== null) return
        this.#failWrite = undefined
        resolve()
      })
      this.#socket.uncork()
    })
  }

  /** Sends a body that is whole, without waiting until the kernel has it. */
  sendAll(body: Uint8Array): void {
    if (body.byteLength > 0) this.#socket.write(body)
    this.sentAll()
  }

  /** The body of the request is whole: after its answer the connection can be used again. */
  sentAll(): void {
    this.#socket.uncork()
    if (this.#exchange !== undefined) this.#exchange.sentAll = true
  }

  /** The source of the body has failed: nobody waits any longer for an answer that has not come. */
  abandon(cause: SourceError): void {
    this.#break(cause)
  }

  /** The beginning of the answer. */
  readonly answered: Effect.Effect<AnswerHead, Broken> = this.#when(() => this.#exchange?.head)

  /** The next bytes of the answer's body, valid until they are asked for again; none at its end. */
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

  /** Expects much: larger buffers from here on. */
  expectMuch(): void {
    this.#buffers.resize(large.count, large.size)
  }

  /** For how long the other side keeps the connection when it rests, in milliseconds, by what it told. */
  patience = Infinity

  /** Ends the exchange: whether another may follow on this connection. */
  release(): boolean {
    const exchange = this.#exchange
    this.#exchange = undefined
    const [, seconds] = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(exchange?.head?.headers["keep-alive"] ?? "") ?? []
    // a second less: it counts from when it has answered, we from when that has come
    if (seconds !== undefined) this.patience = Math.max(0, Number(seconds) * 1000 - 1000)
    this.#buffers.clear()
    this.#resume()
    return this.#broken === undefined && exchange?.ended === true && exchange.sentAll &&
      exchange.head?.persistent === true
  }

  /** Waits for its next exchange, without keeping the process alive. */
  rest(onEnd: () => void): void {
    this.#onIdleEnd = onEnd
    this.#socket.unref()
  }

  /** Is about to be used again. */
  wakeUp(): void {
    this.#onIdleEnd = undefined
    this.#socket.ref()
  }

  /** Closes it at once, whatever is in it: what the kernel has not sent yet is thrown away. */
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
    // TLS may hand over more after it was told to stop: that does not make it go on.
    if (!this.#buffers.advance()) this.#paused = true
    this.#notify()
    return !this.#paused
  }

  #resume(): void {
    if (!this.#paused || !this.#buffers.hasFree) return
    this.#paused = false
    this.#socket.resume()
  }

  #break(cause: unknown): void {
    this.#broken ??= new Broken(cause, this.#exchange?.head !== undefined)
    this.#failWrite?.(this.#broken)
    this.#failWrite = undefined
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
        // What comes in the same turn of the event loop is taken together.
        let turn: NodeJS.Immediate | undefined
        this.#wake = () => {
          if (settled() === undefined) return
          this.#wake = undefined
          turn = setImmediate(() => resume(settled() ?? Effect.never))
        }
        return Effect.sync(() => {
          this.#wake = undefined
          clearImmediate(turn)
        })
      })
    )
  }
}

const hangUp = (): Error => Object.assign(new Error("The other side has closed the connection"), { code: "ECONNRESET" })

// The code is the one by which Node tells of a single address that took too long.
const notConnected = (): Error =>
  Object.assign(new Error("It took too long to connect"), { code: "ERR_SOCKET_CONNECTION_TIMEOUT" })

const endUnlessConnected = (socket: Net.Socket, limit: Duration.Duration): void => {
  if (!Duration.isFinite(limit)) return
  const timer = setTimeout(() => socket.destroy(notConnected()), Math.min(Duration.toMillis(limit), longestTimer))
  const settle = () => clearTimeout(timer)
  socket.once(socket instanceof Tls.TLSSocket ? "secureConnect" : "connect", settle)
  socket.once("close", settle)
}

const connectSecurely = (
  options: Tls.ConnectionOptions,
  more: {
    readonly host: string
    readonly port: number
    readonly onread: Net.OnReadOpts
    readonly session: Buffer | undefined
  }
): Tls.TLSSocket => {
  const { host, onread, port, session } = more
  return Tls.connect({
    ALPNProtocols: ["http/1.1"],
    ...options,
    ...(Net.isIP(host) === 0 ? { servername: host } : {}),
    ...(session === undefined ? {} : { session }),
    ...{ onread },
    host,
    port
  })
}

/**
 * A socket of Node destroys itself when it cannot write, and with it goes an answer that has come but was not read:
 * why storage took no more of the body. So a write that fails does not end; the answer or the end of the connection
 * comes next.
 */
const holdWriteErrors = (socket: Net.Socket, onError: (error: Error) => void): void => {
  type Done = (error?: Error | null) => void
  const held = (done: Done): Done => (error) => error === undefined || error === null ? done() : onError(error)
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, held(done))
  const writeAll = socket._writev?.bind(socket)
  if (writeAll !== undefined) socket._writev = (chunks, done) => writeAll(chunks, held(done))
}
