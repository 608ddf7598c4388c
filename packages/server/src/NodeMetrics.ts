/**
 * What a process of Node takes, as metrics, and an address at which Prometheus reads them all.
 *
 * It needs `@effect/platform-node`. It is therefore not in the package's index: import it from `@stevedore/server/NodeMetrics`.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { pathOf } from "./base/text.js"
import * as NodeConnections from "./node/connections.js"
import { listening, type ServeFailed } from "./node/listening.js"
import * as OperationsApp from "./OperationsApp.js"

const memory = Metric.gauge("process_resident_memory_bytes", { description: "Resident memory" })

const processor = Metric.counter("process_cpu_seconds_total", {
  description: "Time of the processor",
  incremental: true
})

const lag = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "99th of a hundred delays of the event loop, in the last seconds"
})

const NANOS = 1e9

/**
 * Measures this process each five seconds, until the scope closes: its memory, its processor, and its event loop, by the names that
 * other programs of Node have for them.
 *
 * @category programs
 */
export const measuring: Effect.Effect<void, never, Scope.Scope> = Effect.gen(function*() {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: 20 })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  let told = 0
  const round = Effect.suspend(() => {
    const { system, user } = process.cpuUsage()
    const used = (user + system) / 1e6
    const more = used - told
    told = used
    const p99 = delay.percentile(99) / NANOS
    delay.reset()
    return Effect.all([
      Metric.set(memory, process.memoryUsage.rss()),
      Metric.incrementBy(processor, more),
      Metric.set(lag, p99)
    ], { discard: true })
  })
  yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced("5 seconds")))
})

/**
 * Answers `/metrics` at a port of its own, until the scope closes.
 *
 * @category constructors
 */
export const listen = (host: string, port: number): Effect.Effect<void, ServeFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const server = createServer(NodeConnections.settings({}))
    const found = Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ url }) => pathOf(url) === "/metrics" ? OperationsApp.metrics : HttpServerResponse.empty({ status: 404 })
    )
    server.on("request", yield* NodeHttpServer.makeHandler(found))
    yield* Effect.acquireRelease(listening(server, host, port, "metrics-port"), () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }))
  })
