/**
 * Records everything that a program shows: its logs at every level, its spans, its console output, its metrics. A test
 * can then ask what was logged, and prove that no secret appears in any of it.
 */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { everyForm } from "./recording/everyForm.js"

/**
 * Where something was shown. `value` is what a test passed to {@link record}.
 *
 * @category models
 */
export const Place = Schema.Literal("log", "span", "console", "metric", "value")

/** @category models */
export type Place = typeof Place.Type

/**
 * One log entry: its level, such as `WARN`, and its message.
 *
 * @category models
 */
export interface Log {
  readonly level: string
  readonly message: string
}

/**
 * A secret was shown. The excerpt says where, without the secret.
 *
 * @category errors
 */
export class SecretShown extends Schema.TaggedError<SecretShown>("@stevedore/testing/SecretShown")("SecretShown", {
  place: Place,
  excerpt: Schema.String
}) {
  override get message(): string {
    return `A secret leaked into a ${this.place}: ${this.excerpt}`
  }
}

/**
 * Nothing was recorded, so nothing is proven: the program ran outside the recorder's layer.
 *
 * @category errors
 */
export class NothingRecorded extends Schema.TaggedError<NothingRecorded>("@stevedore/testing/NothingRecorded")(
  "NothingRecorded",
  {}
) {
  override get message(): string {
    return "Nothing was recorded, so nothing is proven: provide Recorder.layer to the program"
  }
}

/**
 * What has been recorded so far.
 *
 * @category models
 */
export interface RecorderService {
  readonly logs: Effect.Effect<ReadonlyArray<Log>>
  /** The names of the spans that have started, in order. */
  readonly spans: Effect.Effect<ReadonlyArray<string>>
  /** Everything, as text: a value has one text for each way to print it. */
  readonly texts: Effect.Effect<ReadonlyArray<{ readonly place: Place; readonly text: string }>>
  readonly record: (value: unknown) => Effect.Effect<void>
}

/**
 * The service tag of the recorder.
 *
 * @category tags
 */
export class Recorder extends Context.Tag("@stevedore/testing/Recorder")<Recorder, RecorderService>() {}

interface Notes {
  readonly texts: Array<{ readonly place: Place; readonly text: string }>
  readonly logs: Array<Log>
  readonly spans: Array<string>
}

const note = (notes: Notes, place: Place, ...values: ReadonlyArray<unknown>): void => {
  for (const text of values.flatMap(everyForm)) {
    notes.texts.push({ place, text })
  }
}

const makeLogger = (notes: Notes): Logger.Logger<unknown, void> =>
  Logger.make((line) => {
    notes.logs.push({
      level: line.logLevel.label,
      message: Array.isArray(line.message) ? line.message.join(" ") : String(line.message)
    })
    note(notes, "log", Logger.logfmtLogger.log(line), Logger.structuredLogger.log(line), line.message, line.cause)
  })

/** Notes what a span is given. It stays the span that its tracer has made, whose parents and exporters know it. */
const recorded = (notes: Notes, span: Tracer.Span): Tracer.Span => {
  const attribute = span.attribute.bind(span)
  const event = span.event.bind(span)
  const addLinks = span.addLinks.bind(span)
  const end = span.end.bind(span)
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => {
      note(notes, "span", key, value)
      attribute(key, value)
    },
    event: (name: string, startTime: bigint, attributes?: Record<string, unknown>) => {
      note(notes, "span", name, attributes)
      event(name, startTime, attributes)
    },
    addLinks: (links: ReadonlyArray<Tracer.SpanLink>) => {
      note(notes, "span", ...links.map(({ attributes }) => attributes))
      addLinks(links)
    },
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => {
      note(notes, "span", Exit.isFailure(exit) ? exit.cause : exit)
      end(endTime, exit)
    }
  })
}

const makeTracer = (notes: Notes, tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    context: (execute, fiber) => tracer.context(execute, fiber),
    span: (name, parent, context, links, startTime, kind, options) => {
      notes.spans.push(name)
      note(notes, "span", name, options?.attributes, ...links.map(({ attributes }) => attributes))
      return recorded(notes, tracer.span(name, parent, context, links, startTime, kind, options))
    }
  })

