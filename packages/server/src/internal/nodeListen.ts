/** A service behind a port of Node: health beside its app, and an end that lets what is under way end. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { Server } from "node:http"
import * as OperationsApp from "../OperationsApp.js"
import { prefixOf } from "./prefix.js"
import { traced } from "./traced.js"

/**
 * The service cannot begin.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServeFailed extends Schema.TaggedError<ServeFailed>("@stevedore/server/ServeFailed")("ServeFailed", {
  /** Which option or variable to change. */
  option: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return this.problem
  }
}

/** @internal */
export interface Options {
  /** What stands before every path of the interface. Defaults to nothing. */
  readonly basePath?: string | undefined
  /** Defaults to `127.0.0.1`: this machine alone. */
  readonly host?: string | undefined
  /** Defaults to 0: any free port. */
  readonly port?: number | undefined
  /** How long requests under way may still take when the service ends. Defaults to 30 seconds. */
  readonly drain?: Duration.DurationInput | undefined
}

const listening = (server: Server, host: string, port: number) =>
  Effect.async<number, ServeFailed>((resume) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message
      resume(
        new ServeFailed({
          option: "port",
          problem: `cannot listen on ${host}:${port} (${code}): use another port, or 0 for any free port`
        })
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** Takes no more connections, waits for the requests under way, and then closes what is left. */
const closed = (server: Server, drain: Duration.DurationInput) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(
    // a connection that is kept alive is idle only when its request is over
    Effect.race(Effect.repeat(Effect.sync(() => server.closeIdleConnections()), Schedule.spaced("50 millis"))),
    Effect.timeoutOption(drain),
    // a finalizer is not, and nothing in it would ever be given up
    Effect.interruptible,
    Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
  )

/**
 * Listens until the scope closes, and answers with its origin. It is to be the last of all that is acquired: it is then the
 * first to end.
 *
 * @internal
 */
export const listen = (
  app: HttpApp.Default,
  isReady: Effect.Effect<boolean>,
  options: Options & Pick<OperationsApp.Options, "notes">
): Effect.Effect<string, ServeFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = { isEnding: false }
    const operated = yield* OperationsApp.around(app, {
      basePath: options.basePath,
      isReady,
      notes: options.notes,
      isEnding: Effect.sync(() => state.isEnding)
    })
    const handler = yield* Effect.locally(
      NodeHttpServer.makeHandler(traced(operated)),
      HttpMiddleware.currentTracerDisabledWhen,
      constTrue
    )
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, handler)
    const host = options.host ?? "127.0.0.1"
    const port = yield* Effect.acquireRelease(listening(server, host, options.port ?? 0), () => {
      state.isEnding = true
      return closed(server, options.drain ?? "30 seconds")
    })
    const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
    return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`
  })

/** The base URL of an API at an origin. @internal */
export const baseUrl = (origin: string, basePath?: string): string => `${origin}${prefixOf(basePath)}`
