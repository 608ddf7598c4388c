/** A server of Node that listens, or says why it cannot. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Server } from "node:http"

/** The service cannot begin. */
export class ServeFailed extends Schema.TaggedError<ServeFailed>("@stevedore/server/ServeFailed")("ServeFailed", {
  /** Which option or variable to change. */
  option: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return this.problem
  }
}

export const listening = (server: Server, host: string, port: number, option: "port" | "metrics-port") =>
  Effect.async<number, ServeFailed>((resume) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message
      resume(
        new ServeFailed({
          option,
          problem: `cannot listen on ${host}:${port} (${code}): use another port${
            option === "port" ? ", or 0 for any free port" : ""
          }`
        })
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })
