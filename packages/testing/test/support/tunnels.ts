import { Effect } from "effect"
import { createServer, request as ask } from "node:http"
import { connect, type Socket } from "node:net"

/** What a proxy is asked for. */
export interface Asked {
  readonly target: string
  readonly authorization: string | undefined
}

interface Tunnels {
  /** On 127.0.0.1. */
  readonly port: number
  readonly asked: ReadonlyArray<Asked>
}

/**
 * A proxy that makes tunnels, and tells what it was asked for. `endOf` gives where one leads, the status line by which it
 * is refused, or nothing: then its connection is closed. `forwardTo` gives where a request with a whole URL goes; without it,
 * such requests are refused. It can read nothing of what goes through tunnels of TLS.
 */
export const tunnels = (
  endOf: (asked: Asked) => URL | string | undefined,
  forwardTo?: (asked: Asked) => URL | number
) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<Tunnels & { readonly close: Effect.Effect<void> }>((resume) => {
        const asked: Array<Asked> = []
        const open = new Set<Socket>()
        const keep = (socket: Socket) => {
          open.add(socket)
          socket.on("error", () => socket.destroy())
        }
        const server = createServer((request, response) => {
          const one = { target: request.url ?? "", authorization: request.headers["proxy-authorization"] }
          asked.push(one)
          const end = forwardTo?.(one) ?? 405
          if (typeof end === "number") {
            response.writeHead(end).end()
            return
          }
          const path = one.target.replace(/^http:\/\/[^/]*/, "")
          const { headers, method } = request
          request.pipe(ask({ host: end.hostname, port: end.port, method, path, headers }, (answer) => {
            response.writeHead(answer.statusCode ?? 500, answer.headers)
            answer.pipe(response)
          }))
        })
        server.on("connect", (request, socket: Socket) => {
          keep(socket)
          const one = { target: request.url ?? "", authorization: request.headers["proxy-authorization"] }
          asked.push(one)
          const end = endOf(one)
          if (end === undefined) {
            socket.destroy()
            return
          }
          if (typeof end === "string") {
            socket.end(`HTTP/1.1 ${end}\r\n\r\n`)
            return
          }
          const there = connect(Number(end.port), end.hostname, () => {
            socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
            socket.pipe(there)
            there.pipe(socket)
          })
          keep(there)
          socket.on("close", () => there.destroy())
          // what has come from there still goes on
          there.on("close", () => socket.destroySoon())
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = Effect.async<void>((done) => {
            for (const socket of open) socket.destroy()
            server.close(() => done(Effect.void))
          })
          resume(Effect.succeed({ port, asked, close }))
        })
      }),
      ({ close }) => close
    ),
    ({ asked, port }): Tunnels => ({ asked, port })
  )
