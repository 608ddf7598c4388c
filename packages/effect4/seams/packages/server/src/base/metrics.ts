const isRising = (state: Metric.CounterState<bigint | number>): boolean => state.incremental

const familyOf = (name: string, labels: Labels, metric: Metric.Metric.Snapshot): Family => {
  switch (metric.type) {
    case "Counter": {
      const { state } = metric
      return { type: isRising(state) ? "counter" : "gauge", lines: [line(name, labels, state.count)] }
    }
    case "Gauge":
      return { type: "gauge", lines: [line(name, labels, metric.state.value)] }
    case "Frequency": {
      const lines = [...metric.state.occurrences].map(([key, count]) => line(name, [...labels, ["key", key]], count))
      return { type: "counter", lines }
    }
    case "Histogram": {
      const { buckets, count, sum } = metric.state
      const lines = buckets.filter(([boundary]) => Number.isFinite(boundary))
        .map(([boundary, found]) => line(`${name}_bucket`, [...labels, ["le", numberOf(boundary)]], found))
      return {
        type: "histogram",
        lines: [
          ...lines,
          line(`${name}_bucket`, [...labels, ["le", "+Inf"]], count),
          line(`${name}_sum`, labels, sum),
          line(`${name}_count`, labels, count)
        ]
      }
    }
    case "Summary": {
      const { count, quantiles, sum } = metric.state
      const lines = quantiles.flatMap(([quantile, value]) =>
        value === undefined ? [] : [line(name, [...labels, ["quantile", String(quantile)]], value)]
      )
      return {
        type: "summary",
        lines: [...lines, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)]
      }
    }
  }
}

export const toText = (metrics: ReadonlyArray<Metric.Metric.Snapshot>): string => {
  const families = new Map<string, { readonly head: ReadonlyArray<string>; readonly lines: ReadonlyArray<string> }>()
  for (const metric of metrics) {
    const name = nameOf(metric.id)
    const family = familyOf(name, Object.entries(metric.attributes ?? {}), metric)
    const known = families.get(name) ?? {
      head: [
        ...(metric.description === undefined ? [] : [`# HELP ${name} ${metric.description.replace(/\n/g, " ")}`]),
        `# TYPE ${name} ${family.type}`
      ],
      lines: []
    }
    families.set(name, { ...known, lines: [...known.lines, ...family.lines] })
  }
  return [...families.values()].flatMap(({ head, lines }) => [...head, ...lines, ""]).join("\n")
}
