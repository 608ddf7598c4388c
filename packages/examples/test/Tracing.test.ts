import { KeyValueStore } from "@effect/platform"
import { assert, describe, expect, it } from "@effect/vitest"
import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer, VirtualTime } from "@stevedore/testing"
import { Effect, Layer, Random, Stream } from "effect"
import { Minutes } from "../src/Minutes.js"
import { type Bar, draw } from "../src/TraceTimeline.js"
import { telemetry } from "../src/Tracing.js"
import { Recordings } from "../testing/Recordings.js"

const millis = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6

/** Each span below its parent, in the order in which they started. */
const barsOf = (spans: ReadonlyArray<ReadableSpan>): ReadonlyArray<Bar> => {
  const begin = Math.min(...spans.map(({ startTime }) => millis(startTime)))
  const below = (parent: string | undefined, depth: number): ReadonlyArray<Bar> =>
    spans
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
      .sort((one, other) => millis(one.startTime) - millis(other.startTime))
      .flatMap((span) => [
        {
          name: [
            span.name,
            ...["part", "attempt"].flatMap((key) =>
              span.attributes[key] === undefined ? [] : [`${key} ${String(span.attributes[key])}`]
            )
          ].join(" "),
          depth,
          from: millis(span.startTime) - begin,
          to: millis(span.endTime) - begin,
          failed: span.status.code === 2
        },
        ...below(span.spanContext().spanId, depth + 1)
      ])
  return below(undefined, 0)
}

const onPart = (part: number) => FaultScript.on("putPart").part(part)

const faults = onPart(1).delay("900 millis")
  .and(onPart(2).answer(503))
  .and(onPart(2).delay("1200 millis"))
  .and(onPart(3).resetAfter(4))
  .and(onPart(3).delay("700 millis"))
  .and(onPart(4).delay("1600 millis"))

describe("Tracing", () => {
  it.effect("one upload is one trace, from the application's span down to each attempt of a part", () =>
    Effect.gen(function*() {
      const exporter = new InMemorySpanExporter()
      const bytes = Uint8Array.from({ length: 40 }, (_, index) => index)
      const [file, spans] = yield* VirtualTime.run(
        Uploads.upload(UploadSources.fromBytes("interview.mp4", bytes), { strategy: "multipart", parts: 4 }).pipe(
          Effect.withSpan("publish interview"),
          // the exporter forgets its spans when it is shut down with its layer
          Effect.zip(Effect.sync(() => exporter.getFinishedSpans())),
          Effect.withRandom(Random.make("a trace")),
          Effect.provide(Layer.merge(
            telemetry(exporter),
            SandboxLayer.memory({ minimumPartSize: 10, backOff: true, faults })
          ))
        ),
        { start: 0 }
      )
      const bars = barsOf(spans)
      assert.deepStrictEqual(bars.slice(0, 3).map(({ depth, name }) => [depth, name]), [
        [0, "publish interview"],
        [1, "Uploads.upload"],
        [2, "ServiceApi.initiateLargeUpload"]
      ])
      assert.lengthOf(bars.filter(({ name }) => name.startsWith("ObjectStorage.putPart")), 6)
      assert.lengthOf(bars.filter(({ failed }) => failed), 2)
      const upload = spans.find(({ name }) => name === "Uploads.upload")
      assert.deepInclude(upload?.attributes, { size: 40, parts: 4, sessions: 1, fileId: file.id })
      yield* Effect.promise(() => expect(draw(bars)).toMatchFileSnapshot("../../docs/public/trace.svg"))
    }))

  const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))

  const services = Layer.merge(Minutes.Default, Recordings.Default).pipe(
    Layer.provide([SandboxLayer.memory({ projects: 1 }), KeyValueStore.layerMemory])
  )

  const uses: Record<string, readonly [span: string, Effect.Effect<unknown, unknown, Minutes | Recordings>]> = {
    "Minutes.archive": ["Uploads.upload", Effect.flatMap(Minutes, ({ archive }) => archive("notes.txt", "hello"))],
    "Recordings.save": ["Uploads.upload", Effect.flatMap(Recordings, ({ save }) => save("project-1", notes))],
    "Recordings.overview": ["Pages.page", Effect.flatMap(Recordings, ({ overview }) => Stream.runDrain(overview))]
  }

  for (const [name, [span, use]] of Object.entries(uses)) {
    it.effect(`${name} of an application is below the span of its caller, not of whatever built its layer`, () =>
      Effect.gen(function*() {
        const exporter = new InMemorySpanExporter()
        const spans = yield* use.pipe(
          Effect.withSpan("handle request"),
          Effect.provide(services),
          Effect.withSpan("main"),
          Effect.zipRight(Effect.sync(() => exporter.getFinishedSpans())),
          Effect.provide(telemetry(exporter))
        )
        assert.deepStrictEqual(barsOf(spans).slice(0, 3).map(({ depth, name }) => [depth, name]), [
          [0, "main"],
          [1, "handle request"],
          [2, span]
        ])
      }))
  }
})
