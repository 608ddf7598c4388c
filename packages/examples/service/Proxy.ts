/** What stands before the instances: each request goes to the next one, and to another if that one is gone. */
import { Effect } from "effect"
import { createServer, request as ask } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"

const send = (
  incoming: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  origins: ReadonlyArray<string>
): void => {
  const [origin, ...others] = origins
  if (origin === undefined) {
    response.writeHead(502).end()
    return
  }
  const { hostname, port } = new URL(origin)
  const { headers, method, url } = incoming
  const there = ask({ hostname, port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
    answer.on("error", () => response.destroy())
  })
  there.on("error", (error) => {
    // one that is not there has received nothing; of another it is not known, and the client asks again
    if ("code" in error && error.code === "ECONNREFUSED") send(incoming, body, response, others)
    else response.destroy()
  })
  there.end(body)
}

/** Its origin. */
export const start = (origins: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly origin: string; readonly close: () => void }>((resume) => {
        let turn = 0
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            turn += 1
            const order = origins.map((_, index) => origins[(turn + index) % origins.length] ?? "")
            send(request, Buffer.concat(chunks), response, order)
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({
            origin: `http://127.0.0.1:${port}`,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ origin }) => origin
  )
