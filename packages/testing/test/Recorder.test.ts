import { assert, describe, it } from "@effect/vitest"
import { Console, Data, Effect, Exit, FastCheck, Metric, Redacted } from "effect"
import { Recorder } from "../src/index.js"
import { runs } from "./support/runs.js"

class Leak extends Data.TaggedError("Leak")<{ readonly inner: unknown }> {}

const secret = "api.what-nobody-may-see"

const shown = (program: Effect.Effect<unknown, unknown, Recorder.Recorder>) =>
  Effect.gen(function*() {
    yield* Effect.exit(program)
    return yield* Effect.flip(Recorder.expectNoSecret(Redacted.make(secret)))
  }).pipe(Effect.provide(Recorder.layer))

describe("Recorder", () => {
  const hidden = Object.defineProperty({}, "token", { value: secret, enumerable: false })
  const url = () => new URL(`https://host.test/?token=${secret}`)
  const places: ReadonlyArray<
    readonly [string, Recorder.Place, Effect.Effect<unknown, unknown, Recorder.Recorder>]
  > = [
    ["a log message", "log", Effect.logDebug(`Bearer ${secret}`)],
    ["a logged value", "log", Effect.logTrace({ deep: [{ headers: new Map([["authorization", secret]]) }] })],
    ["a log annotation", "log", Effect.log("hello").pipe(Effect.annotateLogs("token", secret))],
    ["a logged error's cause", "log", Effect.logError("it failed", new Error("out", { cause: new Error(secret) }))],
    ["the name of a span", "span", Effect.withSpan(Effect.void, `GET ${secret}`)],
    ["an attribute given when a span starts", "span", Effect.withSpan(Effect.void, "a", { attributes: { secret } })],
    ["an attribute added to a running span", "span", Effect.withSpan(Effect.annotateCurrentSpan("a", { secret }), "a")],
    [
      "the name of a span event",
      "span",
      Effect.withSpan(Effect.flatMap(Effect.currentSpan, (span) => Effect.sync(() => span.event(secret, 0n))), "a")
    ],
    [
      "an attribute of a span event",
      "span",
      Effect.withSpan(
        Effect.flatMap(Effect.currentSpan, (span) => Effect.sync(() => span.event("a", 0n, { secret }))),
        "a"
      )
    ],
    ["the error of a failed span", "span", Effect.withSpan(new Leak({ inner: { hidden } }), "a")],
    ["the result of a span", "span", Effect.withSpan(Effect.succeed({ secret }), "a")],
    ["console output", "console", Console.error("x", { secret })],
    ["the values of a failed assertion", "console", Console.assert(false, secret)],
    ["the label of a counter", "console", Console.count(secret)],
    ["the label of a timer", "console", Console.withTime(Effect.void, secret)],
    ["the values of a timer", "console", Console.timeLog("a", secret)],
    ["printed headers", "console", Console.log(new Headers({ authorization: `Bearer ${secret}` }))],
    ["a URL in the cause of a logged error", "log", Effect.logError(new Error("out", { cause: { url: url() } }))],
    ["a URL query in a logged Map", "log", Effect.log(new Map([["query", url().searchParams]]))],
    ["the URL of a logged request", "log", Effect.log({ request: new Request(url()) })],
    [
      "the headers of a logged request",
      "log",
      Effect.log({ request: new Request("https://host.test", { headers: { secret } }) })
    ],
    ["a value that the test records", "value", Recorder.record(new Leak({ inner: hidden }))],
    ["percent-encoded text", "log", Effect.log(encodeURIComponent(secret))],
    ["Base64 text", "log", Effect.log(Buffer.from(secret).toString("base64"))]
  ]

  for (const [name, place, program] of places) {
    it.effect(`reports a secret in ${name} without showing it`, () =>
      Effect.gen(function*() {
        const error = yield* shown(program)
        assert.strictEqual(error._tag, "SecretShown")
        assert.strictEqual(error._tag === "SecretShown" && error.place, place)
        assert.notInclude(error.message, secret)
        assert.notInclude(JSON.stringify(error), secret)
      }))
  }

  it.effect.each(["base64", "base64url"] as const)(
    "reports a secret of any length in %s",
    (encoding) =>
      Effect.gen(function*() {
        for (const other of ["a~~~?", "ab~~~?", "abc~~~?"]) {
          const error = yield* Effect.provide(
            Effect.zipRight(
              Effect.log(Buffer.from(other).toString(encoding).replace(/=+$/, "")),
              Effect.flip(Recorder.expectNoSecret(other))
            ),
            Recorder.layer
          )
          assert.strictEqual(error._tag, "SecretShown")
        }
      })
  )

  it.effect("reports a secret in a metric's label", () =>
    Effect.gen(function*() {
      const other = "a-secret-of-a-metric"
      yield* Metric.increment(Metric.tagged(Metric.counter("test_recorder"), "who", other))
      yield* Effect.log("x")
      const error = yield* Effect.flip(Recorder.expectNoSecret(other))
      assert.strictEqual(error._tag === "SecretShown" && error.place, "metric")
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect.prop(
    "reports a pre-signed URL's secret parameters without being given any secret",
    {
      name: FastCheck.constantFrom("Signature", "Credential", "Security-Token"),
      value: FastCheck.string({ unit: FastCheck.constantFrom(..."0123456789abcdef") })
    },
    ({ name, value }) =>
      Effect.gen(function*() {
        yield* Effect.logInfo(`https://storage.test/key?partNumber=1&X-Amz-${name}=${value}&x=1`)
        const error = yield* Effect.flip(Recorder.expectNoSecret())
        assert.include(error.message, "partNumber=1&<secret>&x=1")
      }).pipe(Effect.provide(Recorder.layer)),
    { fastCheck: { numRuns: runs(20) } }
  )

  it.effect("the same for a pre-signed URL that is itself a parameter of another URL", () =>
    Effect.gen(function*() {
      const url = "https://storage.test/key?X-Amz-Date=20300101T000000Z&X-Amz-Signature=abc"
      yield* Effect.logInfo(`https://proxy.test/?to=${encodeURIComponent(url)}`)
      const error = yield* Effect.flip(Recorder.expectNoSecret())
      assert.strictEqual(error._tag, "SecretShown")
      assert.notInclude(error.message, "abc")
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("shows no part of any other secret near the one that it reports", () =>
    Effect.gen(function*() {
      const long = "0123456789".repeat(6)
      const query = `X-Amz-Credential=${long}&X-Amz-Signature=${long}`
      for (
        const text of [`${long} ${long}`, `${long}.more ${long}`, `https://host.test/?${query}`, `${query} ${long}`]
      ) {
        const error = yield* Effect.provide(
          Effect.zipRight(Effect.log(text), Effect.flip(Recorder.expectNoSecret(long, `${long}.more`))),
          Recorder.layer
        )
        assert.include(error.message, "<secret>")
        assert.notInclude(error.message, "012")
        assert.notInclude(error.message, ".more")
      }
    }))

  it.effect("passes if secrets were recorded only in redacted form, or not shown because an assertion holds", () =>
    Effect.gen(function*() {
      yield* Console.assert(true, secret)
      yield* Effect.log("hello").pipe(Effect.withSpan("a", { attributes: { token: Redacted.make(secret) } }))
      yield* Recorder.record({ token: Redacted.make(secret), url: "https://storage.test/key?<redacted>" })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Recorder.expectNoSecret(secret))))
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("fails with `NothingRecorded` if nothing was recorded", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Recorder.expectNoSecret(secret))
      assert.strictEqual(error._tag, "NothingRecorded")
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("returns logs, down to level TRACE, and the names of spans, in order", () =>
    Effect.gen(function*() {
      yield* Effect.logTrace("one").pipe(Effect.withSpan("first"))
      yield* Effect.logWarning("two", "three").pipe(Effect.withSpan("second"))
      assert.deepStrictEqual(yield* Recorder.logs, [
        { level: "TRACE", message: "one" },
        { level: "WARN", message: "two three" }
      ])
      assert.deepStrictEqual(yield* Recorder.spans, ["first", "second"])
    }).pipe(Effect.provide(Recorder.layer)))
})
