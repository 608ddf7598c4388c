import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

type Labels = Context.Context<never>

const current: Effect.Effect<Labels> = Effect.context<never>()

const labelled = (labels: Labels, name: string, value: string): Labels =>
  Context.add(labels, Metric.CurrentMetricAttributes, {
    ...Context.get(labels, Metric.CurrentMetricAttributes),
    [name]: value
  })