const makeConsole = (notes: Notes, console: Console.Console): Console.Console => {
  const shows = (...values: ReadonlyArray<unknown>) => Effect.sync(() => note(notes, "console", ...values))
  return {
    ...console,
    assert: (holds, ...values) => holds ? Effect.void : shows(...values),
    count: shows,
    countReset: () => Effect.void,
    debug: shows,
    dir: (value) => shows(value),
    dirxml: shows,
    error: shows,
    group: (options) => shows(options?.label),
    info: shows,
    log: shows,
    table: (values) => shows(values),
    time: () => Effect.void,
    timeEnd: shows,
    timeLog: shows,
    trace: shows,
    warn: shows
  }
}

const metrics = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.flatMap(({ metricKey, metricState }) => everyForm([metricKey, metricState]))
      .map((text) => ({ place: "metric" as const, text }))
)

/**
 * Records everything that runs with it: every log at every level, every span, and `Console` output, which is then not
 * printed. The tracer in force still gets its spans.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Recorder, Sandbox, SandboxLayer } from "@stevedore/testing"
 * import { Effect, Layer } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * export const test = Effect.gen(function*() {
 *   const { token } = yield* Sandbox.Sandbox
 *   yield* Recorder.record(yield* Effect.exit(Uploads.upload(notes)))
 *   yield* Recorder.expectNoSecret(token)
 * }).pipe(Effect.provide(Layer.merge(Recorder.layer, SandboxLayer.memory())))
 *
 * @category layers
 */
export const layer: Layer.Layer<Recorder> = Layer.unwrapEffect(Effect.gen(function*() {
  const notes: Notes = { texts: [], logs: [], spans: [] }
  const service: RecorderService = {
    logs: Effect.sync(() => [...notes.logs]),
    spans: Effect.sync(() => [...notes.spans]),
    texts: Effect.map(metrics, (found) => [...notes.texts, ...found]),
    record: (value) => Effect.sync(() => note(notes, "value", value))
  }
  return Layer.mergeAll(
    Layer.succeed(Recorder, service),
    Logger.replace(Logger.defaultLogger, makeLogger(notes)),
    Logger.minimumLogLevel(LogLevel.All),
    Layer.setTracer(makeTracer(notes, yield* Effect.tracer)),
    Console.setConsole(makeConsole(notes, yield* Console.consoleWith(Effect.succeed)))
  )
}))

/**
 * Records a value in every form in which it could be printed: an exit, an error, a record of a ledger.
 *
 * @category accessors
 */
export const record = (value: unknown): Effect.Effect<void, never, Recorder> =>
  Effect.flatMap(Recorder, (recorder) => recorder.record(value))

/**
 * What has been logged so far.
 *
 * @category accessors
 */
export const logs: Effect.Effect<ReadonlyArray<Log>, never, Recorder> = Effect.flatMap(
  Recorder,
  (recorder) => recorder.logs
)

/**
 * The names of the spans that have started, in order.
 *
 * @category accessors
 */
export const spans: Effect.Effect<ReadonlyArray<string>, never, Recorder> = Effect.flatMap(
  Recorder,
  (recorder) => recorder.spans
)

const encodings = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  Encoding.encodeBase64(secret).replace(/=+$/, ""),
  Encoding.encodeBase64Url(secret)
]

const SIGNED_QUERIES = /X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)(?:=|%3D)[^&\s"']*/gi
const INSTEAD = "<secret>"

const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, INSTEAD), text).replace(SIGNED_QUERIES, INSTEAD)

const AROUND = 40

/**
 * Fails with `SecretShown` if anything that was recorded contains a secret (plain, percent-encoded, or in Base64 or
 * Base64url) or the signed query of a pre-signed URL, and with `NothingRecorded` if nothing was recorded.
 *
 * @category assertions
 */
export const expectNoSecret = (
  ...secrets: ReadonlyArray<string | Redacted.Redacted>
): Effect.Effect<void, SecretShown | NothingRecorded, Recorder> =>
  Effect.gen(function*() {
    const texts = yield* Effect.flatMap(Recorder, (recorder) => recorder.texts)
    if (texts.every(({ place }) => place === "metric")) {
      return yield* new NothingRecorded()
    }
    const wanted = secrets
      .map((secret) => Redacted.isRedacted(secret) ? Redacted.value(secret) : secret)
      .filter((secret) => secret !== "")
    // the longest first: a shorter one may be a part of it
    const sought = wanted.flatMap(encodings).sort((one, other) => other.length - one.length)
    for (const { place, text } of texts) {
      const clean = withoutSecrets(text, sought)
      if (clean !== text) {
        const at = clean.indexOf(INSTEAD)
        const excerpt = clean.slice(Math.max(0, at - AROUND), at + INSTEAD.length + AROUND)
        return yield* new SecretShown({ place, excerpt })
      }
    }
  })
