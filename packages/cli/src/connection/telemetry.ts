/** Spans, metrics and logs for a collector, where the standard variables of OpenTelemetry name one. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
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
      return name === undefined || plain === undefined
        // not the value: it may be a token
        ? invalid(`${PREFIX}HEADERS`, "expected name=value, with a comma between")
        : Effect.succeed([name, plain] as const)
    }),
    (pairs) => Object.fromEntries(pairs)
  )

const settings = Effect.gen(function*() {
  const endpoint = yield* variable(`${PREFIX}ENDPOINT`)
  const isDisabled = Option.contains(yield* variable("OTEL_SDK_DISABLED"), "true")
  if (Option.isNone(endpoint) || isDisabled) return Option.none()
  if (!URL.canParse(endpoint.value) || !/^https?:$/.test(new URL(endpoint.value).protocol)) {
    return yield* invalid(`${PREFIX}ENDPOINT`, "expected a URL such as http://collector.example:4318")
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
            FetchHttpClient.layer,
            Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })
          )
          return yield* Effect.provide(effect, Layer.provide(layer, sending))
        })
    })
  )
