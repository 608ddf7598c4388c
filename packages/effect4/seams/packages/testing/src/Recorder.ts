class RecordedSpan implements Tracer.Span {
  readonly _tag = "Span"
  private readonly notes: Notes
  private readonly span: Tracer.Span
  constructor(notes: Notes, span: Tracer.Span) {
    this.notes = notes
    this.span = span
  }
  get name() {
    return this.span.name
  }
  get spanId() {
    return this.span.spanId
  }
  get traceId() {
    return this.span.traceId
  }
  get parent() {
    return this.span.parent
  }
  get annotations() {
    return this.span.annotations
  }
  get status() {
    return this.span.status
  }
  get attributes() {
    return this.span.attributes
  }
  get links() {
    return this.span.links
  }
  get sampled() {
    return this.span.sampled
  }
  get kind() {
    return this.span.kind
  }
  attribute(key: string, value: unknown): void {
    note(this.notes, "span", key, value)
    this.span.attribute(key, value)
  }
  event(name: string, startTime: bigint, attributes?: Record<string, unknown>): void {
    note(this.notes, "span", name, attributes)
    this.span.event(name, startTime, attributes)
  }
  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    note(this.notes, "span", ...links.map(({ attributes }) => attributes))
    this.span.addLinks(links)
  }
  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    note(this.notes, "span", Exit.isFailure(exit) ? exit.cause : exit)
    this.span.end(endTime, exit)
  }
}

const makeTracer = (notes: Notes, tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    context: tracer.context,
    span: (options) => {
      notes.spans.push(options.name)
      note(notes, "span", options.name, ...options.links.map(({ attributes }) => attributes))
      return new RecordedSpan(notes, tracer.span(options))
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
