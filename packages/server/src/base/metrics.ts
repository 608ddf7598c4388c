/** What a service counts, by Effect's metrics, and the text in which Prometheus reads them. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKeyType from "effect/MetricKeyType"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

/**
 * Requests of the interface that were answered, by status.
 *
 * @category metrics
 */
export const requests = counter("stevedore_requests_total", "Requests answered")

/**
 * How long a request took, from its head to the end of its answer, in seconds, by route.
 *
 * @category metrics
 */
export const requestSeconds = Metric.histogram(
  "stevedore_request_seconds",
  MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]),
  "Duration of requests"
)

/**
 * Requests that are under way.
 *
 * @category metrics
 */
export const requestsInFlight = gauge("stevedore_requests_in_flight", "Requests under way")

/**
 * What requests have brought over the connection, heads and all, in bytes.
 *
 * @category metrics
 */
export const receivedBytes = counter("stevedore_received_bytes_total", "Bytes received from clients")

/**
 * What their answers have taken, heads and all, in bytes.
 *
 * @category metrics
 */
export const sentBytes = counter("stevedore_sent_bytes_total", "Bytes sent to clients")

/**
 * How many bytes there is room for on the disk of a directory, when it was last looked at.
 *
 * @category metrics
 */
export const room = gauge("stevedore_room_bytes", "Room for files")

/**
 * Changes of the state of a file, by the state that it has then.
 *
 * @category metrics
 */
export const states = counter("stevedore_files_total", "Files that came into a state")

/**
 * Completions that this instance took over from one that was silent for a lease.
 *
 * @category metrics
 */
export const takeovers = counter("stevedore_lease_takeovers_total", "Completions taken over")

/**
 * Files that a sweep looked after.
 *
 * @category metrics
 */
export const swept = counter("stevedore_swept_files_total", "Files looked after by sweeps")

/**
 * What tenants have, as their quotas count it: all of them, and the one that has most. Which one that is, `stevedore files usage`
 * says: a name of each tenant would be a series of each.
 *
 * @category metrics
 */
export const stored = {
  bytes: gauge("stevedore_stored_bytes", "Bytes that all tenants have"),
  files: gauge("stevedore_stored_files", "Files that all tenants have"),
  tenants: gauge("stevedore_tenants", "Tenants that have files"),
  largestBytes: gauge("stevedore_largest_tenant_bytes", "Bytes of the tenant that has most"),
  /** 1 is all of it. */
  quotaUsed: gauge("stevedore_quota_used_ratio", "Share of its quota of the tenant that uses most of it")
}

/**
 * Events that nobody has taken yet: those that are tried again, and those that rest.
 *
 * @category metrics
 */
export const outbox = gauge("stevedore_outbox_events", "Events that are not delivered")

/**
 * Files that wait for a sweep.
 *
 * @category metrics
 */
export const due = gauge("stevedore_due_files", "Files that wait for a sweep")

/**
 * How old the oldest event is that is not delivered and is still tried, in seconds; 0 if there is none.
 *
 * @category metrics
 */
export const outboxLag = gauge("stevedore_outbox_lag_seconds", "Age of the oldest event that is not delivered")

/**
 * Events whose hook has failed for a day: they stay in the table, and are not tried again.
 *
 * @category metrics
 */
export const deadEvents = counter("stevedore_dead_events_total", "Events that are not tried any more")

/**
 * How long the store took for a call, in seconds, by operation.
 *
 * @category metrics
 */
export const storeSeconds = Metric.histogram(
  "stevedore_store_seconds",
  MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]),
  "Duration of calls of the store"
)

const escaped = (text: string): string => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, "\\\"")

const nameOf = (name: string): string => name.replace(/[^a-zA-Z0-9_:]/g, "_").replace(/^(?=\d)/, "_")

const numberOf = (value: bigint | number): string =>
  value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value)

type Labels = ReadonlyArray<readonly [string, string]>

const line = (name: string, labels: Labels, value: bigint | number): string => {
  const said = labels.map(([key, text]) => `${nameOf(key)}="${escaped(text)}"`).join(",")
  return `${name}${said === "" ? "" : `{${said}}`} ${numberOf(value)}`
}

interface Family {
  readonly type: "counter" | "gauge" | "histogram" | "summary"
  readonly lines: ReadonlyArray<string>
}

// of Effect's counters, one that may also fall is a gauge to Prometheus
const isRising = (keyType: unknown): boolean => MetricKeyType.isCounterKey(keyType) && keyType.incremental

const familyOf = (
  name: string,
  labels: Labels,
  { metricKey, metricState: state }: MetricPair.MetricPair.Untyped
): Family | undefined => {
  if (MetricState.isCounterState(state)) {
    return { type: isRising(metricKey.keyType) ? "counter" : "gauge", lines: [line(name, labels, state.count)] }
  }
  if (MetricState.isGaugeState(state)) return { type: "gauge", lines: [line(name, labels, state.value)] }
  if (MetricState.isFrequencyState(state)) {
    const lines = [...state.occurrences].map(([key, count]) => line(name, [...labels, ["key", key]], count))
    return { type: "counter", lines }
  }
  if (MetricState.isHistogramState(state)) {
    const buckets = state.buckets.filter(([boundary]) => Number.isFinite(boundary))
      .map(([boundary, count]) => line(`${name}_bucket`, [...labels, ["le", numberOf(boundary)]], count))
    return {
      type: "histogram",
      lines: [
        ...buckets,
        line(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count),
        line(`${name}_sum`, labels, state.sum),
        line(`${name}_count`, labels, state.count)
      ]
    }
  }
  if (MetricState.isSummaryState(state)) {
    const quantiles = state.quantiles.flatMap(([quantile, value]) =>
      Option.toArray(value).map((found) => line(name, [...labels, ["quantile", String(quantile)]], found))
    )
    return {
      type: "summary",
      lines: [...quantiles, line(`${name}_sum`, labels, state.sum), line(`${name}_count`, labels, state.count)]
    }
  }
  return undefined
}

/**
 * Metrics in Prometheus' text format (version 0.0.4): each family once, with its help, its type, and a line for each set of
 * labels.
 *
 * @category conversions
 */
export const toText = (pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, { readonly head: ReadonlyArray<string>; readonly lines: ReadonlyArray<string> }>()
  for (const pair of pairs) {
    const { metricKey } = pair
    const name = nameOf(metricKey.name)
    const family = familyOf(name, metricKey.tags.map(({ key, value }) => [key, value]), pair)
    if (family === undefined) continue
    const known = families.get(name) ?? {
      head: [
        ...Option.toArray(metricKey.description).map((help) => `# HELP ${name} ${help.replace(/\n/g, " ")}`),
        `# TYPE ${name} ${family.type}`
      ],
      lines: []
    }
    families.set(name, { ...known, lines: [...known.lines, ...family.lines] })
  }
  return [...families.values()].flatMap(({ head, lines }) => [...head, ...lines, ""]).join("\n")
}

/**
 * All metrics of the process as {@link toText}.
 *
 * @category programs
 */
export const text: Effect.Effect<string> = Effect.map(Metric.snapshot, toText)
