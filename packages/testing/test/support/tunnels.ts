import { Effect } from "effect"
import { createServer } from "node:http"
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
 * A proxy that makes tunnels, and tells what it was asked for. `endOf` gives where one leads, or the status line by which it
 * is refused. It can read nothing of what goes through those of TLS.
 */
export const tunnels = (endOf: (asked: Asked) => URL | string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<Tunnels & { readonly close: Effect.Effect<void> }>((resume) => {
        const asked: Array<Asked> = []
        const open = new Set<Socket>()
        const keep = (socket: Socket) => {
          open.add(socket)
          socket.on("error", () => socket.destroy())
        }
        const server = createServer((_, response) => response.writeHead(405).end())
        server.on("connect", (request, socket: Socket) => {
          keep(socket)
          const one = { target: request.url ?? "", authorization: request.headers["proxy-authorization"] }
          asked.push(one)
          const end = endOf(one)
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
          there.on("close", () => socket.destroy())
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
