import { Effect } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"

/** The origin of a server that goes with the scope. */
export const listening = (onRequest: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer(onRequest)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))
