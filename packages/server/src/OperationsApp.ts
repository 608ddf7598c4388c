/**
 * What whoever runs a service asks it: whether it lives, whether it can answer, what it counts, and what its interface is.
 * It stands outside the base path and needs no token; a proxy decides who reaches it.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ServerMetrics from "./base/metrics.js"
import { pathOf, prefixOf } from "./base/text.js"
import { inert } from "./http/objectAnswer.js"
import { ServerApi } from "./ServerApi.js"

/**
 * How the app answers. Only `failing` has no default.
 *
 * @category models
 */
export interface Options {
  /** Why the service cannot answer, a line each, such as `ServerApp.failing`; none if it can. Each check has an end. */
  readonly failing: Effect.Effect<ReadonlyArray<string>>
  /** What stands before every path of the interface, such as `/api`. Defaults to nothing. */
  readonly basePath?: string | undefined
  /** Whether the service ends: it is then not ready any more. Defaults to no. */
  readonly isEnding?: Effect.Effect<boolean> | undefined
  /** What `/readyz` says besides, a line each, such as `ServerApp.notes`. Defaults to nothing. */
  readonly notes?: Effect.Effect<ReadonlyArray<string>> | undefined
  /** Whether `/metrics` is answered here. Defaults to yes. */
  readonly metrics?: boolean | undefined
  /** How long an answer about the table and the store holds, so that probes cost nothing. Defaults to 10 seconds. */
  readonly readyFor?: Duration.DurationInput | undefined
}

/**
 * Answers with the metrics of the process, in Prometheus' text format.
 *
 * @category constructors
 */
export const metrics: HttpApp.Default = Effect.map(
  ServerMetrics.text,
  (text) => HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
)

const plain = (status: number, text: string) => HttpServerResponse.text(`${text}\n`, { status })

const operations = (): ReadonlyArray<{ readonly method: string; readonly path: string; readonly text: string }> => {
  const found: Array<{ readonly method: string; readonly path: string; readonly text: string }> = []
  HttpApi.reflect(ServerApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      found.push({
        method: endpoint.method,
        path: endpoint.path.replace(/:(\w+)/g, "{$1}"),
        text: Option.getOrElse(Context.getOption(mergedAnnotations, OpenApi.Description), () => "")
      })
    }
  })
  return found
}

const docs = (prefix: string): string => {
  const rows = operations().map(({ method, path, text }) =>
    `<tr><td>${method}</td><td><code>${prefix}${path}</code></td><td>${text}</td></tr>`
  )
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Stevedore</title></head>
<body>
<h1>Stevedore</h1>
<p>All calls need a bearer token. What they take and answer: <a href="openapi.json">openapi.json</a>.</p>
<table>
${rows.join("\n")}
</table>
</body>
</html>
`
}

/**
 * `/livez`, `/readyz` (503 where the service cannot answer, with why), `/metrics` in Prometheus' text format, `/openapi.json`, and
 * `/docs`, a page
 * that lists the calls; everything else is for `app`.
 *
 * @category constructors
 */
export const around = <E, R>(
  app: HttpApp.Default<E, R>,
  options: Options
): Effect.Effect<HttpApp.Default<E, R>> =>
  Effect.gen(function*() {
    const prefix = prefixOf(options.basePath)
    const api = prefix === "" ? ServerApi : ServerApi.prefix(prefix)
    const failing = yield* Effect.cachedWithTTL(options.failing, options.readyFor ?? "10 seconds")
    const page = HttpServerResponse.text(docs(prefix), {
      contentType: "text/html; charset=utf-8",
      headers: inert
    })
    const openApi = HttpServerResponse.unsafeJson(OpenApi.fromApi(api), { headers: inert })
    const notes = options.notes ?? Effect.succeed([])
    const isEnding = options.isEnding ?? Effect.succeed(false)
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ method, url }): HttpApp.Default<E, R> => {
        if (method !== "GET" && method !== "HEAD") return app
        switch (pathOf(url)) {
          case "/livez":
            return plain(200, "ok")
          case "/readyz":
            return Effect.flatMap(isEnding, (ending) =>
              ending
                ? plain(503, "not ready\nthe service ends")
                : Effect.zipWith(
                  failing,
                  notes,
                  (failures, lines) =>
                    plain(
                      failures.length === 0 ? 200 : 503,
                      [failures.length === 0 ? "ok" : "not ready", ...failures, ...lines].join("\n")
                    )
                ))
          case "/metrics":
            return options.metrics === false ? app : metrics
          case "/openapi.json":
            return Effect.succeed(openApi)
          case "/docs":
            return Effect.succeed(page)
          default:
            return app
        }
      }
    )
  })
