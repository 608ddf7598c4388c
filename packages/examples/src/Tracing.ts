import { NodeSdk } from "@effect/opentelemetry"
import { NodeRuntime } from "@effect/platform-node"
import { type MetricReader } from "@opentelemetry/sdk-metrics"
import { SimpleSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base"
import { Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Layer } from "effect"

/** Exports the spans and metrics of everything that runs with it. Stevedore's own need nothing else. */
export const telemetry = (exporter: SpanExporter, metricReader?: MetricReader) =>
  NodeSdk.layer(() => ({
    resource: { serviceName: "interviews" },
    spanProcessor: new SimpleSpanProcessor(exporter),
    metricReader
  }))

/** An upload within one of the application's own spans. */
export const published = (path: string, exporter: SpanExporter, metricReader?: MetricReader) =>
  Effect.flatMap(FileSource.fromPath(path), (source) => Uploads.upload(source)).pipe(
    Effect.withSpan("publish interview"),
    Effect.provide(Layer.merge(NodeStevedore.layerConfig(), telemetry(exporter, metricReader))),
    NodeRuntime.runMain
  )
