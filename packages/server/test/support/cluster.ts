import type { Scope } from "effect"
import { Effect, Exit, Redacted } from "effect"
import { createServer, request as ask } from "node:http"
import type { Socket } from "node:net"
import * as RealStore from "./realStore.js"

export { type Instance, instance, script } from "./processes.js"

/** What an instance is told by its environment. */
export const environment = (database: string, bucket: string, endpoint = RealStore.settings.endpoint) => ({
  STEVEDORE_SERVE_DATABASE_URL: database,
  STEVEDORE_SERVE_BUCKET: bucket,
  STEVEDORE_SERVE_S3_ENDPOINT: endpoint,
  STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT: RealStore.settings.endpoint,
  STEVEDORE_SERVE_S3_REGION: RealStore.credential.region,
  STEVEDORE_SERVE_S3_ACCESS_KEY_ID: RealStore.credential.accessKeyId,
  STEVEDORE_SERVE_S3_SECRET_ACCESS_KEY: Redacted.value(RealStore.credential.secretAccessKey),
  STEVEDORE_SERVE_KMS_KEY_ID: RealStore.settings.kmsKeyId
})

/** What happens at a call that goes through a gate: before the store gets it, or when it has answered. */
export interface Gate {
  readonly origin: string
  /** Called for each call. `true` means that it goes nowhere. */
  before: (method: string, target: string) => boolean
  /** Called when the store has answered. `true` means that nobody is told. */
  after: (method: string, target: string) => boolean
  /** Nothing goes through while it is true. */
  isShut: boolean
}

/** Between an instance and the store. */
export const gate: Effect.Effect<Gate, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.async<{ readonly gate: Gate; readonly close: () => void }>((resume) => {
      const open = new Set<Socket>()
      const target = new URL(RealStore.settings.endpoint)
      const state = { before: () => false, after: () => false, isShut: false, origin: "" }
      const made: { origin: string } & Omit<Gate, "origin"> = state
      const server = createServer((request, response) => {
        const { headers, method = "", url = "" } = request
        if (made.isShut || made.before(method, url)) {
          request.socket.destroy()
          return
        }
        const there = ask({ host: target.hostname, port: target.port, method, path: url, headers }, (answer) => {
          if (made.after(method, url)) {
            answer.resume()
            request.socket.destroy()
            return
          }
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        })
        there.on("error", () => response.destroy())
        request.pipe(there)
      })
      server.on("connection", (socket) => {
        open.add(socket)
        socket.on("error", () => socket.destroy())
        socket.on("close", () => open.delete(socket))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        made.origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
        resume(Exit.succeed({
          gate: made,
          close: () => {
            for (const socket of open) socket.destroy()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ),
  ({ gate }) => gate
)
