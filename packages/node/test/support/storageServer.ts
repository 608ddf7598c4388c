import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"

export interface Received {
  readonly method: string
  /** Path and query, as they came over the wire. */
  readonly target: string
  readonly headers: Http.IncomingHttpHeaders
  /** The number of the connection, from 0. */
  readonly connection: number
  bytes: number
  sha256: string | undefined
}

export interface Context {
  readonly received: Received
  readonly request: Http.IncomingMessage
  readonly response: Http.ServerResponse
  readonly socket: Socket
  /** Reads the body to its end. */
  readonly drain: () => Promise<void>
}

export interface StorageServer {
  readonly origin: string
  readonly requests: ReadonlyArray<Received>
  readonly connections: () => { readonly made: number; readonly open: number }
}

const drain = async (request: Http.IncomingMessage, received: Received) => {
  const hash = createHash("sha256")
  for await (const chunk of request) {
    received.bytes += chunk.length
    hash.update(chunk)
  }
  received.sha256 = hash.digest("hex")
}

/**
 * A server on a port of its own that goes with the scope. It answers as its handler says, and nothing by itself but `100
 * Continue` to a body that is announced; with `onExpect`, not even that: then the handler gets such a request at once.
 */
export const serve = (
  handler: (context: Context) => void | Promise<void>,
  options: {
    readonly tls?: Https.ServerOptions
    readonly onConnection?: (socket: Socket, number: number) => void
    readonly onExpect?: true
  } = {}
) =>
  Effect.acquireRelease(
    Effect.async<StorageServer & { readonly server: Http.Server }>((resume) => {
      const requests: Array<Received> = []
      const sockets = new Map<Socket, number>()
      let open = 0
      const onRequest: Http.RequestListener = (request, response) => {
        const received: Received = {
          method: request.method ?? "",
          target: request.url ?? "",
          headers: request.headers,
          connection: sockets.get(request.socket) ?? -1,
          bytes: 0,
          sha256: undefined
        }
        requests.push(received)
        // a client that goes away is what many of these tests are about
        request.on("error", () => undefined)
        Promise.resolve(
          handler({ received, request, response, socket: request.socket, drain: () => drain(request, received) })
        ).catch(() => undefined)
      }
      const server = options.tls === undefined
        ? Http.createServer(onRequest)
        : Https.createServer(options.tls, onRequest)
      if (options.onExpect === true) server.on("checkContinue", onRequest)
      server.on(options.tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
        options.onConnection?.(socket, sockets.size)
        sockets.set(socket, sockets.size)
        open++
        socket.on("close", () => open--)
        socket.on("error", () => undefined)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          server,
          origin: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
          requests,
          connections: () => ({ made: sockets.size, open })
        }))
      })
    }),
    ({ server }) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

/** Stores: reads all, then answers with an etag. */
export const store = async ({ drain, received, response }: Context) => {
  await drain()
  response.writeHead(200, { etag: `"${received.sha256}"` }).end()
}
