import { Effect } from "effect"
import * as Net from "node:net"

/** The port of a server that goes with the scope, and does nothing with a connection but what it is told. */
export const serve = (onConnection: (socket: Net.Socket) => void) =>
  Effect.acquireRelease(
    Effect.async<Net.Server>((resume) => {
      const server = Net.createServer(onConnection)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }))
