const makeTracer = (notes: Notes, tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    context: tracer.context,
    span: (options) => {
      notes.spans.push(options.name)
      note(notes, "span", options.name, ...options.links.map(({ attributes }) => attributes))
      return recorded(notes, tracer.span(options))
    }
  })

const makeConsole = (notes: Notes, console: Console.Console): Console.Console => {
  const shows = (...values: ReadonlyArray<unknown>) => note(notes, "console", ...values)
  const nothing = () => undefined
  return {
    ...console,
    assert: (holds, ...values) => holds ? undefined : shows(...values),
    count: shows,
    countReset: nothing,
    debug: shows,
    dir: (value) => shows(value),
    dirxml: shows,
    error: shows,
    group: shows,
    groupCollapsed: shows,
    info: shows,
    log: shows,
    table: (values) => shows(values),
    time: nothing,
    timeEnd: shows,
    timeLog: shows,
    trace: shows,
    warn: shows
  }
}

const metrics = Effect.map(
  Metric.snapshot,
  (found) =>
    found.flatMap(({ attributes, description, id, state }) => everyForm([id, description, attributes, state]))
      .map((text) => ({ place: "metric" as const, text }))
)
