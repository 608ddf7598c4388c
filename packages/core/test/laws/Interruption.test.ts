import { assert, describe, it } from "@effect/vitest"
import { Downloads, Files, Lists, ServiceApi } from "@stevedore/core"
import { Duration, Effect, Fiber, type Layer, Random, Schema, Stream, TestClock } from "effect"
import * as FakeContent from "../fixtures/fakeContent.js"
import { fakeService, type Handler, json } from "../fixtures/fakeService.js"

interface State {
  /** How many requests have been made when it is reached. */
  readonly requests: () => number
  readonly run: Effect.Effect<unknown, unknown>
}

const over = (
  handler: Handler,
  program: Effect.Effect<unknown, unknown, ServiceApi.ServiceApi>
): State => {
  const service = fakeService(handler)
  return { requests: () => service.received.length, run: Effect.provide(program, service.layer) }
}

const file = Effect.flatMap(ServiceApi.ServiceApi, (api) => api.file("f1"))

const things = Lists.make({ path: "/v1/things", item: Schema.Struct({ id: Schema.String }) })

const pending = json.bind(undefined, {
  data: { id: "f1", name: "a", status: "pending", created_at: "2026-01-01T00:00:00Z" }
})

const endless = () => new Response(new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) }))

const onePage = () => json({ data: [{ id: "1" }], page: { has_more: true, next_cursor: "a" } })

const download = (options: FakeContent.Options): State => {
  const { got, layer } = FakeContent.make(options)
  const program: Effect.Effect<unknown, unknown, Layer.Layer.Success<typeof layer>> = Stream.runDrain(
    Downloads.stream("f1")
  )
  return { requests: () => got.length, run: Effect.provide(program, layer) }
}

const bytes = new Uint8Array(1000)

const states: ReadonlyArray<readonly [string, number, () => State]> = [
  ["while the answer of a call is waited for", 1, () => over(() => Effect.never, file)],
  ["while the body of an answer is on its way", 1, () => over(endless, file)],
  ["in a back-off", 1, () => over(() => json({}, { status: 503 }), file)],
  [
    "while the service's rate limit is waited for",
    1,
    () => over(() => json({ errors: [] }, { status: 429, headers: { "retry-after": "30" } }), file)
  ],
  [
    "while a page is waited for",
    2,
    () => over((_, index) => index === 0 ? onePage() : Effect.never, Stream.runDrain(things()))
  ],
  ["between two looks at a file", 1, () => over(() => pending(), Files.awaitProcessed("f1"))],
  ["while the bytes of a download stall", 1, () => download({ bytes, mishaps: [{ stallAfter: 100 }] })],
  ["while those of a link stall", 2, () => download({ bytes, mode: "link", mishaps: [{ stallAfter: 100 }] })],
  [
    "between two attempts of a download",
    2,
    () => download({ bytes, mode: "link", mishaps: [{ status: 503 }, { status: 503 }], between: "10 seconds" })
  ]
]

describe("an interruption", () => {
  for (const [state, requests, make] of states) {
    it.effect(`settles within 50 milliseconds ${state}, and nothing is requested after it`, () =>
      Effect.gen(function*() {
        const took: Array<number> = []
        for (let turn = 0; turn < 5; turn++) {
          const { requests: made, run } = make()
          // a wait that is drawn is half of what it may be
          const fiber = yield* Effect.fork(Effect.withRandom(run, Random.fixed([0.5])))
          yield* Effect.repeatN(TestClock.adjust("1 millis"), 4)
          assert.strictEqual(made(), requests, "the state is reached")
          const before = performance.now()
          // no time passes on the test's clock: it waits for nothing
          yield* Fiber.interrupt(fiber)
          took.push(performance.now() - before)
          yield* TestClock.adjust(Duration.hours(1))
          assert.strictEqual(made(), requests)
        }
        // the least of them: what a busy machine adds is not ours
        assert.isBelow(Math.min(...took), 50)
      }))
  }
})
