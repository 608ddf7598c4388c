import { Effect } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"

/** A server on this machine as long as the scope is open, by its origin. */
export const listening = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server: Server = createServer(answer).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))
