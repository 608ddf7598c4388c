/** Spans, metrics and logs for a collector, where the standard variables of OpenTelemetry name one. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

const PREFIX = "OTEL_EXPORTER_OTLP_"

/** Empty is as if it were not set, as OpenTelemetry says. */
const variable = (name: string) =>
  Effect.mapBoth(Config.option(Config.string(name)), {
    onFailure: () => invalid(name, "cannot be read"),
    onSuccess: Option.filter((text) => text !== "")
  })

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `name=value`, with commas between, each percent-encoded. */
const headersOf = (text: string) =>
  Effect.map(
    Effect.forEach(text.split(","), (pair) => {
      const [, name, value] = /^\s*([\w-]+)\s*=(.*)$/.exec(pair) ?? []
      const plain = decoded(value?.trim() ?? "")
      return name === undefined || plain === undefined || !/^[\x20-\x7e]*$/.test(plain)
        // not the value: it may be a token
        ? invalid(`${PREFIX}HEADERS`, "expected name=value in ASCII, with a comma between")
        : Effect.succeed([name, plain] as const)
    }),
    (pairs) => Object.fromEntries(pairs)
  )

const settings = Effect.gen(function*() {
  const endpoint = yield* variable(`${PREFIX}ENDPOINT`)
  const isDisabled = Option.contains(yield* variable("OTEL_SDK_DISABLED"), "true")
  if (Option.isNone(endpoint) || isDisabled) return Option.none()
  if (!URL.canParse(endpoint.value) || !/^https?:\/\/[^@/]+(?:\/|$)/i.test(endpoint.value)) {
    // a password in it is never sent
    return yield* invalid(`${PREFIX}ENDPOINT`, "expected a URL without a user, such as http://collector.example:4318")
  }
  const protocol = Option.getOrElse(yield* variable(`${PREFIX}PROTOCOL`), () => "http/protobuf")
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    return yield* invalid(`${PREFIX}PROTOCOL`, "expected http/protobuf or http/json")
  }
  const interval = yield* variable("OTEL_METRIC_EXPORT_INTERVAL")
  if (Option.exists(interval, (text) => !/^[1-9]\d{0,8}$/.test(text))) {
    return yield* invalid("OTEL_METRIC_EXPORT_INTERVAL", "expected a number of milliseconds")
  }
  return Option.some({
    protocol,
    options: {
      baseUrl: endpoint.value.replace(/\/+$/, ""),
      resource: { serviceName: Option.getOrElse(yield* variable("OTEL_SERVICE_NAME"), () => "stevedore") },
      headers: Option.getOrUndefined(yield* Effect.transposeMapOption(yield* variable(`${PREFIX}HEADERS`), headersOf)),
      metricsExportInterval: Option.getOrUndefined(Option.map(interval, (text) => Duration.millis(Number(text))))
    }
  })
})

/** Says once a minute that the collector takes nothing, and why: what sends to it drops what it cannot send. */
const watched = (client: HttpClient.HttpClient) => {
  let saidAt = Number.NEGATIVE_INFINITY
  const say = (what: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - saidAt < 60_000) return Effect.void
      saidAt = now
      return Effect.logWarning(`The collector of ${PREFIX}ENDPOINT ${what}: nothing is kept for it`)
    })
  return client.pipe(
    HttpClient.tap(({ status }) => status < 300 ? Effect.void : say(`answers ${status}`)),
    HttpClient.tapError(() => say("does not answer"))
  )
}

/**
 * Runs with a tracer, metrics and a logger besides, which send to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`; as it is, where
 * there is none. What sends is `@effect/opentelemetry` beside this package, which is loaded only then.
 */
export const exported = <A, E, R>(
  command: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidInput, R> =>
  Effect.flatMap(
    settings,
    Option.match({
      onNone: (): Effect.Effect<A, E | InvalidInput, R> => effect,
      onSome: ({ options, protocol }) =>
        Effect.gen(function*() {
          const wanted = ["@effect/opentelemetry@0.64"]
          yield* Installed.check(command, Installed.problem(createRequire(import.meta.url), wanted))
          const Otlp = yield* Effect.promise(() => import("@effect/opentelemetry/Otlp"))
          const layer = protocol === "http/json" ? Otlp.layerJson(options) : Otlp.layerProtobuf(options)
          // what a redirect leads to would get the key of the collector
          const sending = Layer.merge(
            Layer.provide(
              Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, watched)),
              FetchHttpClient.layer
            ),
            Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })
          )
          return yield* Effect.provide(effect, Layer.provide(layer, sending))
        })
    })
  )
